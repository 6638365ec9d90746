package aks

import (
	"testing"
	"testing/quick"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1.33", "1.33.0", "1.33.12", "2.0"} {
		v, err := ParseVersion(text)
		require.NoError(t, err, text)
		assert.Equal(t, text, v.String())
	}
	for _, text := range []string{"", "1", "v1.33", "1.33.", "1.33.1.0", "1.-3", "1.+3", "1.033", "1.33-rc1", "1.x", " 1.33"} {
		_, err := ParseVersion(text)
		assert.EqualError(t, err, `version "`+text+`": want a minor version such as 1.33, or a patch such as 1.33.2`)
	}
}

func TestVersionSkew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		control, pool string
		want          bool
	}{
		"same":                      {"1.33", "1.33", true},
		"one behind":                {"1.33", "1.32", true},
		"two behind":                {"1.33", "1.31.9", true},
		"three behind":              {"1.33", "1.30", false},
		"ahead":                     {"1.33", "1.34", false},
		"another major":             {"2.1", "1.1", false},
		"newer patch":               {"1.33.2", "1.33.3", false},
		"newer patch than .0":       {"1.33.0", "1.33.1", false},
		".0 of a newer one":         {"1.33.1", "1.33.0", true},
		"patch of .0":               {"1.33.0", "1.33.0", true},
		"same patch":                {"1.33.2", "1.33.2", true},
		"older patch":               {"1.33.2", "1.33.1", true},
		"patch left to AKS":         {"1.33", "1.33.3", true},
		"newer patch of older one":  {"1.33.2", "1.32.9", true},
		"pool's patch left to AKS":  {"1.33.2", "1.33", true},
		"two digits are no decimal": {"1.10", "1.9", true},
	} {
		control, err := ParseVersion(c.control)
		require.NoError(t, err)
		pool, err := ParseVersion(c.pool)
		require.NoError(t, err)
		assert.Equal(t, c.want, control.Runs(pool), name)
	}
}

func TestVersionsReadBack(t *testing.T) {
	t.Parallel()
	require.NoError(t, quick.Check(func(major, minor, patch uint8, whole bool) bool {
		v := Version{int(major), int(minor), int(patch)}
		if !whole {
			v.Patch = -1
		}
		read, err := ParseVersion(v.String())
		return err == nil && read == v && v.Runs(v) && v.AtLeast(v.Major, v.Minor) && !v.AtLeast(v.Major, v.Minor+1) && !v.AtLeast(v.Major+1, 0)
	}, nil))
}
