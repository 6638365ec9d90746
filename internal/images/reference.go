package images

import (
	"fmt"
	"regexp"
)

// Reference is an image that the platform builds itself, in its own registry.
type Reference struct {
	Repository string // as in "onedoor/worker"
	Tag        string // a version; "" where the digest says it
	Digest     string // as in "sha256:..."; it never moves
}

// The forms of the parts.
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests
var (
	repository = regexp.MustCompile(`^[a-z0-9]+([._-][a-z0-9]+)*(/[a-z0-9]+([._-][a-z0-9]+)*)*$`)
	tag        = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
	digest     = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// Problem is a part of a reference that cannot be used.
type Problem struct{ Field, Got, Want string }

// Check says what is wrong, in the order of the fields. With pinned it asks for a
// digest.
func (r Reference) Check(pinned bool) []Problem {
	var found []Problem
	if !repository.MatchString(r.Repository) {
		found = append(found, Problem{"repository", r.Repository, "a repository of the platform's registry, as in onedoor/worker, without the registry's host"})
	}
	if r.Tag != "" && (!tag.MatchString(r.Tag) || r.Tag == "latest") {
		found = append(found, Problem{"tag", r.Tag, "a version, other than latest, which moves"})
	}
	switch {
	case r.Digest != "" && !digest.MatchString(r.Digest):
		found = append(found, Problem{"digest", r.Digest, "sha256: and 64 hexadecimal digits, as the registry shows it"})
	case r.Digest == "" && pinned:
		found = append(found, Problem{"digest", "", "the image's digest: a tag can be moved to another image, and prod runs what was reviewed"})
	case r.Digest == "" && r.Tag == "":
		found = append(found, Problem{"tag", "", "a version, or a digest"})
	}
	return found
}

// In is the reference in the registry whose login server is given.
func (r Reference) In(loginServer string) string {
	out := fmt.Sprintf("%s/%s", loginServer, r.Repository)
	if r.Tag != "" {
		out += ":" + r.Tag
	}
	if r.Digest != "" {
		out += "@" + r.Digest
	}
	return out
}

// Named is the artifact of that short name. It panics when there is none: the
// names are the program's own.
func Named(name string) Artifact {
	for _, artifact := range Artifacts {
		if artifact.Name == name {
			return artifact
		}
	}
	panic(fmt.Sprintf("images: no artifact %q", name))
}
