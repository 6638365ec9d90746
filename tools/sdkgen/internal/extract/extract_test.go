package extract

import (
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files")

// source reads testdata/sdk, a Node.js SDK of the generator's form with one service.
func source(t *testing.T) Source {
	t.Helper()
	src := Source{Files: map[string]string{}, Floats: []string{"network/v1:Rule.weight"}}
	keep := Needs([]string{"network/v1:Subnet"})
	root := os.DirFS(filepath.Join("testdata", "sdk"))
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !keep(path) {
			return err
		}
		text, err := fs.ReadFile(root, path)
		src.Files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestSchemaOfASmallSDK(t *testing.T) {
	t.Parallel()
	src := source(t)
	if _, read := src.Files["other/v1/thing.d.ts"]; read {
		t.Error("Needs asks for another service's files")
	}
	spec, err := Schema(src, []string{"network/v1:Subnet"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(map[string]any{"version": spec.Version, "resources": spec.Resources, "types": spec.Types}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	golden := filepath.Join("testdata", "schema.golden.json")
	if *rewrite {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs from:\n%s", golden, got)
	}
}

func TestSchemaReportsAllThatIsMissing(t *testing.T) {
	t.Parallel()
	src := source(t)
	_, err := Schema(src, []string{"network/v1:Subnet", "network/v1:Nope", "network/v9:Subnet"})
	if err == nil || !strings.Contains(err.Error(), "network/v1:Nope: the SDK has no network/v1/nope.d.ts") || !strings.Contains(err.Error(), "network/v9:Subnet") {
		t.Errorf("got %v, want both missing types named", err)
	}
	delete(src.Files, "types/enums/network/v1/index.d.ts")
	if _, err := Schema(src, []string{"network/v1:Subnet"}); err == nil || !strings.Contains(err.Error(), "network/v1:Sku: the SDK has no such enum") {
		t.Errorf("got %v, want the enum named", err)
	}
}

func TestMemberNames(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"standard":     "Standard",
		"Standard_ZRS": "Standard_ZRS",
		"1.2":          "Tls_1_2",
		"a-b c":        "A_b_c",
		"*":            "Tls_",
		"":             "",
	} {
		if got := memberName(value, "Tls"); got != want {
			t.Errorf("memberName(%q) = %q, want %q", value, got, want)
		}
	}
}

func TestDefaultsAreRead(t *testing.T) {
	t.Parallel()
	spec, err := Schema(source(t), []string{"network/v1:Subnet"})
	if err != nil {
		t.Fatal(err)
	}
	subnet := spec.Resources["azure-native:network/v1:Subnet"]
	if got := subnet.InputProperties["policy"].Default; got != "Disabled" {
		t.Errorf("default of an input: %v", got)
	}
	rule := spec.Types["azure-native:network/v1:Rule"]
	if got := rule.Properties["priority"].Default; got != 100.0 {
		t.Errorf("default of a type's property: %v", got)
	}
	want := []schema.AliasSpec{{Type: "azure-native:network/v0:Subnet"}, {Type: "azure-native:network:Subnet"}}
	if !reflect.DeepEqual(subnet.Aliases, want) {
		t.Errorf("aliases: %v", subnet.Aliases)
	}
}
