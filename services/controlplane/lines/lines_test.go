package lines_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/lines"
)

// rules take an alias "chat", which deployment "chat-batch" serves.
func rules() lines.Rules {
	return lines.Rules{
		MaxLines: 100, MaxBytes: 1 << 20, MaxParts: 10, PartLines: 10, PartBytes: 1 << 20,
		Serve: func(alias string) (string, int64, *apierror.Error) {
			if alias != "chat" {
				return "", 0, apierror.New(apierror.ModelNotFound, "body.model", "body.model is %q, want chat", alias)
			}
			return "chat-batch", 1000, nil
		},
	}
}

func line(id string) string {
	return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":{"model":"chat","messages":[]}}`, id)
}

func some(from, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(fmt.Sprintf("row-%03d", from+i)) + "\n")
	}
	return b.String()
}

// first is the first problem that Check finds; "" for none.
func first(t *testing.T, content string) (line int, code, message string) {
	t.Helper()
	_, err := lines.Check(strings.NewReader(content), nil, rules())
	if err == nil {
		return 0, "", ""
	}
	var refusal *apierror.Error
	require.ErrorAs(t, err, &refusal)
	require.NotEmpty(t, refusal.Problems, "%v", refusal)
	return refusal.Problems[0].Line, refusal.Problems[0].Code, refusal.Problems[0].Message
}

func TestLinesThatAreRefused(t *testing.T) {
	t.Parallel()
	good := line("a")
	swap := func(old, next string) string {
		require.Contains(t, good, old)
		return strings.Replace(good, old, next, 1)
	}
	for name, c := range map[string]struct {
		content string
		line    int
		code    string
		text    string
	}{
		"Empty":              {"", 0, "empty_batch", "the file is empty"},
		"EmptyLine":          {good + "\n\n" + line("b"), 2, "invalid_json_line", "is empty"},
		"NotJSON":            {good + "\nhello", 2, "invalid_json_line", "is not a JSON object"},
		"Array":              {"[1]", 1, "invalid_json_line", "is not a JSON object"},
		"Two":                {good + good, 1, "invalid_json_line", "is not a JSON object"},
		"Cut":                {good[:len(good)-1], 1, "invalid_json_line", "is not a JSON object"},
		"BOM":                {"\ufeff" + good, 1, "invalid_json_line", "UTF-8 without BOM"},
		"NotUTF8":            {swap(`"a"`, "\"\xff\""), 1, "invalid_json_line", "is not UTF-8"},
		"Deep":               {swap("[]", strings.Repeat("[", 600)+strings.Repeat("]", 600)), 1, "invalid_json_line", "512 deep"},
		"NoID":               {swap(`"custom_id":"a",`, ""), 1, "invalid_request", "custom_id is missing"},
		"IDIsANumber":        {swap(`"a"`, "7"), 1, "invalid_request", "custom_id is missing or no string"},
		"LongID":             {line(strings.Repeat("x", 513)), 1, "invalid_request", "custom_id has 513 bytes"},
		"TwoIDs":             {swap(`{"custom_id"`, `{"custom_id":"b","custom_id"`), 1, "invalid_request", "custom_id occurs twice"},
		"SameID":             {good + "\n" + line("b") + "\n" + good, 3, "duplicate_custom_id", `custom_id "a" is that of an earlier line`},
		"SameIDWritten":      {good + "\n" + swap(`"a"`, `"\u0061"`), 2, "duplicate_custom_id", "earlier line"},
		"Method":             {swap("POST", "GET"), 1, "invalid_request", `method is "GET"`},
		"URL":                {swap("/v1/chat/completions", "/v1/embeddings"), 1, "invalid_request", "want one of /v1/chat/completions"},
		"OtherURL":           {good + "\n" + strings.Replace(line("b"), "/v1/chat/completions", "/v1/responses", 1), 2, "url_mismatch", "one file is for one endpoint"},
		"NoBody":             {swap(`"body"`, `"bodies"`), 1, "invalid_request", "body is missing"},
		"BodyIsText":         {swap(`{"model":"chat","messages":[]}`, `"x"`), 1, "invalid_request", "body is missing or no object"},
		"NoModel":            {swap(`"model":"chat",`, ""), 1, "invalid_request", "body.model is missing"},
		"OtherModel":         {swap(`"chat"`, `"gpt"`), 1, "model_not_found", `body.model is "gpt", want chat`},
		"ModelChanges":       {good + "\n" + strings.Replace(line("b"), `"chat"`, `"chap"`, 1), 2, "model_mismatch", "one file is for one model"},
		"TwoModels":          {swap(`"messages"`, `"model":"secret","messages"`), 1, "invalid_request", "body.model occurs twice"},
		"TwoModelsEscaped":   {swap(`"messages"`, `"\u006dodel":"secret","messages"`), 1, "invalid_request", "body.model occurs twice"},
		"ModelInOtherCase":   {swap(`"messages"`, `"Model":"secret","messages"`), 1, "invalid_request", "body.model occurs twice"},
		"BodyInOtherCase":    {swap(`"body"`, `"Body"`), 1, "invalid_request", `is spelled "Body"`},
		"TwoBodies":          {swap(`"body"`, `"body":{"model":"secret"},"body"`), 1, "invalid_request", "body occurs twice"},
		"Stream":             {swap(`"messages"`, `"stream":true,"messages"`), 1, "invalid_request", "nobody to stream to"},
		"MoreTokensThanFits": {swap("[]", `"`+strings.Repeat("x", 4000)+`"`), 1, "token_limit_exceeded", "takes 1000 in all"},
	} {
		at, code, text := first(t, c.content)
		assert.Equal(t, c.line, at, name)
		assert.Equal(t, c.code, code, name)
		assert.Contains(t, text, c.text, name)
	}
}

func TestLinesThatAreTaken(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"Plain":      line("a"),
		"LineBreaks": line("a") + "\r\n" + line("b") + "\n",
		"MoreKeys":   strings.Replace(line("a"), "{", `{"note":"Model","more":[{"model":"x"}],`, 1),
		"Blanks":     "  " + strings.ReplaceAll(line("a"), ":", " : ") + "  ",
		"LongID":     line(strings.Repeat("x", 512)),
		"DeepEnough": strings.Replace(line("a"), "[]", strings.Repeat("[", 500)+strings.Repeat("]", 500), 1),
		"Brackets":   strings.Replace(line("a"), "[]", `"`+strings.Repeat(`[\"`, 1200)+`"`, 1),
		"AllFits":    strings.Replace(line("a"), "[]", `"`+strings.Repeat("x", 3968)+`"`, 1),
		"Responses":  strings.Replace(line("a"), "/v1/chat/completions", "/v1/responses", 1),
		"NoStream":   strings.Replace(line("a"), `"messages"`, `"stream":false,"messages"`, 1),
	} {
		_, code, text := first(t, content)
		assert.Empty(t, code, "%s: %s", name, text)
	}
}

// All that is wrong is said at once, up to twenty.
func TestProblemsComeTogether(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{3: 3, 19: 19, 50: 20} {
		_, err := lines.Check(strings.NewReader(strings.Repeat("x\n", n)), nil, rules())
		var refusal *apierror.Error
		require.ErrorAs(t, err, &refusal)
		require.Len(t, refusal.Problems, want)
		for i, p := range refusal.Problems {
			assert.Equal(t, i+1, p.Line)
		}
	}
}

func TestAFileIsCutWhereAzureTakesNoMore(t *testing.T) {
	t.Parallel()
	length := int64(len(line("row-000")) + 1) // each line is as long as this one
	named := length + int64(len("chat-batch")-len("chat"))
	for name, c := range map[string]struct {
		n      int
		change func(*lines.Rules)
		want   []int // lines of the parts
	}{
		"ByLines":      {25, func(*lines.Rules) {}, []int{10, 10, 5}},
		"JustAPart":    {10, func(*lines.Rules) {}, []int{10}},
		"ByBytes":      {9, func(r *lines.Rules) { r.PartBytes = 4*named + named - 1 }, []int{4, 4, 1}},
		"ByBytesExact": {9, func(r *lines.Rules) { r.PartBytes = 3 * named }, []int{3, 3, 3}},
	} {
		r := rules()
		c.change(&r)
		sum, err := lines.Check(strings.NewReader(some(0, c.n)), nil, r)
		require.NoError(t, err, name)
		var got []int
		next, from := int64(0), 1
		for _, p := range sum.Parts {
			got = append(got, p.Lines)
			assert.Equal(t, []int64{next, int64(from)}, []int64{p.Offset, int64(p.First)}, name)
			assert.Equal(t, length*int64(p.Lines), p.Length, name)
			next, from = next+p.Length, from+p.Lines
		}
		assert.Equal(t, c.want, got, name)
		assert.Equal(t, int64(c.n)*length, next, "the parts are the whole file")
	}
}

func TestFilesBeyondTheLimits(t *testing.T) {
	t.Parallel()
	r := rules()
	r.MaxBytes = int64(len(some(0, 20)))
	_, err := lines.Check(strings.NewReader(some(0, 20)), nil, r)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		content string
		change  func(*lines.Rules)
		text    string
	}{
		"Bytes": {some(0, 21), func(*lines.Rules) {}, "file_too_large: the file has more than"},
		"Lines": {some(0, 20), func(r *lines.Rules) { r.MaxLines = 19 }, "more than 19 lines"},
		"Parts": {some(0, 20), func(r *lines.Rules) { r.MaxParts = 1 }, "line 11 begins a part beyond the 1"},
	} {
		changed := r
		c.change(&changed)
		_, err := lines.Check(strings.NewReader(c.content), nil, changed)
		require.ErrorContains(t, err, c.text, name)
	}
}

// What Azure gets differs from what was uploaded by the model's name alone.
func TestTheDeploymentTakesThePlaceOfTheAlias(t *testing.T) {
	t.Parallel()
	in := `  {"note":{"model":"chat"},"custom_id":"a", "method":"POST","url":"/v1/chat/completions","body":{"messages":[{"model":"chat","content":"é\u00e9"}], "model" : "ch\u0061t" }}` + "\r\n" + line("b")
	want := `  {"note":{"model":"chat"},"custom_id":"a", "method":"POST","url":"/v1/chat/completions","body":{"messages":[{"model":"chat","content":"é\u00e9"}], "model" : "chat-batch" }}` + "\n" +
		strings.Replace(line("b"), `"chat"`, `"chat-batch"`, 1) + "\n"
	var checked, renamed strings.Builder
	sum, err := lines.Check(strings.NewReader(in), &checked, rules())
	require.NoError(t, err)
	assert.Equal(t, want, checked.String())
	assert.Equal(t, []string{"chat", "chat-batch"}, []string{sum.Alias, sum.Deployment})
	require.NoError(t, lines.Rename(strings.NewReader(in), &renamed, "chat-batch"))
	assert.Equal(t, want, renamed.String())
}

func TestLongLinesAndBrokenReaders(t *testing.T) {
	t.Parallel()
	r := rules()
	r.MaxBytes, r.PartBytes = 1<<30, 1<<30
	r.Serve = func(string) (string, int64, *apierror.Error) { return "d", 1 << 40, nil }
	long := func(n int) string {
		l := line("a")
		return strings.Replace(l, "[]", `"`+strings.Repeat("x", n-len(l))+`"`, 1) + "\n"
	}
	_, err := lines.Check(strings.NewReader(long(lines.MaxLine-1)+line("b")), nil, r)
	require.NoError(t, err)
	_, err = lines.Check(strings.NewReader(long(lines.MaxLine+1)+line("b")), nil, r)
	require.ErrorContains(t, err, "line 1 is longer than 16777216 bytes")
	broken := errors.New("broken")
	_, err = lines.Check(io.MultiReader(strings.NewReader(some(0, 3)), iotest.ErrReader(broken)), nil, r)
	require.ErrorIs(t, err, broken)
}

// What comes behind a line that is too long is read as if that were not there.
func TestALineThatIsTooLongIsPassedOver(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*lines.MaxLine+7)
	r := lines.NewReader(strings.NewReader("a\n" + long + "\nb\n" + long))
	var got []string
	for {
		raw, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if !errors.Is(err, lines.ErrLong) {
			require.NoError(t, err)
			got = append(got, fmt.Sprintf("%.9s at %d", raw, r.Offset))
			continue
		}
		got = append(got, "too long")
	}
	assert.Equal(t, []string{"a at 0", "too long", fmt.Sprintf("b at %d", len(long)+3), "too long"}, got)
}

// Nothing that callers send makes the parser fail in another way than by a problem,
// and what it takes is renamed without a change of anything else.
func FuzzParse(f *testing.F) {
	f.Add([]byte(line("a")))
	f.Add([]byte(`{"custom_id":"","body":{"model":"\ud800"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		l, problems := lines.Parse(raw)
		if len(problems) > 0 {
			return
		}
		again, problems := lines.Parse(l.Name(nil, raw, "d"))
		require.Empty(t, problems)
		assert.Equal(t, []string{l.CustomID, l.URL, "d"}, []string{again.CustomID, again.URL, again.Model})
	})
}
