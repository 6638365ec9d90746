package docs_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/tests/docs/shown"
)

// registry is a registry of images that keeps everything in memory, whatever the
// repository. https://github.com/opencontainers/distribution-spec
type registry struct {
	mu    sync.Mutex
	kinds map[string]string // of manifests, by digest
	texts map[string][]byte // by digest
	tags  map[string]string // digests, by tag
}

// put keeps a text, and says its digest.
func (g *registry) put(kind string, text []byte) string {
	sum := sha256.Sum256(text)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	g.texts[digest], g.kinds[digest] = text, kind
	return digest
}

// base keeps an image without layers for linux/amd64, under that tag.
func (g *registry) base(tag string) {
	config := []byte(`{"architecture":"amd64","os":"linux","config":{"User":"65532"},"rootfs":{"type":"layers","diff_ids":[]},"history":[]}`)
	const kind = "application/vnd.oci.image.manifest.v1+json"
	digest := g.put("", config)
	g.tags[tag] = g.put(kind, fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":"application/vnd.oci.image.config.v1+json","size":%d,"digest":%q},"layers":[]}`, kind, len(config), digest))
}

// ServeHTTP implements http.Handler.
func (g *registry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	name := path.Base(r.URL.Path)
	if digest := g.tags[name]; digest != "" {
		name = digest
	}
	text, known := g.texts[name]
	switch {
	case r.URL.Path == "/v2/": // whoever asks may do everything
	case r.Method == http.MethodPost: // an upload begins
		w.Header().Set("Location", r.URL.Path+"upload")
		w.WriteHeader(http.StatusAccepted)
	case r.Method == http.MethodPatch || r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/manifests/"):
		text, _ := io.ReadAll(r.Body)
		digest := g.put(r.Header.Get("Content-Type"), text)
		g.tags[path.Base(r.URL.Path)] = digest
		w.Header().Set("Location", r.URL.Path)
		w.Header().Set("Docker-Content-Digest", digest)
		w.WriteHeader(map[string]int{http.MethodPatch: http.StatusAccepted, http.MethodPut: http.StatusCreated}[r.Method])
	case r.Method == http.MethodPut: // an upload ends
		if _, known := g.texts[r.URL.Query().Get("digest")]; !known {
			http.Error(w, "another digest", http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusCreated)
	case !known:
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", g.kinds[name])
		w.Header().Set("Docker-Content-Digest", name)
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		if r.Method == http.MethodGet {
			_, _ = w.Write(text)
		}
	}
}

// The images are built and pushed as it is printed, by ko itself, and each command
// prints a digest of what the registry then has. Replaced are the registry and the base
// of the images, by one on this machine. Compiling ko takes minutes.
func TestImagesAreBuiltAsPrinted(t *testing.T) {
	t.Parallel()
	if !shown.All() {
		t.Skip("compiles ko: set " + shown.AllEnv + "=all")
	}
	held := &registry{kinds: map[string]string{}, texts: map[string][]byte{}, tags: map[string]string{}}
	held.base("base")
	server := httptest.NewServer(held)
	defer server.Close()
	host := strings.Replace(strings.TrimPrefix(server.URL, "http://"), "127.0.0.1", "localhost", 1)
	docker := t.TempDir()
	built := 0
	for _, c := range of(t, shown.Image) {
		words := strings.Split(strings.ReplaceAll(strings.Join(c.Words, "\x00"), "YOURREGISTRY.azurecr.io", host), "\x00")
		run := exec.CommandContext(t.Context(), words[0], words[1:]...)
		run.Dir, run.Stdin = root, strings.NewReader("token")
		run.Env = append(os.Environ(), "DOCKER_CONFIG="+docker, "KO_DEFAULTBASEIMAGE="+host+"/static:base")
		for _, given := range c.Env {
			run.Env = append(run.Env, strings.ReplaceAll(given, "YOURREGISTRY.azurecr.io", host))
		}
		said, err := run.Output()
		require.NoError(t, err, "%s\n%s", c, problem(err))
		if words[3] == "login" {
			assert.FileExists(t, filepath.Join(docker, "config.json"), c)
			continue
		}
		built++
		digest := regexp.MustCompile(`/onedoor/[a-z-]+@(sha256:[0-9a-f]{64})\n$`).FindSubmatch(said)
		require.NotNil(t, digest, "%s printed %s", c, said)
		var manifest struct{ Layers []struct{ Digest string } }
		require.NoError(t, json.Unmarshal(held.texts[string(digest[1])], &manifest), c)
		assert.NotEmpty(t, manifest.Layers, c)
		for _, layer := range manifest.Layers {
			assert.NotEmpty(t, held.texts[layer.Digest], c)
		}
	}
	assert.Equal(t, 2, built)
}

// problem is what a program said before it failed.
func problem(err error) string {
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // nobody wraps it
		return string(exit.Stderr)
	}
	return ""
}
