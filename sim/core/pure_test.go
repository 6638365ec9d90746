package core

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The core reads no clock, draws nothing at random, does no input or output.
func TestCoreIsPure(t *testing.T) {
	t.Parallel()
	allowed := strings.Fields(`cmp crypto/sha256 encoding/base64 encoding/binary encoding/json encoding/xml errors fmt io maps math net/http net/mail net/netip net/url regexp slices strconv strings sync time
		github.com/agext/levenshtein github.com/google/uuid go.yaml.in/yaml/v3 onedoor/internal/apimpolicy onedoor/internal/apimpolicy/csharp onedoor/internal/armtypes onedoor/internal/az/aks onedoor/internal/az/monitor onedoor/internal/az/openai onedoor/internal/az/policyrule`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			if path := strings.Trim(spec.Path.Value, `"`); !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
		// http is here for the names of status codes, uuid for version 5.
		for _, call := range []string{"time.Now", "time.Since", "time.Sleep", "uuid.New(", "uuid.NewString", "http.Get", "http.Client", "go func"} {
			if strings.Contains(string(text), call) {
				t.Errorf("%s calls %s", name, call)
			}
		}
	}
}
