package provider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	pulumicli "onedoor/internal/engine"
	"onedoor/plugins/armpatch/provider"
	armpatch "onedoor/plugins/armpatch/sdk"
)

const service = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg/providers/Microsoft.ApiManagement/service/apim"

type anyToken struct{}

func (anyToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "t", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// gateway is one API Management service whose writes are done at once.
type gateway struct {
	*httptest.Server
	mu       sync.Mutex
	body     map[string]any
	requests []string
}

func newGateway(t *testing.T, body string) *gateway {
	t.Helper()
	g := &gateway{}
	g.set(t, body)
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.requests = append(g.requests, req.Method)
		if !strings.EqualFold(req.URL.Path, service) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if req.Method == http.MethodPut {
			g.body = nil
			if err := json.NewDecoder(req.Body).Decode(&g.body); err != nil {
				t.Error(err)
			}
		}
		_ = json.NewEncoder(w).Encode(g.body)
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gateway) set(t *testing.T, body string) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.body = nil
	if err := json.Unmarshal([]byte(body), &g.body); err != nil {
		t.Fatal(err)
	}
}

func (g *gateway) said() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := strings.Join(g.requests, " ")
	g.requests = nil
	return s
}

func (g *gateway) properties() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	b, err := json.Marshal(g.body["properties"])
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// engine makes a stack of the real engine, which attaches to a provider in this process.
func engine(t *testing.T, endpoint string, program pulumi.RunFunc) auto.Stack {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pulumirpc.RegisterResourceProviderServer(server, provider.New(provider.Options{
		Endpoint: endpoint, Credential: anyToken{}, Sleep: func(context.Context, time.Duration) error { return nil },
	}).Server())
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return stack(t, program, nil, map[string]string{
		"PULUMI_DEBUG_PROVIDERS": fmt.Sprintf("%s:%d", provider.Name, listener.Addr().(*net.TCPAddr).Port),
	})
}

func stack(t *testing.T, program pulumi.RunFunc, plugins *workspace.Plugins, env map[string]string) auto.Stack {
	t.Helper()
	cli, err := pulumicli.Find(t.Context(), pulumicli.Options{Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, sub := range []string{"bin", "work", "state"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(cli.Path, filepath.Join(dir, "bin", "pulumi")); err != nil {
		t.Fatal(err)
	}
	command, err := auto.NewPulumiCommand(&auto.PulumiCommandOptions{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"PULUMI_CONFIG_PASSPHRASE": "x", "PULUMI_SKIP_UPDATE_CHECK": "true", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true"}
	maps.Copy(all, env)
	s, err := auto.UpsertStackInlineSource(t.Context(), "dev", "patchtest", program,
		auto.Pulumi(command), auto.WorkDir(filepath.Join(dir, "work")), auto.PulumiHome(filepath.Join(dir, "home")),
		auto.Project(workspace.Project{Name: tokens.PackageName("patchtest"), Runtime: workspace.NewProjectRuntimeInfo("go", nil), Plugins: plugins, Backend: &workspace.ProjectBackend{URL: "file://" + filepath.Join(dir, "state")}}),
		auto.EnvVars(all))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The real engine closes the public door of a gateway, sees it opened by hand, closes it again,
// and puts everything back when it is destroyed.
func TestEngineRunsAPatch(t *testing.T) {
	t.Parallel()
	const open = `{"location":"l","properties":{"legacy":"on","publicNetworkAccess":"Enabled","uid":"1"}}`
	const closed = `{"key":"s3cret-key","legacy":"on","publicNetworkAccess":"Disabled","uid":"1"}`
	g := newGateway(t, open)
	trigger := "1"
	s := engine(t, g.URL, func(ctx *pulumi.Context) error {
		patch, err := armpatch.NewPatch(ctx, "close", &armpatch.PatchArgs{
			ResourceID: pulumi.String(service),
			APIVersion: pulumi.String("2024-05-01"),
			Properties: pulumi.Map{"properties": pulumi.Map{
				"publicNetworkAccess": pulumi.String("Disabled"),
				"key":                 pulumi.ToSecret("s3cret-key"),
			}},
			Preconditions: pulumi.Map{"/location": pulumi.String("l")},
			Triggers:      pulumi.StringMap{"service": pulumi.String(trigger)},
			OnDelete:      pulumi.String(armpatch.Restore),
			UIDPointer:    pulumi.String("/properties/uid"),
		})
		if err != nil {
			return err
		}
		ctx.Export("previous", patch.Previous)
		ctx.Export("uid", patch.ResourceUID)
		ctx.Export("held", patch.AlreadyHeld)
		return nil
	})
	ctx := t.Context()
	preview := func(what string, want map[apitype.OpType]int) {
		t.Helper()
		g.said()
		p, err := s.Preview(ctx)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if fmt.Sprint(p.ChangeSummary) != fmt.Sprint(want) {
			t.Errorf("%s: preview wants %v, want %v\n%s", what, p.ChangeSummary, want, p.StdOut)
		}
		if said := g.said(); said != "" {
			t.Errorf("%s: the preview asked %s", what, said)
		}
	}
	up := func(what, requests, properties string) auto.UpResult {
		t.Helper()
		g.said()
		r, err := s.Up(ctx)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if said := g.said(); said != requests {
			t.Errorf("%s: up asked %q, want %q", what, said, requests)
		}
		if got := g.properties(); got != properties {
			t.Errorf("%s: the gateway is %s, want %s", what, got, properties)
		}
		return r
	}
	preview("at first", map[apitype.OpType]int{apitype.OpCreate: 2})
	made := up("at first", "GET PUT GET", closed)
	if previous := made.Outputs["previous"]; !previous.Secret || fmt.Sprint(previous.Value) != "map[/properties/publicNetworkAccess:Enabled]" {
		t.Errorf("previous: %+v", previous)
	}
	if made.Outputs["uid"].Value != "1" || made.Outputs["held"].Value != false {
		t.Errorf("outputs: %+v", made.Outputs)
	}
	states, err := filepath.Glob(filepath.Join(filepath.Dir(s.Workspace().WorkDir()), "state", ".pulumi", "stacks", "*", "dev.json"))
	if err != nil || len(states) != 1 {
		t.Fatalf("state files: %v, %v", states, err)
	}
	if state, err := os.ReadFile(states[0]); err != nil || !strings.Contains(string(state), service) || strings.Contains(string(state), "s3cret-key") {
		t.Errorf("the state shows the key: %v", err)
	}
	preview("nothing to do", map[apitype.OpType]int{apitype.OpSame: 2})

	refresh := func(what string, want int) {
		t.Helper()
		r, err := s.Refresh(ctx)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := (*r.Summary.ResourceChanges)["update"]; got != want {
			t.Errorf("%s: refresh finds %d changes, want %d\n%s", what, got, want, r.StdOut)
		}
	}
	refresh("nothing happened", 0)
	preview("nothing happened", map[apitype.OpType]int{apitype.OpSame: 2})

	g.set(t, `{"location":"l","properties":{"key":"s3cret-key","legacy":"on","publicNetworkAccess":"Enabled","uid":"1"}}`)
	refresh("opened by hand", 1)
	preview("opened by hand", map[apitype.OpType]int{apitype.OpSame: 1, apitype.OpUpdate: 1})
	up("opened by hand", "GET PUT GET", closed)

	trigger = "2"
	preview("trigger", map[apitype.OpType]int{apitype.OpSame: 1, apitype.OpUpdate: 1})
	up("trigger", "GET", closed)

	g.set(t, `{"location":"l","properties":{"key":"s3cret-key","publicNetworkAccess":"Disabled","uid":"2"}}`)
	refresh("recreated", 1)
	preview("recreated", map[apitype.OpType]int{apitype.OpSame: 1, apitype.OpUpdate: 1})
	up("recreated", "GET", `{"key":"s3cret-key","publicNetworkAccess":"Disabled","uid":"2"}`)
	preview("recreated and seen", map[apitype.OpType]int{apitype.OpSame: 2})

	g.set(t, open)
	refresh("made anew", 1)
	up("made anew", "GET PUT GET", closed)
	if _, err := s.Destroy(ctx); err != nil {
		t.Fatal(err)
	}
	if got := g.properties(); got != `{"legacy":"on","publicNetworkAccess":"Enabled","uid":"1"}` {
		t.Errorf("after destroy: %s", got)
	}
}

// All that is wrong with a Patch is said in the preview, at once.
func TestEngineShowsAllProblems(t *testing.T) {
	t.Parallel()
	s := engine(t, "http://127.0.0.1:1", func(ctx *pulumi.Context) error {
		_, err := armpatch.NewPatch(ctx, "wrong", &armpatch.PatchArgs{
			ResourceID: pulumi.String("/subscriptions/x"), APIVersion: pulumi.String("new"),
			Properties: pulumi.Map{"name": pulumi.String("x")}, OnDelete: pulumi.String("undo"),
		})
		return err
	})
	_, err := s.Preview(t.Context())
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{`resourceId: got "/subscriptions/x"`, `apiVersion: got "new"`, `properties/name: got "x"`, `onDelete: got "undo"`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the preview does not say %s:\n%v", part, err)
		}
	}
}

// The plugin as a process: the engine finds it through `plugins` in the project file and starts
// it, and a preview needs neither a login nor Azure.
func TestEngineStartsThePlugin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// What the Go language host does with a directory that has a PulumiPlugin.yaml, done before.
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "pulumi-resource-armpatch"), "..").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := stack(t, func(ctx *pulumi.Context) error {
		p, err := armpatch.NewProvider(ctx, "cloud", &armpatch.ProviderArgs{Environment: pulumi.StringPtr("usgovernment")})
		if err != nil {
			return err
		}
		_, err = armpatch.NewPatch(ctx, "close", &armpatch.PatchArgs{
			ResourceID: pulumi.String(service), APIVersion: pulumi.String("2024-05-01"),
			Properties: pulumi.Map{"properties": pulumi.Map{"publicNetworkAccess": pulumi.String("Disabled")}},
		}, pulumi.Provider(p))
		return err
	}, &workspace.Plugins{Providers: []workspace.PluginOptions{{Name: provider.Name, Path: dir}}}, nil)
	p, err := s.Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.ChangeSummary[apitype.OpCreate] != 3 {
		t.Errorf("preview: %v\n%s", p.ChangeSummary, p.StdOut)
	}
}
