package core

import "time"

// Took is how long a write of an ARM type takes (A002): its creation, or an update
// of what exists.
func Took(typ string, body map[string]any, creates bool) time.Duration {
	b := behaviourOf(typ)
	switch {
	case b.took != nil && creates:
		return b.took(&Resource{Type: typ, Body: body}, nil)
	case b.took != nil:
		return b.took(&Resource{Type: typ, Body: body}, &Resource{Type: typ, Body: body})
	case creates:
		return b.create
	default:
		return b.update
	}
}
