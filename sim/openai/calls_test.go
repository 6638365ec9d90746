package openai_test

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	client "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/azure"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim/openai/core"
)

// sync is the world of the account that answers synchronous calls.
func sync(t *testing.T, change func(*core.Rules)) *world {
	c := config()
	if change != nil {
		change(&c.Rules)
	}
	w := open(t, c)
	w.url = w.serve("oai-sync-dev")
	return w
}

func chat(prompt string) client.ChatCompletionNewParams {
	return client.ChatCompletionNewParams{Model: "chat", Messages: []client.ChatCompletionMessageParamUnion{client.UserMessage(prompt)}}
}

// Chat answers the same to the same, with usage and the model's version (A850), by the v1
// path and by that of a deployment (A800).
func TestChat(t *testing.T) {
	t.Parallel()
	w := sync(t, nil)
	api := w.client("gateway")
	first, err := api.Chat.Completions.New(t.Context(), chat("one two"))
	require.NoError(t, err)
	assert.Equal(t, "You wrote: one two", first.Choices[0].Message.Content)
	assert.EqualValues(t, "stop", first.Choices[0].FinishReason)
	assert.Equal(t, "gpt-4o-2024-08-06", first.Model)
	assert.Equal(t, first.Usage.TotalTokens, first.Usage.PromptTokens+first.Usage.CompletionTokens)
	assert.EqualValues(t, 5, first.Usage.CompletionTokens, "a quarter of 18 bytes")

	dated := client.NewClient(azure.WithEndpoint(w.url, "2024-10-21"), option.WithMaxRetries(0), option.WithHeader("Authorization", "Bearer gateway"))
	second, err := dated.Chat.Completions.New(t.Context(), chat("one two"))
	require.NoError(t, err)
	assert.Equal(t, first.RawJSON(), second.RawJSON())

	params := chat(strings.Repeat("many words ", 20))
	params.MaxTokens = client.Int(3)
	short, err := api.Chat.Completions.New(t.Context(), params)
	require.NoError(t, err)
	assert.EqualValues(t, "length", short.Choices[0].FinishReason)
	assert.EqualValues(t, 3, short.Usage.CompletionTokens)

	params = chat("one")
	params.ResponseFormat = client.ChatCompletionNewParamsResponseFormatUnion{OfJSONObject: &client.ResponseFormatJSONObjectParam{}}
	object, err := api.Chat.Completions.New(t.Context(), params)
	require.NoError(t, err)
	assert.JSONEq(t, `{"reply":"You wrote: one"}`, object.Choices[0].Message.Content)
}

// What calls end in can be marked in the prompt (A841); a rule of the caller goes first.
func TestOutcomesOfCalls(t *testing.T) {
	t.Parallel()
	w := sync(t, nil)
	api := w.client("gateway")
	for prompt, want := range map[string]string{
		"[sim:refused]": "400 content_filter", "[sim:busy]": "429 429", "[sim:broken]": "500 InternalServerError",
	} {
		_, err := api.Chat.Completions.New(t.Context(), chat(prompt))
		assert.Equal(t, want, code(t, err))
	}
	filtered, err := api.Chat.Completions.New(t.Context(), chat("[sim:filtered]"))
	require.NoError(t, err)
	assert.EqualValues(t, "content_filter", filtered.Choices[0].FinishReason)
	assert.Empty(t, filtered.Choices[0].Message.Content)

	ruled := sync(t, func(r *core.Rules) {
		r.Outcome = func(core.Row) core.Outcome { return core.Answered }
		r.Reply = func(model, prompt string) string { return model + " says " + prompt }
	}).client("gateway")
	answer, err := ruled.Chat.Completions.New(t.Context(), chat("[sim:broken]"))
	require.NoError(t, err)
	assert.Equal(t, "chat says [sim:broken]", answer.Choices[0].Message.Content)
}

// A minute has so many tokens (A853); Retry-After tells when the next begins. What a
// call may answer counts, whatever it does answer.
func TestTokensPerMinute(t *testing.T) {
	t.Parallel()
	w := sync(t, func(r *core.Rules) { r.Tokens = func([]byte) int64 { return 400 } }) // of 1,000
	api := w.client("gateway")
	w.pass(10 * time.Second)
	for range 2 {
		_, err := api.Chat.Completions.New(t.Context(), chat("x"))
		require.NoError(t, err)
	}
	res, _ := w.send("gateway", http.MethodPost, "/openai/v1/chat/completions", "application/json", `{"model":"chat","messages":[{"role":"user","content":"x"}]}`)
	assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	assert.Equal(t, "50", res.Header.Get("Retry-After"))
	w.pass(49 * time.Second)
	_, err := api.Chat.Completions.New(t.Context(), chat("x"))
	assert.Equal(t, "429 429", code(t, err))
	w.pass(time.Second)
	for _, most := range []int64{601, 600} { // beside 400 of the request
		call := chat("x")
		call.MaxCompletionTokens = client.Int(most)
		_, err = api.Chat.Completions.New(t.Context(), call)
		if most > 600 {
			assert.Equal(t, "429 429", code(t, err))
			continue
		}
		assert.NoError(t, err)
	}
}

// Vectors have length 1, belong to their text, and come in both encodings (A854).
func TestEmbeddings(t *testing.T) {
	t.Parallel()
	w := sync(t, nil)
	api := w.client("gateway")
	embed := func(format client.EmbeddingNewParamsEncodingFormat, texts ...string) *client.CreateEmbeddingResponse {
		answer, err := api.Embeddings.New(t.Context(), client.EmbeddingNewParams{
			Model: "vectors", Input: client.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts}, Dimensions: client.Int(256), EncodingFormat: format,
		})
		require.NoError(t, err)
		return answer
	}
	answer := embed("float", "a", "b", "a")
	require.Len(t, answer.Data, 3)
	assert.Equal(t, answer.Data[0].Embedding, answer.Data[2].Embedding)
	assert.NotEqual(t, answer.Data[0].Embedding, answer.Data[1].Embedding)
	length := 0.0
	for _, v := range answer.Data[0].Embedding {
		length += v * v
	}
	assert.InDelta(t, 1, math.Sqrt(length), 1e-4)
	assert.Len(t, answer.Data[0].Embedding, 256)
	assert.Contains(t, embed("base64", "a").RawJSON(), `"embedding":"`)
}

// Responses answer at once (A851), and never in the background.
func TestResponses(t *testing.T) {
	t.Parallel()
	w := sync(t, nil)
	api := w.client("gateway")
	params := responses.ResponseNewParams{Model: "chat", Input: responses.ResponseNewParamsInputUnion{OfString: client.String("say hello")}}
	answer, err := api.Responses.New(t.Context(), params)
	require.NoError(t, err)
	assert.Equal(t, "You wrote: say hello", answer.OutputText())
	assert.EqualValues(t, "completed", answer.Status)
	params.Background = client.Bool(true)
	_, err = api.Responses.New(t.Context(), params)
	assert.Equal(t, "400 invalid_request", code(t, err))
}

// Calls are refused for a deployment that is not there, one that takes batch jobs (A852),
// and for what is not simulated.
func TestCallRules(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	batch := w.client(rogue)
	_, err := batch.Chat.Completions.New(t.Context(), client.ChatCompletionNewParams{Model: deployment, Messages: chat("x").Messages})
	assert.Equal(t, "400 invalid_request", code(t, err))
	w = sync(t, nil)
	for body, want := range map[string]int{
		`{"model":"chat","messages":[{"role":"user","content":"x"}]}`:                          200,
		`{"model":"chat","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`: 200,
		`{"model":"nobody","messages":[{"role":"user","content":"x"}]}`:                        404,
		`{"model":"chat","messages":[]}`:                                                       400,
		`{"model":"chat","messages":[{"role":"user","content":"x"}],"stream":true}`:            400,
		`[]`: 400,
	} {
		res, answer := w.send("gateway", http.MethodPost, "/openai/v1/chat/completions", "application/json", body)
		assert.Equal(t, want, res.StatusCode, "%s %v", body, answer)
	}
}

// Models are those of the account's deployments (A855).
func TestModels(t *testing.T) {
	t.Parallel()
	w := sync(t, nil)
	api := w.client(reader)
	page, err := api.Models.List(t.Context())
	require.NoError(t, err)
	var names []string
	for _, m := range page.Data {
		names = append(names, m.ID)
	}
	assert.Equal(t, []string{"gpt-4o-2024-08-06", "text-embedding-3-small"}, names)
}
