package ring_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/internal/ring"
)

func TestAKeyProvesWhatItHasSigned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys := ring.Ring(dir)
	write := func(id, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, id), []byte(text), 0o600))
	}
	write("1", "\n "+strings.Repeat("a", 32)+" \n")
	write("2", strings.Repeat("b", 32))
	proof, err := keys.Proof("1", []byte("text"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		id, text, proof string
		want            bool
	}{
		"Same": {"1", "text", proof, true}, "OtherText": {"1", "text ", proof, false}, "OtherKey": {"2", "text", proof, false},
		"Longer": {"1", "text", proof + "A", false}, "None": {"1", "text", "", false},
	} {
		got, err := keys.Proves(c.id, []byte(c.text), c.proof)
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
	write("1", strings.Repeat("a", 32))
	same, err := keys.Proves("1", []byte("text"), proof)
	require.NoError(t, err)
	assert.True(t, same, "white space is not part of a key")
}

// That there is no key is certain; that one cannot be read now may pass.
func TestKeysThatAreNotThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys := ring.Ring(filepath.Join(dir, "keys"))
	require.NoError(t, os.Mkdir(string(keys), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "outside"), []byte(strings.Repeat("a", 32)), 0o600))
	for _, id := range []string{"1", "", "../outside", "a/b", strings.Repeat("k", 65), "k\n"} {
		proves, err := keys.Proves(id, nil, "")
		require.ErrorIs(t, err, ring.ErrNoKey, id)
		assert.False(t, proves)
	}
	require.NoError(t, os.WriteFile(filepath.Join(string(keys), "1"), []byte(strings.Repeat("a", 31)), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(string(keys), "2"), 0o700))
	for id, text := range map[string]string{"1": "key 1: 31 bytes, want at least 32", "2": "key 2: read"} {
		_, err := keys.Proof(id, nil)
		require.ErrorContains(t, err, text)
		assert.NotErrorIs(t, err, ring.ErrNoKey)
	}
}
