package armtypes

import "github.com/agext/levenshtein"

// nearest returns the candidate most like name, the first in order if several
// are. It returns "" if more than half of name would have to change, because
// such a hint misleads.
func nearest(name string, candidates []string) string {
	best, least := "", len(name)/2+1
	for _, c := range candidates {
		if d := levenshtein.Distance(name, c, nil); d < least {
			best, least = c, d
		}
	}
	return best
}

// unknownProperty describes a name that is not among the sorted known ones.
func unknownProperty(name string, known []string) Problem {
	p := Problem{Code: UnknownProperty, Nearest: nearest(name, known)}
	if p.Nearest == "" && len(known) > 0 {
		p.Want = oneOf(known)
	}
	return p
}
