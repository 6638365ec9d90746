package images

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReferencesAreChecked(t *testing.T) {
	t.Parallel()
	sum := "sha256:" + strings.Repeat("0a", 32)
	for name, c := range map[string]struct {
		ref    Reference
		pinned bool
		fields []string
	}{
		"Tag":               {Reference{"onedoor/worker", "1.2.0", ""}, false, nil},
		"Digest":            {Reference{"onedoor/worker", "", sum}, true, nil},
		"TagWherePinned":    {Reference{"onedoor/worker", "1.2.0", ""}, true, []string{"digest"}},
		"Neither":           {Reference{"onedoor/worker", "", ""}, false, []string{"tag"}},
		"Latest":            {Reference{"onedoor/worker", "latest", sum}, true, []string{"tag"}},
		"WithHost":          {Reference{"cr.azurecr.io:443/worker", "1", ""}, false, []string{"repository"}},
		"DigestTooShort":    {Reference{"worker", "1", sum[:70]}, true, []string{"digest"}},
		"EverythingAtOnce":  {Reference{"Worker", "a b", "md5:1"}, false, []string{"repository", "tag", "digest"}},
		"DigestInCapitals":  {Reference{"worker", "", strings.ToUpper(sum)}, true, []string{"digest"}},
		"TagOfDigestedName": {Reference{"worker", "v1", sum}, true, nil},
	} {
		var fields []string
		for _, p := range c.ref.Check(c.pinned) {
			fields = append(fields, p.Field)
		}
		assert.Equal(t, c.fields, fields, name)
	}
	assert.Equal(t, "cr.azurecr.io/worker:v1@"+sum, Reference{"worker", "v1", sum}.In("cr.azurecr.io"))
	assert.Equal(t, "cr.azurecr.io/worker@"+sum, Reference{"worker", "", sum}.In("cr.azurecr.io"))
}

func TestArtifactsAreFoundByName(t *testing.T) {
	t.Parallel()
	assert.True(t, Named("kuberay-operator-chart").Chart)
	require.Panics(t, func() { Named("kuberay") })
}
