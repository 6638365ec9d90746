package reach

// verdict is an answer that may be out of reach of a plan.
type verdict int

const (
	no verdict = iota
	maybe
	yes
)

func of(b bool) verdict {
	if b {
		return yes
	}
	return no
}

func (v verdict) not() verdict { return yes - v }

// and is what holds where both must.
func (v verdict) and(w verdict) verdict { return min(v, w) }

// or is what holds where one is enough.
func (v verdict) or(w verdict) verdict { return max(v, w) }

// decision is a verdict with the rule that made it.
type decision struct {
	verdict
	by string
}

// through is the decision over two gates in a row: the one that holds back is the
// one to name, else both.
func (d decision) through(next decision) decision {
	switch {
	case d.verdict < next.verdict:
		return d
	case next.verdict < d.verdict:
		return next
	case d.verdict == no:
		return d
	case d.by == "":
		return next
	case next.by == "":
		return d
	default:
		return decision{d.verdict, d.by + ", " + next.by}
	}
}
