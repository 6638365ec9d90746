package engine

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// fake is the smallest provider the engine accepts. It keeps what it made in memory.
// A Thing has one computed output, address; a change of its input name replaces it.
type fake struct {
	pulumirpc.UnimplementedResourceProviderServer

	mu     sync.Mutex
	things map[string]*structpb.Struct // by id
	n      int
	onMake func(name string) error // called by every real Create
	calls  []string
}

func newFake() *fake { return &fake{things: map[string]*structpb.Struct{}} }

func (f *fake) call(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
}

func (f *fake) made() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.things)
}

func (*fake) Handshake(context.Context, *pulumirpc.ProviderHandshakeRequest) (*pulumirpc.ProviderHandshakeResponse, error) {
	return &pulumirpc.ProviderHandshakeResponse{AcceptSecrets: true, AcceptResources: true, AcceptOutputs: true}, nil
}

func (*fake) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

func (*fake) Attach(context.Context, *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (*fake) CheckConfig(_ context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return &pulumirpc.CheckResponse{Inputs: r.News}, nil
}

func (*fake) DiffConfig(context.Context, *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}, nil
}

func (*fake) Configure(context.Context, *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	return &pulumirpc.ConfigureResponse{AcceptSecrets: true, SupportsPreview: true, AcceptResources: true, AcceptOutputs: true}, nil
}

func (f *fake) Check(_ context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	f.call("check %s", r.Name)
	out := &pulumirpc.CheckResponse{Inputs: r.News}
	if v := r.News.GetFields()["bad"]; v != nil {
		out.Failures = []*pulumirpc.CheckFailure{{Property: "bad", Reason: "is not allowed: " + v.GetStringValue()}}
	}
	return out, nil
}

func (*fake) Diff(_ context.Context, r *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	out := &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}
	if proto.Equal(r.OldInputs, r.News) {
		return out, nil
	}
	out.Changes = pulumirpc.DiffResponse_DIFF_SOME
	if !proto.Equal(r.OldInputs.GetFields()["name"], r.News.GetFields()["name"]) {
		out.Replaces = []string{"name"}
		out.Diffs = []string{"name"}
	}
	return out, nil
}

func fill(in *structpb.Struct, address string) *structpb.Struct {
	out := &structpb.Struct{Fields: map[string]*structpb.Value{"address": structpb.NewStringValue(address)}}
	maps.Copy(out.Fields, in.GetFields())
	return out
}

func (f *fake) Create(_ context.Context, r *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	if r.Preview {
		return &pulumirpc.CreateResponse{Properties: fill(r.Properties, sig.UnknownStringValue)}, nil
	}
	f.call("create %s", r.Name)
	if f.onMake != nil {
		if err := f.onMake(r.Name); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	id := fmt.Sprintf("%s-%d", r.Name, f.n)
	f.things[id] = r.Properties
	return &pulumirpc.CreateResponse{Id: id, Properties: fill(r.Properties, "10.0.0.1")}, nil
}

func (f *fake) Update(_ context.Context, r *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	if !r.Preview {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.things[r.Id] = r.News
	}
	return &pulumirpc.UpdateResponse{Properties: fill(r.News, "10.0.0.1")}, nil
}

func (f *fake) Read(_ context.Context, r *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.things[r.Id] == nil {
		return &pulumirpc.ReadResponse{}, nil
	}
	return &pulumirpc.ReadResponse{Id: r.Id, Properties: r.Properties, Inputs: r.Inputs}, nil
}

func (f *fake) Delete(_ context.Context, r *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	f.call("delete %s", r.Name)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.things, r.Id)
	return &emptypb.Empty{}, nil
}

func (*fake) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

type thing struct {
	pulumi.CustomResourceState
	Address pulumi.StringOutput `pulumi:"address"`
}

type box struct{ pulumi.ResourceState }

type provider struct{ pulumi.ProviderResourceState }

// program is the tiny platform of the tests: an explicit provider, a component, and things
// that depend on one another through a value and through DependsOn.
type knobs struct {
	name    string // of the thing second; a change replaces it
	size    int    // of the thing second; a change updates it
	extra   bool   // one thing more
	protect bool
}

func tiny(k knobs) pulumi.RunFunc {
	if k.name == "" {
		k.name = "second"
	}
	return func(ctx *pulumi.Context) error {
		var p provider
		if err := ctx.RegisterResource("pulumi:providers:fake", "explicit", pulumi.Map{"region": pulumi.String("here")}, &p, pulumi.Version("1.0.0")); err != nil {
			return err
		}
		var b box
		if err := ctx.RegisterComponentResource("test:index:Box", "box", &b, pulumi.Provider(&p)); err != nil {
			return err
		}
		in, v := pulumi.Parent(&b), pulumi.Version("1.0.0")
		var first, second, third thing
		if err := ctx.RegisterResource("fake:index:Thing", "first", pulumi.Map{
			"name":     pulumi.String("first"),
			"password": pulumi.ToSecret(pulumi.String("hunter2")),
			"nested":   pulumi.Map{"list": pulumi.Array{pulumi.ToSecret(pulumi.String("hunter2")), pulumi.Bool(true)}},
		}, &first, in, v, pulumi.Protect(k.protect)); err != nil {
			return err
		}
		if err := ctx.RegisterResource("fake:index:Thing", "second", pulumi.Map{
			"name": pulumi.String(k.name),
			"size": pulumi.Int(k.size),
			"url":  pulumi.Sprintf("https://%s/", first.Address),
			"deep": pulumi.Map{"peers": pulumi.Array{first.Address}},
		}, &second, in, v, pulumi.Protect(k.protect)); err != nil {
			return err
		}
		if err := ctx.RegisterResource("fake:index:Thing", "third", pulumi.Map{"name": pulumi.String("third")}, &third, in, v,
			pulumi.DependsOn([]pulumi.Resource{&second})); err != nil {
			return err
		}
		if k.extra {
			var extra thing
			if err := ctx.RegisterResource("fake:index:Thing", "extra", pulumi.Map{"name": pulumi.String("extra")}, &extra, in, v); err != nil {
				return err
			}
		}
		ctx.Export("address", first.Address)
		ctx.Export("password", pulumi.ToSecret("hunter2"))
		return ctx.RegisterResourceOutputs(&b, pulumi.Map{"address": first.Address})
	}
}

const (
	projectYAML = `name: engine-test
runtime: go # a comment that stays
backend:
  url: azblob://state
plugins:
  providers:
    - name: fake
      path: ./does-not-exist
config:
  engine-test:mode: {type: string}
`
	stackYAML = `secretsprovider: azurekeyvault://vault.example/keys/key
encryptedkey: bm90IGEga2V5
config:
  engine-test:mode: dev
  engine-test:token:
    secure: AAABAHVzZXJzIHNlY3JldA==
  engine-test:object:
    list:
      - plain
      - secure: AAABAHVzZXJzIHNlY3JldA==
`
)

// project writes the user's files of a test and returns a Run for them.
func project(t testing.TB, f *fake, program pulumi.RunFunc) *Run {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(projectYAML), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.dev.yaml"), []byte(stackYAML), 0o644))
	home := filepath.Join(dir, "a home", ".onedoor") // the space is on purpose
	recorder, err := LinkRecorder(home)
	require.NoError(t, err)
	return &Run{
		CLI: cli(t), Dir: dir, StackFile: filepath.Join(dir, "Pulumi.dev.yaml"), Stack: "dev", Home: home,
		Program: program, Providers: []Provider{{Package: "fake", Server: f}}, Recorder: recorder,
	}
}
