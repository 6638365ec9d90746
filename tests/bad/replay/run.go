package replay

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/stretchr/testify/require"

	"onedoor/internal/armtypes"
	"onedoor/internal/engine"
	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
	armpatch "onedoor/plugins/armpatch/provider"
	"onedoor/sim"
)

// Project is where a replay takes its surroundings from.
type Project struct {
	Dir       string            // holds Pulumi.yaml and Pulumi.<stack>.yaml
	Packs     []policypack.Pack // that judge, each configured by policies/stacks/<stack>/<pack>.json in Dir
	Recording bool              // record also dependencies, as previews of the project do
	// Results is a directory for what the packs write of every judgement; "" for none.
	// To name themselves there they read their executable, which takes a while.
	Results string
}

// findCLI asks the engine what it is only once: that starts it.
var findCLI = sync.OnceValues(func() (engine.CLI, error) { return engine.Find(context.Background(), engine.Options{}) })

// Preview plans the mutated stack from nothing, over a cloud that knows types and
// nothing else. That a pack refuses it is no error.
func (p Project) Preview(t testing.TB, s Stack, m Mutation) *engine.Result {
	t.Helper()
	s, err := s.Mutate(m)
	require.NoError(t, err)
	cli, err := findCLI()
	require.NoError(t, err)
	home := t.TempDir()
	cloud, err := sim.Open(filepath.Join(home, "cloud.json"), sim.WithTypesOnly())
	require.NoError(t, err)
	arm := httptest.NewServer(cloud.ARM())
	defer func() {
		arm.Close()
		require.NoError(t, cloud.Close())
	}()
	run := &engine.Run{
		CLI: cli, Dir: p.Dir, StackFile: filepath.Join(p.Dir, "Pulumi."+s.Name+".yaml"), Stack: s.Name, Home: home, Program: s.Program(),
		Providers: providers(t, cloud, arm.URL),
		// Each process lives for seconds: collecting garbage rarely saves a quarter of the work.
		Env: map[string]string{results.EnvDir: p.Results, "GOGC": "800"},
	}
	for _, pack := range p.Packs {
		link, err := engine.Link(home, pack.Executable())
		require.NoError(t, err)
		run.Packs, run.PackConfigs = append(run.Packs, link), append(run.PackConfigs, p.config(t, home, s.Name, pack, m))
	}
	if p.Recording {
		run.Recorder, err = engine.LinkRecorder(home)
		require.NoError(t, err)
	}
	result, err := run.Preview(t.Context())
	var failure *engine.Failure
	if !errors.As(err, &failure) || failure.Kind != engine.KindPolicy {
		require.NoError(t, err)
	}
	return result
}

// providers are those of the cloud, and the one of patches, which talks to the
// cloud's own endpoint.
func providers(t testing.TB, cloud *sim.Cloud, endpoint string) []engine.Provider {
	t.Helper()
	types, err := armtypes.Load()
	require.NoError(t, err)
	patches := armpatch.New(armpatch.Options{Endpoint: endpoint, Credential: &fake.TokenCredential{}, Sleep: cloud.Sleep})
	out := []engine.Provider{{Package: armpatch.Name, Server: patches.Server()}}
	for pkg, server := range cloud.Providers() {
		if pkg == "azure-native" {
			server = open{server, types}
		}
		out = append(out, engine.Provider{Package: pkg, Server: server})
	}
	return out
}

// config writes the stack's configuration of a pack, as the mutation has it.
func (p Project) config(t testing.TB, home, stack string, pack policypack.Pack, m Mutation) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.Dir, "policies", "stacks", stack, pack.Name+".json"))
	require.NoError(t, err)
	var config struct {
		Version  int            `json:"version"`
		Policies map[string]any `json:"policies"`
	}
	require.NoError(t, json.Unmarshal(raw, &config))
	for _, rule := range pack.Rules {
		if changed, has := m.Configure[rule.ID]; has {
			config.Policies[rule.ID] = changed
		}
	}
	raw, err = json.Marshal(config)
	require.NoError(t, err)
	file := filepath.Join(home, pack.Name+".json")
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	return file
}
