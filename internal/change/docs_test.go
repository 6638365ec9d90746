package change

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryFieldOfTheFileIsDocumented: other programs read change.json.
func TestEveryFieldOfTheFileIsDocumented(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/pull-requests.md")
	require.NoError(t, err)
	_, schema, found := strings.Cut(string(raw), "## change.json\n")
	require.True(t, found)
	schema, _, _ = strings.Cut(schema, "\n## ")
	fields := 0
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Slice:
			walk(typ.Elem())
		case reflect.Struct:
			if typ.String() == "results.Result" || typ.String() == "results.Subject" { // of policy.json
				return
			}
			for field := range typ.Fields() {
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				assert.Contains(t, schema, "`"+name+"`", "%s.%s", typ, field.Name)
				fields++
				walk(field.Type)
			}
		}
	}
	walk(reflect.TypeFor[Report]())
	assert.Greater(t, fields, 40)
}
