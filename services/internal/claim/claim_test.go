package claim

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/internal/ring"
)

// plain is a valid message.
func plain() Message {
	return Message{
		Tenant: "contoso", Modality: "text", Alias: "small", Job: "tickets-1", Item: "42",
		Blob: "contoso/tickets-1/42", ETag: `"0x8DD1"`, Type: "text/plain", Correlation: "0af7651916cd43dd8448eb211c80319c",
	}
}

// keys makes a directory with keys 1 and 2.
func keys(t testing.TB) ring.Ring {
	t.Helper()
	dir := t.TempDir()
	for id, c := range map[string]string{"1": "a", "2": "b"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, id), []byte(strings.Repeat(c, 64)+"\n"), 0o600))
	}
	return ring.Ring(dir)
}

func TestWhatIsSignedVerifies(t *testing.T) {
	t.Parallel()
	known := keys(t)
	for _, id := range []string{"1", "2"} { // the one that signs, and the one before it
		data, err := Sign(plain(), known, id)
		require.NoError(t, err)
		got, err := Verify(data, known)
		require.NoError(t, err)
		want := plain()
		want.Version, want.Key, want.MAC = 1, id, got.MAC
		assert.Equal(t, want, got)
	}
}

// What the bus carries is a contract with programs of other versions.
func TestTheSchemaStaysAsItIs(t *testing.T) {
	t.Parallel()
	data, err := Sign(plain(), keys(t), "2")
	require.NoError(t, err)
	assert.Equal(t, `{"version":1,"tenant":"contoso","modality":"text","alias":"small","job":"tickets-1","item":"42",`+
		`"blob":"contoso/tickets-1/42","etag":"\"0x8DD1\"","type":"text/plain","correlation":"0af7651916cd43dd8448eb211c80319c","key":"2",`+
		`"mac":"8eimFEe5K5-PLGcXvdEjZ0Zgaf9SJXp2t5YnHmNWE2M"}`, string(data))
}

func TestEveryFieldIsUnderTheMAC(t *testing.T) {
	t.Parallel()
	known := keys(t)
	data, err := Sign(plain(), known, "1")
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(data, &fields))
	for name, value := range fields {
		if name == "version" {
			continue // another version is another schema
		}
		forged := map[string]any{}
		require.NoError(t, json.Unmarshal(data, &forged))
		forged[name] = value.(string) + "2"
		if name == "key" {
			forged[name] = "2"
		}
		text, err := json.Marshal(forged)
		require.NoError(t, err)
		_, err = Verify(text, known)
		require.ErrorIs(t, err, ErrNotProven, "changed %s", name)
	}
}

// Fields that run into one another would let a tenant speak for another.
func TestFieldsDoNotRunIntoOneAnother(t *testing.T) {
	t.Parallel()
	a, b := plain(), plain()
	a.Job, a.Item = "12", "3"
	b.Job, b.Item = "1", "23"
	assert.NotEqual(t, a.text(), b.text())
}

func TestMessagesThatAreRefused(t *testing.T) {
	t.Parallel()
	known := keys(t)
	good, err := Sign(plain(), known, "1")
	require.NoError(t, err)
	replace := func(old, new string) string { return strings.Replace(string(good), old, new, 1) }
	for name, c := range map[string]struct {
		data string
		want error
		text string
	}{
		"Empty":           {"", ErrMalformed, "EOF"},
		"NotJSON":         {"hello", ErrMalformed, "invalid character"},
		"Two":             {string(good) + string(good), ErrMalformed, "more than one JSON value"},
		"TrailingBytes":   {string(good) + "x", ErrMalformed, "more than one JSON value"},
		"UnknownField":    {replace(`{`, `{"priority":1,`), ErrMalformed, "priority"},
		"OtherVersion":    {replace(`"version":1`, `"version":2`), ErrMalformed, "version: got 2, want 1"},
		"WrongType":       {replace(`"tenant":"contoso"`, `"tenant":7`), ErrMalformed, "tenant"},
		"TooLarge":        {string(good) + strings.Repeat(" ", MaxBytes-len(good)+1), ErrTooLarge, "4096 bytes, want at most 4095"},
		"NoKey":           {replace(`"key":"1"`, `"key":""`), ErrNotProven, "no such key"},
		"UnknownKey":      {replace(`"key":"1"`, `"key":"3"`), ErrNotProven, "there is no such key"},
		"KeyIsAPath":      {replace(`"key":"1"`, `"key":"../1"`), ErrNotProven, "no such key"},
		"OtherKey":        {replace(`"key":"1"`, `"key":"2"`), ErrNotProven, "not that of key 2"},
		"OtherTenant":     {replace(`"tenant":"contoso"`, `"tenant":"fabrikam"`), ErrNotProven, "not that of key 1"},
		"NoMAC":           {replace(`"mac":"`, `"mac":"_`), ErrNotProven, "not that of key 1"},
		"MACWithNewlines": {replace(`"mac":"`, `"mac":"\n`), ErrNotProven, "not that of key 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Verify([]byte(c.data), known)
			require.ErrorIs(t, err, c.want)
			assert.ErrorContains(t, err, c.text)
		})
	}
	_, err = Verify([]byte(string(good)+strings.Repeat(" ", MaxBytes-len(good))), known)
	assert.NoError(t, err, "the longest that is legal")
}

func TestFieldsThatAreNotSigned(t *testing.T) {
	t.Parallel()
	known := keys(t)
	for name, c := range map[string]struct {
		change func(*Message)
		legal  func(*Message)
		text   string
	}{
		"TenantUpperCase":  {func(m *Message) { m.Tenant = "Contoso" }, func(m *Message) { m.Tenant = "contoso-2" }, `tenant: got "Contoso"`},
		"TenantIsAPath":    {func(m *Message) { m.Tenant = "a/b" }, func(m *Message) { m.Tenant = "a-b" }, "tenant"},
		"JobIsParent":      {func(m *Message) { m.Job = ".." }, func(m *Message) { m.Job = "a..b" }, "job"},
		"ItemEndsInDot":    {func(m *Message) { m.Item = "a." }, func(m *Message) { m.Item = "a.b" }, "item"},
		"ItemTooLong":      {func(m *Message) { m.Item = strings.Repeat("a", 129) }, func(m *Message) { m.Item = strings.Repeat("a", 128) }, "item"},
		"NoBlob":           {func(m *Message) { m.Blob = "" }, func(m *Message) { m.Blob = "ä b" }, "blob"},
		"BlobTooLong":      {func(m *Message) { m.Blob = strings.Repeat("b", 1025) }, func(m *Message) { m.Blob = strings.Repeat("b", 1024) }, "blob"},
		"ETagWithNewline":  {func(m *Message) { m.ETag = "a\nb" }, func(m *Message) { m.ETag = `W/"a"` }, "etag"},
		"TypeTooLong":      {func(m *Message) { m.Type = strings.Repeat("t", 256) }, func(m *Message) { m.Type = "" }, "type"},
		"NoCorrelation":    {func(m *Message) { m.Correlation = "" }, func(m *Message) { m.Correlation = "a:b" }, "correlation"},
		"AliasWithSlash":   {func(m *Message) { m.Alias = "a/b" }, func(m *Message) { m.Alias = "gpt-4.1" }, "alias"},
		"ModalityIsNoWord": {func(m *Message) { m.Modality = "Text" }, func(m *Message) { m.Modality = "video" }, "modality"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong, right := plain(), plain()
			c.change(&wrong)
			c.legal(&right)
			_, err := Sign(wrong, known, "1")
			require.ErrorContains(t, err, c.text)
			data, err := Sign(right, known, "1")
			require.NoError(t, err)
			_, err = Verify(data, known)
			assert.NoError(t, err)
		})
	}
	_, err := Sign(Message{}, known, "1")
	for _, name := range []string{"tenant", "modality", "alias", "job", "item", "blob", "etag", "correlation"} {
		assert.ErrorContains(t, err, name+`: got ""`, "all problems at once")
	}
}

// Messages that wait when keys change are still proven by the one before, and a
// key is gone with its file.
func TestKeysChangeWhileTheProgramRuns(t *testing.T) {
	t.Parallel()
	known := keys(t)
	file := filepath.Join(string(known), "3")
	_, err := Sign(plain(), known, "3")
	require.ErrorContains(t, err, "key 3: there is no such key")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("c", 31)), 0o600))
	_, err = Sign(plain(), known, "3")
	require.ErrorContains(t, err, "key 3: 31 bytes, want at least 32")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("c", 32)), 0o600))
	data, err := Sign(plain(), known, "3")
	require.NoError(t, err)
	_, err = Verify(data, known)
	require.NoError(t, err)
	require.NoError(t, os.Remove(file))
	_, err = Verify(data, known)
	require.ErrorIs(t, err, ErrNotProven)
	require.NoError(t, os.Mkdir(file, 0o700))
	_, err = Verify(data, known)
	require.ErrorContains(t, err, "key 3: read")
	assert.NotErrorIs(t, err, ErrNotProven, "a key that cannot be read now is no proof of a forgery")
}

func TestPlacesFollowFromTheItem(t *testing.T) {
	t.Parallel()
	m := plain()
	assert.Equal(t, "contoso/tickets-1/42", m.Path())
	assert.Equal(t, "tickets-1:42", m.IdempotencyKey())
	assert.Len(t, m.ID(), 64)
	for what, c := range map[string]struct {
		change func(*Message)
		same   bool
	}{
		"another post":    {func(m *Message) { m.Correlation, m.Key, m.MAC = "x", "9", "y" }, true},
		"another payload": {func(m *Message) { m.ETag = `"0x8DD2"` }, false},
		"another item":    {func(m *Message) { m.Item = "43" }, false},
		"another type":    {func(m *Message) { m.Type = "image/png" }, false},
		"another model":   {func(m *Message) { m.Alias = "large" }, false},
	} {
		other := plain()
		c.change(&other)
		assert.Equal(t, c.same, m.ID() == other.ID(), what)
	}
}

// Whatever comes from the bus, nothing is taken that nobody signed.
func FuzzVerify(f *testing.F) {
	known := keys(f)
	good, err := Sign(plain(), known, "1")
	require.NoError(f, err)
	f.Add(good)
	f.Add([]byte(`{"version":1,"key":"1","mac":""}`))
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Verify(data, known)
		if err != nil {
			return
		}
		want := plain()
		want.Version, want.Key, want.MAC = 1, "1", m.MAC
		assert.Equal(t, want, m)
	})
}

// Whatever is signed comes back as it was.
func FuzzSign(f *testing.F) {
	known := keys(f)
	p := plain()
	f.Add(p.Tenant, p.Modality, p.Alias, p.Job, p.Item, p.Blob, p.ETag, p.Type, p.Correlation)
	f.Fuzz(func(t *testing.T, tenant, modality, alias, job, item, blob, etag, kind, correlation string) {
		m := Message{Tenant: tenant, Modality: modality, Alias: alias, Job: job, Item: item, Blob: blob, ETag: etag, Type: kind, Correlation: correlation}
		data, err := Sign(m, known, "1")
		if err != nil {
			return
		}
		got, err := Verify(data, known)
		require.NoError(t, err)
		m.Version, m.Key, m.MAC = got.Version, got.Key, got.MAC
		assert.Equal(t, m, got)
		assert.Equal(t, 2, strings.Count(got.Path(), "/"))
	})
}
