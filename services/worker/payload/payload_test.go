package payload

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/worker/model"
)

// TestMain runs the tests, or reads a document as the program does.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_ENDLESS") != "" && len(os.Args) == 3 {
		time.Sleep(time.Hour) // a document that never ends; the runtime would end a select for ever
	}
	if code, yes := Extracting(os.Args); yes {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func maker(modality string) Maker {
	return Maker{Modality: modality, Alias: "small", MaxBytes: 10_000, MaxOutput: 100}
}

const chat = `{"messages":[{"role":"user","content":"hi"}]}`

// form is a form of parts, each with a name, a content type and a content.
func form(t *testing.T, parts ...[3]string) (contentType, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		part, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf(`form-data; name=%q; filename="f"`, p[0])}, "Content-Type": {p[1]},
		})
		require.NoError(t, err)
		_, err = io.WriteString(part, p[2])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return w.FormDataContentType(), b.String()
}

// pdfOf is a document with one page of text, or with none.
func pdfOf(text string) string {
	content := ""
	if text != "" {
		content = "BT /F1 12 Tf 10 10 Td (" + text + ") Tj ET"
	}
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
	}
	out, offsets := bytes.NewBufferString("%PDF-1.4\n"), []int{}
	for i, o := range objects {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := out.Len()
	fmt.Fprintf(out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(out, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return out.String()
}

func TestRequestsOfPayloads(t *testing.T) {
	t.Parallel()
	formType, formBody := form(t, [3]string{"request", "application/json", `{"messages":[{"role":"system","content":"sum up"}],"temperature":0}`}, [3]string{"file", "text/plain; charset=utf-8", "long text"})
	imageType, imageBody := form(t, [3]string{"request", "application/json", chat}, [3]string{"file", "image/png", "PNG"})
	for name, c := range map[string]struct {
		modality, contentType, body string
		path                        model.Path
		want                        string
	}{
		"Chat":       {"text", "application/json; charset=utf-8", chat, model.Chat, `{"model":"small","max_completion_tokens":100,"messages":[{"role":"user","content":"hi"}]}`},
		"OwnModel":   {"text", "application/json", `{"model":"small","messages":[],"max_tokens":5}`, model.Chat, `{"model":"small","messages":[],"max_tokens":5}`},
		"Embeddings": {"text", "application/json", `{"input":"hi"}`, model.Embeddings, `{"model":"small","input":"hi"}`},
		"Text":       {"text", "text/plain", "hello", model.Chat, `{"model":"small","max_completion_tokens":100,"messages":[{"role":"user","content":"hello"}]}`},
		"Markdown":   {"document", "text/markdown", "# hello", model.Chat, `{"model":"small","max_completion_tokens":100,"messages":[{"role":"user","content":"# hello"}]}`},
		"PDF":        {"document", "application/pdf", pdfOf("Hello PDF"), model.Chat, `{"model":"small","max_completion_tokens":100,"messages":[{"role":"user","content":"Hello PDF"}]}`},
		"Image": {"image", "image/jpeg", "JPEG", model.Chat, `{"model":"small","max_completion_tokens":100,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,` +
			base64.StdEncoding.EncodeToString([]byte("JPEG")) + `"}}]}]}`},
		"Form": {"document", formType, formBody, model.Chat, `{"model":"small","temperature":0,"max_completion_tokens":100,"messages":[{"role":"system","content":"sum up"},{"role":"user","content":"long text"}]}`},
		"ImageForm": {"image", imageType, imageBody, model.Chat, `{"model":"small","max_completion_tokens":100,"messages":[{"role":"user","content":"hi"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` +
			base64.StdEncoding.EncodeToString([]byte("PNG")) + `"}}]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			item, err := maker(c.modality).Item(c.contentType, strings.NewReader(c.body))
			require.NoError(t, err)
			assert.Equal(t, c.path, item.Path)
			assert.JSONEq(t, c.want, string(item.Body))
		})
	}
}

func TestPayloadsThatAreRefused(t *testing.T) {
	t.Parallel()
	second, secondBody := form(t, [3]string{"request", "application/json", chat}, [3]string{"file", "text/plain", "x"}, [3]string{"file", "text/plain", "y"})
	order, orderBody := form(t, [3]string{"file", "text/plain", "x"}, [3]string{"request", "application/json", chat})
	alone, aloneBody := form(t, [3]string{"request", "application/json", chat})
	video, videoBody := form(t, [3]string{"request", "application/json", chat}, [3]string{"file", "video/mp4", "x"})
	large, largeBody := form(t, [3]string{"request", "application/json", chat}, [3]string{"file", "text/plain", strings.Repeat("x", 10_000)})
	for name, c := range map[string]struct {
		modality, contentType, body string
		code, text                  string
	}{
		"NoType":         {"text", "", chat, Malformed, "content type"},
		"NotJSON":        {"text", "application/json", `{"messages":[{]}`, Malformed, "byte 15"},
		"NotAnObject":    {"text", "application/json", `[]`, Malformed, "another type"},
		"Null":           {"text", "application/json", `null`, Malformed, "want an object"},
		"Neither":        {"text", "application/json", `{}`, Malformed, "neither messages nor input"},
		"Both":           {"text", "application/json", `{"messages":[],"input":"x"}`, Malformed, "want one of them"},
		"OtherModel":     {"text", "application/json", `{"model":"large","messages":[]}`, Malformed, `want "small", or none`},
		"Stream":         {"text", "application/json", `{"stream":true,"messages":[]}`, Malformed, "cannot be streamed"},
		"NegativeOutput": {"text", "application/json", `{"max_tokens":-1,"messages":[]}`, Malformed, "want 1 to 1048576"},
		"ManyChoices":    {"text", "application/json", `{"n":129,"messages":[]}`, Malformed, "1 to 128"},
		"ImageIsText":    {"text", "image/png", "x", Unsupported, "want one of text/plain"},
		"TextIsImage":    {"image", "text/plain", "x", Unsupported, "want one of image/png"},
		"Word":           {"document", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "PK", Unsupported, "want one of text/plain, text/markdown, application/pdf: convert it"},
		"Audio":          {"audio", "application/json", chat, Unsupported, "audio cannot be worked on yet"},
		"Empty":          {"text", "text/plain", "", Malformed, "the file is empty"},
		"NotUTF8":        {"text", "text/plain", "\xff", Malformed, "not UTF-8"},
		"NotPDF":         {"document", "application/pdf", "hello", Malformed, "the PDF cannot be read"},
		"BrokenPDF":      {"document", "application/pdf", strings.Replace(pdfOf("x"), "/Kids [3 0 R]", "/Kids [2 0 R]", 1), Malformed, "never ends"},
		"LyingPDF":       {"document", "application/pdf", strings.Replace(pdfOf(""), "/Count 1", "/Count 9", 1), Unsupported, "the PDF has no text"},
		"ScannedPDF":     {"document", "application/pdf", pdfOf(""), Unsupported, "the PDF has no text"},
		"TooLarge":       {"text", "text/plain", strings.Repeat("x", 10_001), TooLarge, "more than the workers have memory for"},
		"LargeForm":      {"text", large, largeBody, TooLarge, "more than the workers have memory for"},
		"SecondFile":     {"text", second, secondBody, Malformed, "more than the parts request and file"},
		"WrongOrder":     {"text", order, orderBody, Malformed, "want request here"},
		"NoFile":         {"text", alone, aloneBody, Malformed, "no part file"},
		"NoBoundary":     {"text", "multipart/form-data", chat, Malformed, "no part request"},
		"CutForm":        {"text", second, secondBody[:len(secondBody)-150], Malformed, ""},
		"VideoInForm":    {"text", video, videoBody, Unsupported, "not text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := maker(c.modality).Item(c.contentType, strings.NewReader(c.body))
			var refused *Error
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, c.code, refused.Code)
			require.ErrorContains(t, err, c.text)
		})
	}
	_, err := maker("text").Item("text/plain", strings.NewReader(strings.Repeat("x", 10_000)))
	require.NoError(t, err, "the largest that is legal")
}

// A document may say of itself that it never ends, or make what reads it crash.
func TestADocumentThatNeverEndsIsGivenUp(t *testing.T) {
	t.Setenv("TEST_ENDLESS", "1")
	began := time.Now()
	_, err := extract([]byte(pdfOf("x")), 1000, 300*time.Millisecond)
	require.ErrorContains(t, err, "payload_malformed: the PDF cannot be read within 300ms")
	assert.Less(t, time.Since(began), 10*time.Second)
}

// A document may grow as it is read.
func TestMemoryOfADocumentIsBounded(t *testing.T) {
	t.Parallel()
	c := exec.Command(os.Args[0], extractCommand, "0") // leaves 64 MiB
	c.Stdin = io.LimitReader(zeros{}, 1<<30)
	require.Error(t, c.Run())
	assert.Equal(t, 2, c.ProcessState.ExitCode())
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { time.Sleep(time.Millisecond); return len(p), nil }

// Storage that breaks is not the payload's fault.
func TestAPayloadThatCannotBeReadIsNoBadPayload(t *testing.T) {
	t.Parallel()
	contentType, body := form(t, [3]string{"request", "application/json", chat}, [3]string{"file", "text/plain", "some text"})
	for name, c := range map[string]struct{ contentType, body string }{
		"JSON": {"application/json", chat},
		"File": {"text/plain", "hello"},
		"Form": {contentType, body},
	} {
		for _, n := range []int{0, len(c.body) / 2, len(c.body) - 5} {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				t.Parallel()
				cause := errors.New("connection reset")
				_, err := maker("text").Item(c.contentType, io.MultiReader(strings.NewReader(c.body[:n]), iotest.ErrReader(cause)))
				var outside *ReadError
				require.ErrorAs(t, err, &outside)
				require.ErrorIs(t, err, cause)
				var refused *Error
				assert.NotErrorAs(t, err, &refused)
			})
		}
	}
}

func TestTokensAreEstimatedOnTheSafeSide(t *testing.T) {
	t.Parallel()
	tokens := func(modality, contentType, body string) int {
		item, err := maker(modality).Item(contentType, strings.NewReader(body))
		require.NoError(t, err)
		return item.Tokens
	}
	text := strings.Repeat("word ", 600) // 600 tokens
	assert.GreaterOrEqual(t, tokens("text", "text/plain", text), 600+100)
	assert.Less(t, tokens("text", "text/plain", text), 1300)
	assert.Equal(t, 900, tokens("text", "application/json", `{"messages":[],"max_tokens":1000}`)-tokens("text", "application/json", `{"messages":[],"max_tokens":100}`))
	assert.Equal(t, 1900, tokens("text", "application/json", `{"messages":[],"max_tokens":1000,"n":2}`)-tokens("text", "application/json", `{"messages":[],"max_tokens":100,"n":1}`))
	assert.Less(t, tokens("text", "application/json", `{"input":"hi"}`), 20, "embeddings answer no tokens")
	small, large := tokens("image", "image/png", "x"), tokens("image", "image/png", strings.Repeat("x", 9000))
	assert.Equal(t, small, large, "an image counts as an image")
	assert.Greater(t, small, 1400)
}

func TestLinesGoOnAfterOneThatIsWrong(t *testing.T) {
	t.Parallel()
	l := maker("text").Lines(strings.NewReader(
		`{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":` + chat + "}\r\n" +
			`{"custom_id":"b","body":{"stream":true,"messages":[]}}` + "\n" +
			`{"custom_id":"c","body":` + chat + "}"))
	first, err := l.Next()
	require.NoError(t, err)
	assert.Equal(t, "a", first.ID)
	var body map[string]any
	require.NoError(t, json.Unmarshal(first.Body, &body))
	assert.Equal(t, "small", body["model"])
	second, err := l.Next()
	require.ErrorContains(t, err, "stream")
	assert.Equal(t, "b", second.ID)
	third, err := l.Next()
	require.NoError(t, err)
	assert.Equal(t, "c", third.ID)
	_, err = l.Next()
	assert.ErrorIs(t, err, io.EOF)
}

// Whatever somebody posts, there is a request or a reason.
func FuzzItem(f *testing.F) {
	f.Add("text", "application/json", []byte(chat))
	f.Add("text", "multipart/form-data; boundary=x", []byte("--x\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n{}\r\n--x--\r\n"))
	f.Fuzz(func(t *testing.T, modality, contentType string, body []byte) {
		if strings.Contains(strings.ToLower(contentType+string(body)), "pdf") {
			return // a process for each is too slow; see TestADocumentThatNeverEndsIsGivenUp
		}
		item, err := maker(modality).Item(contentType, bytes.NewReader(body))
		if err != nil {
			var refused *Error
			require.ErrorAs(t, err, &refused)
			return
		}
		var made struct{ Model string }
		require.NoError(t, json.Unmarshal(item.Body, &made))
		assert.Equal(t, "small", made.Model)
		assert.Positive(t, item.Tokens)
	})
}
