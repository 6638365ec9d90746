package csharp_test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy/csharp"
)

func id(name string) csharp.Expr { return csharp.Ident{Name: name} }

func TestPrecedence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]csharp.Expr{
		`@(a || b && c)`:                   csharp.Binary{Op: "||", X: id("a"), Y: csharp.Binary{Op: "&&", X: id("b"), Y: id("c")}},
		`@(a - b - c)`:                     csharp.Binary{Op: "-", X: csharp.Binary{Op: "-", X: id("a"), Y: id("b")}, Y: id("c")},
		`@(a ?? b ?? c)`:                   csharp.Binary{Op: "??", X: id("a"), Y: csharp.Binary{Op: "??", X: id("b"), Y: id("c")}},
		`@(!a == b)`:                       csharp.Binary{Op: "==", X: csharp.Not{X: id("a")}, Y: id("b")},
		`@(a ? b : c)`:                     csharp.Choice{If: id("a"), Then: id("b"), Else: id("c")},
		`@((string)a["b"])`:                csharp.Cast{Type: "string", X: csharp.Index{X: id("a"), At: csharp.Literal{Value: "b"}}},
		`@(((string)a).B)`:                 csharp.Member{X: csharp.Cast{Type: "string", X: id("a")}, Name: "B"},
		`@((bool?)a == true)`:              csharp.Binary{Op: "==", X: csharp.Cast{Type: "bool?", X: id("a")}, Y: csharp.Literal{Value: true}},
		`@(a as JObject ?? new JObject())`: csharp.Binary{Op: "??", X: csharp.As{X: id("a"), Type: "JObject"}, Y: csharp.New{Type: "JObject"}},
		`@((a) < b)`:                       csharp.Binary{Op: "<", X: id("a"), Y: id("b")},
		`@(a?.B.C(1, n: 'x'))`: csharp.Call{
			Func: csharp.Member{X: csharp.Member{X: id("a"), Name: "B", Optional: true}, Name: "C"},
			Args: []csharp.Arg{{X: csharp.Literal{Value: 1}}, {Name: "n", X: csharp.Literal{Value: "x"}}},
		},
		`@(a.As<string>(b < c))`: csharp.Call{
			Func: csharp.Member{X: id("a"), Name: "As"}, Types: []string{"string"},
			Args: []csharp.Arg{{X: csharp.Binary{Op: "<", X: id("b"), Y: id("c")}}},
		},
	} {
		got, err := csharp.Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, []csharp.Stmt{csharp.Return{X: want}}, got, text)
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	got, err := csharp.Parse(`@{ try { var a = b; a["c"] = 1; a.D(); } catch { return null; } if (a) { return a; } else { return b; } }`)
	require.NoError(t, err)
	assert.Equal(t, []csharp.Stmt{
		csharp.Try{
			Body: []csharp.Stmt{
				csharp.Var{Name: "a", X: id("b")},
				csharp.Set{Target: csharp.Index{X: id("a"), At: csharp.Literal{Value: "c"}}, X: csharp.Literal{Value: 1}},
				csharp.Do{X: csharp.Call{Func: csharp.Member{X: id("a"), Name: "D"}}},
			},
			Catch: []csharp.Stmt{csharp.Return{X: csharp.Literal{}}},
		},
		csharp.If{If: id("a"), Then: []csharp.Stmt{csharp.Return{X: id("a")}}, Else: []csharp.Stmt{csharp.Return{X: id("b")}}},
	}, got)
	got, err = csharp.Parse(`@{ foreach (var a in b) { return a; } return c; }`)
	require.NoError(t, err)
	assert.Equal(t, []csharp.Stmt{
		csharp.ForEach{Name: "a", In: id("b"), Body: []csharp.Stmt{csharp.Return{X: id("a")}}}, csharp.Return{X: id("c")},
	}, got)
}

func TestWhatIsNotUnderstoodIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`a`:                         "is not @(...) or @{...}",
		`@(a b)`:                    `"b" at offset 2 where the end belongs`,
		`@(a +)`:                    "the end where a value belongs",
		`@(a => b)`:                 `"=>" at offset 2`,
		`@(1.5)`:                    `"5" at offset 2 where a name belongs`,
		`@("a)`:                     "does not end",
		"@(\"a\nb\")":               "breaks over two lines",
		`@("\q")`:                   "unknown escape",
		`@{ return a }`:             `where ";" belongs`,
		`@{ var a = 1; }`:           "does not return",
		`@{ if (a) { return b; } }`: "does not return",
		`@{ foreach (var a in b) { return a; } }`: "does not return",
		`@{ foreach (a in b) { } }`:               `where "var" belongs`,
		`@{ while (a) { } }`:                      `where ";" belongs`,
		`@(f(a)`:                                  `the end where "," belongs`,
	} {
		_, err := csharp.Parse(text)
		assert.ErrorContains(t, err, want, text)
	}
}

// Text that looks like an operator is still text.
func TestStringsAreNotOperators(t *testing.T) {
	t.Parallel()
	got, err := csharp.Parse(`@(a + "+")`)
	require.NoError(t, err)
	assert.Equal(t, []csharp.Stmt{csharp.Return{X: csharp.Binary{Op: "+", X: id("a"), Y: csharp.Literal{Value: "+"}}}}, got)
	got, err = csharp.Parse(`@(@"c:\""x")`)
	require.NoError(t, err)
	assert.Equal(t, []csharp.Stmt{csharp.Return{X: csharp.Literal{Value: `c:\"x`}}}, got)
}

func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"", `a"b\c`, "line\nbreak", "\x00", "\u2028", `" + context.Subscription.Key + "`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		got, err := csharp.Parse("@(" + csharp.Quote(s) + ")")
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0] != (csharp.Return{X: csharp.Literal{Value: s}}) {
			t.Fatalf("%q came back as %v", s, got)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"@(a)", "@{ try { return 1; } catch { return 2; } }", "@(a.b<c>(d)", `@("`} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, s string) { _, _ = csharp.Parse(s) }) // it ends, and does not panic
}
