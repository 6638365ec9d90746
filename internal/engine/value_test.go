package engine

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
	"github.com/stretchr/testify/assert"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	secret := map[string]any{sig.Key: sig.Secret, "plaintext": `"hunter2"`}
	for reason, test := range map[string]struct{ in, want any }{
		"scalars stay":               {[]any{"a", 1.5, true, nil}, []any{"a", 1.5, true, nil}},
		"secret":                     {secret, Secret},
		"secret at depth":            {map[string]any{"a": []any{map[string]any{"b": secret}}}, map[string]any{"a": []any{map[string]any{"b": Secret}}}},
		"unknown string":             {sig.UnknownStringValue, Unknown},
		"unknown bool":               {sig.UnknownBoolValue, Unknown},
		"unknown number":             {sig.UnknownNumberValue, Unknown},
		"unknown array":              {sig.UnknownArrayValue, Unknown},
		"unknown object":             {sig.UnknownObjectValue, Unknown},
		"unknown asset":              {sig.UnknownAssetValue, Unknown},
		"unknown archive":            {sig.UnknownArchiveValue, Unknown},
		"unknown inside text":        {"https://" + sig.UnknownStringValue + "/x", "https://" + Unknown + "/x"},
		"output value, known":        {map[string]any{sig.Key: sig.OutputValue, "value": "v"}, "v"},
		"output value, unknown":      {map[string]any{sig.Key: sig.OutputValue}, Unknown},
		"output value, secret":       {map[string]any{sig.Key: sig.OutputValue, "value": "v", "secret": true}, Secret},
		"reference to a resource":    {map[string]any{sig.Key: sig.ResourceReference, "urn": "urn:x", "id": "1"}, "urn:x"},
		"asset keeps what it is":     {map[string]any{sig.Key: sig.AssetSig, "hash": "h"}, map[string]any{"hash": "h"}},
		"nested secret in output":    {map[string]any{sig.Key: sig.OutputValue, "value": []any{secret}}, []any{Secret}},
		"map that only looks secret": {map[string]any{"plaintext": "x"}, map[string]any{"plaintext": "x"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, plain(test.in))
		})
	}
}

func TestURNParts(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "first", urnName(urnFirst))
	assert.Equal(t, "fake:index:Thing", urnType(urnFirst))
	assert.Equal(t, "urn:pulumi:dev::p::pulumi:providers:fake::explicit", providerURN("urn:pulumi:dev::p::pulumi:providers:fake::explicit::"+sig.UnknownStringValue))
	assert.Equal(t, "", providerURN(""))
}

func TestUnwrapProgram(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		want []string
		ok   bool
	}{
		{"409 Conflict", nil, false},
		{"an unhandled error occurred: 1 error occurred:\n\t* a\n  b\n\n", []string{"a\n  b"}, true},
		{"an unhandled error occurred: 2 errors occurred:\n\t* a\n\t* b\n\n", []string{"a", "b"}, true},
		{"an unhandled error occurred: waiting for RPCs: cannot apply", []string{"cannot apply"}, true},
	} {
		got, ok := unwrapProgram(test.in)
		assert.Equal(t, test.ok, ok, test.in)
		assert.Equal(t, test.want, got, test.in)
	}
}
