package stamp_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/stamp"
	"onedoor/services/internal/ring"
)

var plain = stamp.Stamp{Tenant: "desk", Job: "batch_0a1b", Part: 3, Attempt: 2}

func stamps(t *testing.T, signing string) stamp.Stamps {
	t.Helper()
	dir := t.TempDir()
	for id, c := range map[string]string{"1": "a", "2": "b"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, id), []byte(strings.Repeat(c, 64)+"\n"), 0o600))
	}
	return stamp.Stamps{Keys: ring.Ring(dir), Signing: signing}
}

// Keys change: what the one before has stamped is still ours.
func TestStampsOfBothKeysAreOurs(t *testing.T) {
	t.Parallel()
	r := stamps(t, "1")
	metadata, err := r.Metadata(plain)
	require.NoError(t, err)
	r.Signing = "2"
	got, ours, err := r.Read(metadata)
	require.NoError(t, err)
	assert.True(t, ours)
	assert.Equal(t, plain, got)
	for key, value := range metadata { // Azure's limits
		assert.LessOrEqual(t, len(key), 64)
		assert.LessOrEqual(t, len(value), 512)
	}
}

func TestStampsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	r := stamps(t, "2")
	good, err := r.Metadata(plain)
	require.NoError(t, err)
	for name, change := range map[string]map[string]string{
		"OtherTenant": {"onedoor_id": "labs.batch_0a1b.3.2"}, "OtherJob": {"onedoor_id": "desk.batch_0a1c.3.2"}, "OtherPart": {"onedoor_id": "desk.batch_0a1b.4.2"},
		"OtherAttempt": {"onedoor_id": "desk.batch_0a1b.3.3"}, "OtherKey": {"onedoor_key": "1"}, "UnknownKey": {"onedoor_key": "3"}, "KeyIsAPath": {"onedoor_key": "../2"},
		"NoMAC": {"onedoor_mac": ""}, "NoStamp": {"onedoor_id": ""}, "Malformed": {"onedoor_id": "desk.batch_0a1b.03.2"}, "Longer": {"onedoor_id": "desk.batch_0a1b.3.2.1"},
	} {
		forged := maps.Clone(good)
		maps.Copy(forged, change)
		_, ours, err := r.Read(forged)
		require.NoError(t, err, name)
		assert.False(t, ours, name)
	}
	_, ours, err := r.Read(nil)
	require.NoError(t, err)
	assert.False(t, ours)
}

// A job must not be taken for a foreign one because a key cannot be read just now.
func TestAKeyThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	r := stamps(t, "1")
	metadata, err := r.Metadata(plain)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(string(r.Keys), "1"), []byte("short"), 0o600))
	_, _, err = r.Read(metadata)
	require.ErrorContains(t, err, "key 1: 5 bytes, want at least 32")
	_, err = r.Metadata(plain)
	require.Error(t, err)
}
