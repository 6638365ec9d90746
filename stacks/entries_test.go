package stacks

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// entry is a map as a stack file has it.
type entry = map[string]any

// with is e, but for one field.
func with(e entry, field string, value any) entry {
	e = maps.Clone(e)
	e[field] = value
	return e
}

// many are n entries, all alike, and one more for each name.
func many(n int, one entry, names ...string) entry {
	all := entry{}
	for i := range n {
		all[fmt.Sprintf("n%d", i)] = one
	}
	for _, name := range names {
		all[name] = one
	}
	return all
}

// fullAccount are the aliases of the dev stack, with n deployments in all.
func fullAccount(n int) entry {
	all := entry{}
	for _, alias := range []string{"chat", "small", "reason", "embed", "extra"} {
		share := min(n, 8)
		all[alias] = with(plainModel, "deployments", many(share, plainDeployment))
		n -= share
	}
	if len(all["extra"].(entry)["deployments"].(entry)) == 0 {
		delete(all, "extra")
	}
	all["open"] = entry{"hops": []string{"ray:llama-8b"}}
	return all
}

// change sets path, a key below a root or a whole root, to value.
func change(t *testing.T, v map[string]string, path string, value any) {
	t.Helper()
	if strings.Contains(path, ".") {
		set(t, v, path, value)
		return
	}
	text, err := json.Marshal(value)
	require.NoError(t, err)
	v[path] = string(text)
}

// Valid entries, which a case changes in one field.
var (
	plainModel      = entry{"model": "gpt-5.1", "version": "1", "contentFilter": "standard", "deployments": entry{"a": plainDeployment}}
	plainDeployment = entry{"sku": "Standard", "region": "swedencentral", "capacity": 50}
	provisioned     = entry{"sku": "ProvisionedManaged", "region": "swedencentral", "capacity": 25, "tokensPerMinute": 90000}
	plainProvider   = entry{"baseUrl": "https://api.example.com/v1", "secretName": "api-key", "aliases": entry{"chat": "model-1"}}
	plainPlan       = entry{"tokensPerMinute": 5000, "aliases": []string{"chat"}}
	plainTenant     = entry{"owner": "team@example.com", "plan": "starter", "residency": "regional"}
)

// refusal is a value that one key of the dev stack must not have.
type refusal struct {
	path         string
	wrong, right any // right is the legal neighbour, nil where there is none
	want         string
}

// refuse sets each wrong value, which must be the only problem, and then its
// legal neighbour.
func refuse(t *testing.T, cases map[string]refusal) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := alone(t, c.path)
			change(t, v, c.path, c.wrong)
			_, err := Parse("dev", v)
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
			var config *ConfigError
			require.ErrorAs(t, err, &config)
			assert.Len(t, config.Problems, 1, err.Error())
			if c.right == nil {
				return
			}
			v = alone(t, c.path)
			change(t, v, c.path, c.right)
			_, err = Parse("dev", v)
			assert.NoError(t, err, "the legal neighbour")
		})
	}
}

// An unreadable root is one problem, and hides no other.
func TestAScalarMapOfNamesIsRefused(t *testing.T) {
	t.Parallel()
	v := values(t, "dev")
	v["tenants"] = "acme"
	set(t, v, "base.generation", 100)
	_, err := Parse("dev", v)
	require.ErrorContains(t, err, `onedoor:tenants: got "acme", want a map of names`)
	require.ErrorContains(t, err, "onedoor:base.generation: got 100")
	require.ErrorContains(t, err, "is wrong in 2 places")
}
