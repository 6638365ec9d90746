package kqltest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each case says what Kusto's documentation says.
// https://learn.microsoft.com/kusto/query/
func TestRun(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	world := World{
		Now: now, Window: time.Hour,
		Schema: Schema{Tables: map[string]string{"T": "(TimeGenerated: datetime, a: string, n: long, d: dynamic)"}, Functions: []Named{{"F", "T | where a == \"x\""}}},
		Rows: map[string][]Row{"T": {
			{"TimeGenerated": now, "a": "x", "n": int64(3), "d": map[string]any{"k": "v", "n": 1.5}},
			{"TimeGenerated": now.Add(-30 * time.Minute), "a": "x", "n": int64(4)},
			{"TimeGenerated": now.Add(-59 * time.Minute), "a": "y", "n": int64(5)},
			{"TimeGenerated": now.Add(-2 * time.Hour), "a": "old", "n": int64(100)},
		}},
	}
	for name, c := range map[string]struct {
		query string
		want  []Row
	}{
		"the window hides what is older":    {`T | summarize n = sum(n)`, []Row{{"n": 12.0}}},
		"a function":                        {`F() | summarize n = count()`, []Row{{"n": int64(2)}}},
		"whole numbers divide whole":        {`T | where a == "y" | project n = n / 2`, []Row{{"n": int64(2)}}},
		"a real divides":                    {`T | where a == "y" | project n = n / 2.0`, []Row{{"n": 2.5}}},
		"groups":                            {`T | summarize n = max(n) by a | order by a asc`, []Row{{"a": "x", "n": int64(4)}, {"a": "y", "n": int64(5)}}},
		"nothing without groups is one row": {`T | where a == "z" | summarize n = count()`, []Row{{"n": int64(0)}}},
		"nothing with groups is no row":     {`T | where a == "z" | summarize n = count() by a`, nil},
		"dynamic":                           {`T | where tostring(d["k"]) == "v" | project v = todouble(d["n"])`, []Row{{"v": 1.5}}},
		"null compares with nothing":        {`T | where todouble(d["n"]) < 9 | summarize n = count()`, []Row{{"n": int64(1)}}},
		"a missing string is empty":         {`T | where isempty(tostring(d["k"])) | summarize n = count()`, []Row{{"n": int64(2)}}},
		"coalesce passes over empty":        {`T | where a == "y" | project v = coalesce(tostring(d["k"]), a)`, []Row{{"v": "y"}}},
		"column_ifexists":                   {`T | where a == "y" | project v = column_ifexists("none", "else"), w = column_ifexists("a", "else")`, []Row{{"v": "else", "w": "y"}}},
		"inner join":                        {`T | project a, n | join kind=inner (datatable(a:string, m:long)["y", 7]) on a`, []Row{{"a": "y", "n": int64(5), "a1": "y", "m": int64(7)}}},
		"leftanti join":                     {`T | join kind=leftanti (F()) on a | project a`, []Row{{"a": "y"}}},
		"leftouter join":                    {`datatable(a:string)["y", "q"] | join kind=leftouter (T | project a, n) on a | project a, n`, []Row{{"a": "y", "n": int64(5)}, {"a": "q", "n": nil}}},
		"fullouter join":                    {`datatable(a:string)["q"] | join kind=fullouter (T | where a == "y" | project a) on a | project v = coalesce(a, a1)`, []Row{{"v": "q"}, {"v": "y"}}},
		"let and union":                     {`let l = T | where a == "y" | project a; union l, (datatable(a:string)["z"])`, []Row{{"a": "y"}, {"a": "z"}}},
		"precedence":                        {`datatable(x:long)[1] | project v = 1 + 2 * 3, w = true or false and false`, []Row{{"v": int64(7), "w": true}}},
		"times":                             {`T | where TimeGenerated < ago(45m) and TimeGenerated >= startofmonth(now()) | project a`, []Row{{"a": "y"}}},
		"has is a word":                     {`datatable(s:string)["a OverQuota: b", "NotOverQuotaAtAll"] | where s has "overquota" | summarize n = count()`, []Row{{"n": int64(1)}}},
		"sets":                              {`T | summarize s = make_set(a, 10), k = dcount(a)`, []Row{{"s": []any{"x", "y"}, "k": int64(2)}}},
		"the earliest row of each":          {`T | summarize arg_min(TimeGenerated, *) by a | project a, n`, []Row{{"a": "x", "n": int64(4)}, {"a": "y", "n": int64(5)}}},
		"a time of a text":                  {`datatable(s:string)["2026-01-31T11:00:00Z", "soon"] | where todatetime(s) < now() | project s`, []Row{{"s": "2026-01-31T11:00:00Z"}}},
		"in, bin, iff":                      {`T | where a in ("y", "z") | project v = iff(n > 4, "big", "small"), h = bin(TimeGenerated, 1h)`, []Row{{"v": "big", "h": now.Add(-time.Hour)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Run(world, c.query)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

// What is not understood is refused, never guessed.
func TestRunRefuses(t *testing.T) {
	t.Parallel()
	world := World{Schema: Schema{Tables: map[string]string{"T": "(TimeGenerated: datetime, a: string)"}}, Now: time.Unix(0, 0), Window: time.Hour}
	world.Rows = map[string][]Row{"T": {{"TimeGenerated": time.Unix(0, 0), "a": "x"}}}
	for query, want := range map[string]string{
		`T | mv-expand a`:                    "mv",
		`T | where b == 1`:                   "no column b",
		`T | extend v = strlen(a)`:           "function strlen",
		`T | summarize v = percentile(a, 5)`: "aggregate percentile",
		`U`:                                  "no table U",
		`T | where a contains "x"`:           `want the end, before "contains"`,
		`T | join (T) on a`:                  "join of kind innerunique",
		`T | join kind=inner (T) on z`:       "no such column",
		"T | where a == `x`":                 "cannot read",
		`T | summarize v = a`:                "no aggregate",
		`T | take many`:                      "take",
	} {
		_, err := Run(world, query)
		require.Error(t, err, query)
		assert.Contains(t, err.Error(), want, query)
	}
	world.Rows["T"] = []Row{{"TimeGenerated": time.Unix(0, 0), "typo": "x"}}
	_, err := Run(world, "T")
	assert.ErrorContains(t, err, "column typo")
}
