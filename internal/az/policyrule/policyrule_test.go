package policyrule_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az/policyrule"
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	return out
}

const (
	sku   = "Microsoft.CognitiveServices/accounts/deployments/sku.name"
	local = "Microsoft.CognitiveServices/accounts/disableLocalAuth"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	const yes, no, undecided = policyrule.Yes, policyrule.No, policyrule.Undecided
	for name, c := range map[string]struct {
		condition string
		content   string // of a deployment; its SKU
		want      policyrule.Verdict
	}{
		"Equals":            {`{"field":"` + sku + `","equals":"globalbatch"}`, `"GlobalBatch"`, yes},
		"EqualsOther":       {`{"field":"` + sku + `","equals":"Batch"}`, `"GlobalBatch"`, no},
		"EqualsAbsent":      {`{"field":"` + sku + `","equals":"GlobalBatch"}`, `null`, no},
		"NotEqualsAbsent":   {`{"field":"` + sku + `","notEquals":"GlobalBatch"}`, `null`, yes},
		"Like":              {`{"field":"` + sku + `","like":"*batch"}`, `"DataZoneBatch"`, yes},
		"LikeMiddle":        {`{"field":"` + sku + `","like":"Data*Batch"}`, `"DataZoneBatch"`, yes},
		"LikeOverlap":       {`{"field":"` + sku + `","like":"GlobalB*Batch"}`, `"GlobalBatch"`, no},
		"LikeBefore":        {`{"field":"` + sku + `","like":"*Batch"}`, `"BatchGlobal"`, no},
		"LikeAbsent":        {`{"field":"` + sku + `","like":"*"}`, `null`, no},
		"NotLikeAbsent":     {`{"field":"` + sku + `","notLike":"*Batch"}`, `null`, yes},
		"LikeNoWildcard":    {`{"field":"` + sku + `","like":"Batch"}`, `"GlobalBatch"`, no},
		"In":                {`{"field":"` + sku + `","in":["Standard","globalbatch"]}`, `"GlobalBatch"`, yes},
		"NotIn":             {`{"field":"` + sku + `","notIn":["Standard"]}`, `"Standard"`, no},
		"Exists":            {`{"field":"` + sku + `","exists":true}`, `"Standard"`, yes},
		"ExistsText":        {`{"field":"` + sku + `","exists":"false"}`, `null`, yes},
		"Not":               {`{"not":{"field":"` + sku + `","like":"*Batch"}}`, `"Standard"`, yes},
		"AllOf":             {`{"allOf":[{"field":"type","equals":"Microsoft.CognitiveServices/accounts/deployments"},{"field":"` + sku + `","like":"*Batch"}]}`, `"Standard"`, no},
		"AnyOf":             {`{"anyOf":[{"field":"name","equals":"d"},{"field":"` + sku + `","like":"*Batch"}]}`, `"Standard"`, yes},
		"Unknown":           {`{"field":"` + sku + `","like":"*Batch"}`, `"?"`, undecided},
		"NotUnknown":        {`{"not":{"field":"` + sku + `","like":"*Batch"}}`, `"?"`, undecided},
		"UnknownDoesNot":    {`{"allOf":[{"field":"name","equals":"x"},{"field":"` + sku + `","like":"*Batch"}]}`, `"?"`, no},
		"UnknownButAnyOf":   {`{"anyOf":[{"field":"name","equals":"d"},{"field":"` + sku + `","like":"*Batch"}]}`, `"?"`, yes},
		"AliasOfOtherType":  {`{"field":"` + local + `","notEquals":true}`, `"Standard"`, yes},
		"AliasInOtherCase":  {`{"field":"microsoft.cognitiveservices/ACCOUNTS/deployments/SKU.name","equals":"Standard"}`, `"Standard"`, yes},
		"Parameter":         {`{"field":"` + sku + `","in":"[parameters('SKUs')]"}`, `"Standard"`, yes},
		"GivenParameter":    {`{"field":"` + sku + `","equals":"[parameters('one')]"}`, `"Standard"`, yes},
		"EscapedExpression": {`{"field":"` + sku + `","equals":"[[x]"}`, `"[x]"`, yes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule, err := policyrule.Parse(
				map[string]any{"if": object(t, c.condition), "then": map[string]any{"effect": "deny"}},
				object(t, `{"skus":{"defaultValue":["Standard"]},"one":{"defaultValue":"Other"}}`))
			require.NoError(t, err)
			body := policyrule.Body{
				ID: "/x/deployments/d", Type: "Microsoft.CognitiveServices/accounts/deployments",
				Content: object(t, `{"sku":{"name":`+c.content+`}}`), Unknown: func(v any) bool { return v == "?" },
			}
			assert.Equal(t, c.want, rule.Denies(body, map[string]any{"One": "standard"}))
		})
	}
}

// Only deny refuses.
func TestEffects(t *testing.T) {
	t.Parallel()
	for effect, want := range map[string]policyrule.Verdict{"deny": policyrule.Yes, "Deny": policyrule.Yes, "Audit": policyrule.No, "disabled": policyrule.No} {
		rule, err := policyrule.Parse(object(t, `{"if":{"field":"name","equals":"a"},"then":{"effect":"`+effect+`"}}`), nil)
		require.NoError(t, err)
		assert.Equal(t, want, rule.Denies(policyrule.Body{ID: "a"}, nil), effect)
	}
}

func TestWhatIsNotUnderstoodIsRefusedByName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule string
		want []string
	}{
		"Operator":   {`{"if":{"field":"name","match":"##"},"then":{"effect":"deny"}}`, []string{`if: got ["match"], want exactly one of equals`}},
		"TwoOfThem":  {`{"if":{"field":"name","like":"a","equals":"a"},"then":{"effect":"deny"}}`, []string{`if: got ["equals" "like"]`}},
		"Alias":      {`{"if":{"field":"Microsoft.X/y/z","equals":"a"},"then":{"effect":"deny"}}`, []string{`if.field: got "Microsoft.X/y/z"`}},
		"Count":      {`{"if":{"count":{"field":"name"},"greater":1},"then":{"effect":"deny"}}`, []string{"if: got count, greater, want field"}},
		"Effect":     {`{"if":{"field":"name","equals":"a"},"then":{"effect":"modify"}}`, []string{`then.effect: got "modify", want one of audit, deny, disabled`}},
		"NoThen":     {`{"if":{"field":"name","equals":"a"}}`, []string{"then.effect: want a value"}},
		"Function":   {`{"if":{"field":"name","equals":"[concat('a','b')]"},"then":{"effect":"deny"}}`, []string{`if.equals: got "[concat('a','b')]"`}},
		"Parameter":  {`{"if":{"field":"name","equals":"[parameters('x')]"},"then":{"effect":"deny"}}`, []string{`if.equals: got "[parameters('x')]"`}},
		"Wildcards":  {`{"if":{"field":"name","like":"*a*"},"then":{"effect":"deny"}}`, []string{"if.like: got \"*a*\", want at most one wildcard"}},
		"EmptyList":  {`{"if":{"allOf":[]},"then":{"effect":"deny"}}`, []string{"if.allOf: want a list"}},
		"Everything": {`{"iff":{},"if":{"anyOf":[{"field":"a","equals":1},{"not":[]}]},"then":{"effect":"x"}}`, []string{"iff: unknown", `if.anyOf[0].field: got "a"`, "if.anyOf[1].not: want an object", "then.effect"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := policyrule.Parse(object(t, c.rule), nil)
			require.Error(t, err)
			for _, want := range c.want {
				assert.Contains(t, err.Error(), want)
			}
		})
	}
}
