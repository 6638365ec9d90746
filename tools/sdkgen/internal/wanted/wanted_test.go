package wanted

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse("# comment\n\nnetwork/v20240501:Subnet addressPrefix name\nstorage/v20240101preview:Table\n")
	want := []Resource{
		{Type: "network/v20240501:Subnet", Outputs: []string{"addressPrefix", "name"}},
		{Type: "storage/v20240101preview:Table", Outputs: []string{}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v %v, want %+v", got, err, want)
	}
	if modules := Modules(append(got, got...)); !slices.Equal(modules, []string{"network", "storage"}) {
		t.Errorf("modules %q", modules)
	}
	if token := got[0].Token(); token != "azure-native:network/v20240501:Subnet" {
		t.Errorf("token %q", token)
	}
}

func TestParseReportsEveryBadLine(t *testing.T) {
	t.Parallel()
	_, err := Parse("network:Subnet\nb/v20240101:B name etag\na/v20240101:A\nb/v20240101:C x x\n")
	for _, want := range []string{"line 1: network:Subnet: want <module>", "line 2: b/v20240101:B: outputs", "line 3: a/v20240101:A: lines must", "line 4: b/v20240101:C: outputs"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	if _, err := Parse("# nothing\n"); err == nil {
		t.Error("an empty list is accepted")
	}
}
