package stacks

import "onedoor/internal/images"

// Image is a container image in the platform's own registry.
type Image struct {
	Repository string `json:"repository"` // as in "onedoor/worker"
	Tag        string `json:"tag"`        // a version; may be left out where there is a digest
	Digest     string `json:"digest"`     // as in "sha256:..."; prod requires it
}

// reference is the image as the components have it.
func (i Image) reference() images.Reference {
	return images.Reference{Repository: i.Repository, Tag: i.Tag, Digest: i.Digest}
}

// check checks the image at key, which prod pins.
func (i Image) check(report *problems, key string, pinned bool) {
	for _, p := range i.reference().Check(pinned) {
		report.bad(key+"."+p.Field, p.Got, p.Want, "")
	}
}
