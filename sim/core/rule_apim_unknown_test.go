package core

import (
	"fmt"
	"strings"
	"testing"

	"onedoor/internal/armtypes"
)

// leaves calls visit with the path of each value below v, and with how to replace it.
func leaves(v any, path string, visit func(path string, replace func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			at := path + "." + key
			visit(at, func(with any) { v[key] = with })
			leaves(v[key], at, visit)
		}
	case []any:
		for i := range v {
			at := fmt.Sprintf("%s[%d]", path, i)
			visit(at, func(with any) { v[i] = with })
			leaves(v[i], at, visit)
		}
	}
}

// A preview does not know everything: whatever is unknown, nothing of a legal
// landscape is refused, whether it is there already or not.
func TestUnknownIsNotJudged(t *testing.T) {
	t.Parallel()
	for _, s := range []State{servedBy(t), models(t)} {
		for _, key := range sortedKeys(s.Resources) {
			r := s.Resources[key]
			if r.ByAzure || !strings.HasPrefix(strings.ToLower(r.Type), gatewayType) && !strings.HasPrefix(strings.ToLower(r.Type), modelAccountType) {
				continue
			}
			absent := s.clone()
			delete(absent.Resources, key)
			leaves(s.Show(r), "", func(path string, _ func(any)) {
				body := s.Show(r)
				leaves(body, "", func(at string, replace func(any)) {
					if at == path {
						replace(armtypes.Unknown{})
					}
				})
				for _, before := range []State{s, absent} {
					if _, a := Apply(before, Op{Method: Put, ID: r.ID, Body: body, Instant: true}); a.Error != nil {
						t.Errorf("%s with unknown %s: %v", r.ID, path, a.Error)
					}
				}
			})
		}
	}
}
