package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunRefusesBadCommandLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "no command"},
		{[]string{"generte"}, `unknown command "generte"`},
		{[]string{"generate", "x"}, "takes no arguments"},
		{[]string{"update"}, "takes one version"},
		{[]string{"update", "latest"}, `version "latest"`},
		{[]string{"generate", "-data", "nowhere", "-out", "nowhere"}, filepath.Join("nowhere", "resources.txt")},
	} {
		err := run(context.Background(), test.args, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %q", test.args, err, test.want)
		}
	}
}

// A type that the schema lacks is the most likely mistake, so the message says what to do.
func TestGenerateSaysHowToGetAType(t *testing.T) {
	t.Parallel()
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "sdks")
	for name, text := range map[string]string{
		"resources.txt": "storage/v20240101:Qeue name\n",
		"schema.json":   `{"name": "azure-native", "version": "9.8.7", "resources": {"azure-native:storage/v20240101:Queue": {}}}`,
	} {
		if err := os.WriteFile(filepath.Join(data, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	err := run(context.Background(), []string{"generate", "-data", data, "-out", out}, &bytes.Buffer{})
	for _, want := range []string{"sdkgen update 9.8.7", "nearest is azure-native:storage/v20240101:Queue"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}
