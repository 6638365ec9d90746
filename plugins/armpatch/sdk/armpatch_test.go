package armpatch

import (
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// mocks remembers what was registered.
type mocks struct {
	mu   sync.Mutex
	seen []pulumi.MockResourceArgs
}

func (m *mocks) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, args)
	out := args.Inputs.Copy()
	out["alreadyHeld"] = resource.NewProperty(true)
	out["previous"] = resource.NewProperty(resource.PropertyMap{"/a": resource.NewProperty(1.0)})
	return args.Name + "-id", out, nil
}

func (*mocks) Call(pulumi.MockCallArgs) (resource.PropertyMap, error) {
	return resource.PropertyMap{}, nil
}

func args() *PatchArgs {
	return &PatchArgs{ResourceID: pulumi.String("/x"), APIVersion: pulumi.String("2025-01-01"), Properties: pulumi.Map{"tags": pulumi.Map{"a": pulumi.String("b")}}}
}

func TestNewPatch(t *testing.T) {
	t.Parallel()
	m := &mocks{}
	var held bool
	var previous map[string]any
	err := pulumi.RunErr(func(ctx *pulumi.Context) error {
		p, err := NewProvider(ctx, "cloud", &ProviderArgs{Environment: pulumi.StringPtr("china")})
		if err != nil {
			return err
		}
		in := args()
		in.Triggers = pulumi.StringMap{"t": pulumi.String("1")}
		in.OnDelete = pulumi.StringPtr(Restore)
		in.PollSeconds = pulumi.IntPtr(3)
		patch, err := NewPatch(ctx, "first", in, pulumi.Provider(p))
		if err != nil {
			return err
		}
		if _, err := NewPatch(ctx, "second", args(), pulumi.Version("9.9.9")); err != nil {
			return err
		}
		patch.AlreadyHeld.ApplyT(func(v bool) bool { held = v; return v })
		patch.Previous.ApplyT(func(v map[string]any) int { previous = v; return 0 })
		return nil
	}, pulumi.WithMocks("p", "s", m))
	if err != nil {
		t.Fatal(err)
	}
	if !held || previous["/a"] != 1.0 {
		t.Errorf("outputs: %v, %v", held, previous)
	}
	versions := map[string]string{}
	for _, r := range m.seen {
		versions[r.TypeToken+" "+r.Name] = r.RegisterRPC.GetVersion()
		if r.Name == "first" {
			want := resource.PropertyMap{
				"resourceId": resource.NewProperty("/x"), "apiVersion": resource.NewProperty("2025-01-01"), "onDelete": resource.NewProperty("restore"), "pollSeconds": resource.NewProperty(3.0),
				"triggers":   resource.NewProperty(resource.PropertyMap{"t": resource.NewProperty("1")}),
				"properties": resource.NewProperty(resource.PropertyMap{"tags": resource.NewProperty(resource.PropertyMap{"a": resource.NewProperty("b")})}),
			}
			if !r.Inputs.DeepEquals(want) {
				t.Errorf("inputs: got %v, want %v", r.Inputs, want)
			}
		}
		if r.Name == "cloud" && !r.Inputs.DeepEquals(resource.PropertyMap{"environment": resource.NewProperty("china")}) {
			t.Errorf("provider: %v", r.Inputs)
		}
	}
	for name, want := range map[string]string{ProviderToken + " cloud": Version, Token + " first": Version, Token + " second": "9.9.9"} {
		if versions[name] != want {
			t.Errorf("version of %s: got %q, want %q", name, versions[name], want)
		}
	}
}

func TestNewPatchRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args *PatchArgs
		want []string
	}{
		"no args":    {nil, []string{"missing PatchArgs"}},
		"empty args": {&PatchArgs{}, []string{"ResourceID is required", "APIVersion is required", "Properties is required"}},
		"nils": {
			&PatchArgs{ResourceID: pulumi.String("/x"), APIVersion: pulumi.String("v"), Properties: pulumi.Map{"p": pulumi.Map{"a": nil, "b": pulumi.Int(1)}}, Preconditions: pulumi.Map{"/x": nil}},
			[]string{`Properties["p"]["a"] is nil`, `Preconditions["/x"] is nil`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &mocks{}
			err := pulumi.RunErr(func(ctx *pulumi.Context) error {
				_, err := NewPatch(ctx, "x", c.args)
				return err
			}, pulumi.WithMocks("p", "s", m))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not say %q", err, want)
				}
			}
			for _, r := range m.seen {
				if r.TypeToken == Token {
					t.Error("it was registered all the same")
				}
			}
		})
	}
}
