package npm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"maps"
	"strings"
	"testing"
)

func archive(t *testing.T, files map[string]string) *bytes.Buffer {
	t.Helper()
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	tarred := tar.NewWriter(zipped)
	for name, text := range files {
		if err := tarred.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := tarred.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tarred.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return &buffer
}

func TestReadKeepsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	packed := archive(t, map[string]string{"package/package.json": "{}", "package/a/b.d.ts": "b", "package/a/b.js": "c"})
	got, err := Read(packed, func(path string) bool { return strings.HasSuffix(path, ".d.ts") })
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"a/b.d.ts": "b"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestReadReportsADamagedArchive(t *testing.T) {
	t.Parallel()
	all := func(string) bool { return true }
	packed := archive(t, map[string]string{"package/package.json": strings.Repeat("some text ", 1000)}).Bytes()
	for name, text := range map[string][]byte{"empty": nil, "no archive": []byte("text"), "cut": packed[:len(packed)/2]} {
		if _, err := Read(bytes.NewReader(text), all); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
