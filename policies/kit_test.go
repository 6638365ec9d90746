// Package policies_test runs the policy packs as the engine does: as processes
// that answer over gRPC, over recorded stacks, and under the real engine.
package policies_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/internal/engine"
	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
	batchdoor "onedoor/policies/batchdoor/rules"
	platform "onedoor/policies/platform/rules"
)

var update = flag.Bool("update", false, "rewrite generated files")

// packs are all of them, by name.
var packs = map[string]func() policypack.Pack{"batchdoor": batchdoor.New, "platform": platform.New}

// TestMain makes the test binary play the packs.
func TestMain(m *testing.M) {
	if engine.IsRecorder(os.Args[0]) {
		engine.RecorderMain()
	}
	policypack.Main(batchdoor.New, platform.New)
	os.Exit(m.Run())
}

// start runs a pack as a process and connects to it. Results go to dir.
func start(t testing.TB, pack policypack.Pack, dir string) pulumirpc.AnalyzerClient {
	t.Helper()
	client, _ := startProcess(t, pack, dir)
	return client
}

func startProcess(t testing.TB, pack policypack.Pack, dir string) (client pulumirpc.AnalyzerClient, pid int) {
	t.Helper()
	path, err := engine.Link(t.TempDir(), pack.Executable())
	require.NoError(t, err)
	process := exec.Command(path)
	process.Env = append(os.Environ(), results.EnvDir+"="+dir)
	process.Stderr = os.Stderr
	stdout, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() { _ = process.Process.Kill(); _ = process.Wait() })
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan(), "a pack writes its port first")
	port, err := strconv.Atoi(lines.Text())
	require.NoError(t, err)
	conn, err := grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", port), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(400<<20), grpc.MaxCallSendMsgSize(400<<20)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return pulumirpc.NewAnalyzerClient(conn), process.Process.Pid
}

// recorded is a resource of a recorded preview.
type recorded struct {
	URN                  string              `json:"urn"`
	Type                 string              `json:"type"`
	Name                 string              `json:"name"`
	Parent               string              `json:"parent"`
	Dependencies         []string            `json:"dependencies"`
	PropertyDependencies map[string][]string `json:"propertyDependencies"`
	Inputs               map[string]any      `json:"inputs"`
}

func load(t testing.TB, file string) []recorded {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var doc struct {
		Resources []recorded `json:"resources"`
	}
	require.NoError(t, json.Unmarshal(raw, &doc))
	require.NotEmpty(t, doc.Resources)
	return doc.Resources
}

// inputs are the recorded inputs as the engine sends them.
func (r recorded) inputs(t testing.TB) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(wire(r.Inputs).(map[string]any))
	require.NoError(t, err)
	return s
}

// wire puts the engine's marks back where a recording has words for them.
func wire(v any) any {
	switch v := v.(type) {
	case string:
		switch v {
		case engine.Unknown:
			return sig.UnknownStringValue
		case engine.Secret:
			return map[string]any{sig.Key: sig.Secret, "value": "hidden"}
		}
		return strings.ReplaceAll(v, engine.Unknown, sig.UnknownStringValue)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = wire(e)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = wire(e)
		}
		return out
	default:
		return v
	}
}

// requests are what the engine sends for a stack in a first preview: inputs
// resource by resource, then the whole stack without outputs.
func requests(t testing.TB, stack []recorded) ([]*pulumirpc.AnalyzeRequest, *pulumirpc.AnalyzeStackRequest) {
	t.Helper()
	var single []*pulumirpc.AnalyzeRequest
	whole := &pulumirpc.AnalyzeStackRequest{}
	for _, r := range stack {
		single = append(single, &pulumirpc.AnalyzeRequest{Urn: r.URN, Type: r.Type, Name: r.Name, Properties: r.inputs(t), Options: &pulumirpc.AnalyzerResourceOptions{Parent: r.Parent}})
		deps := map[string]*pulumirpc.AnalyzerPropertyDependencies{}
		for key, urns := range r.PropertyDependencies {
			deps[key] = &pulumirpc.AnalyzerPropertyDependencies{Urns: urns}
		}
		whole.Resources = append(whole.Resources, &pulumirpc.AnalyzerResource{
			Urn: r.URN, Type: r.Type, Name: r.Name, Parent: r.Parent, Dependencies: r.Dependencies, PropertyDependencies: deps,
		})
	}
	return single, whole
}

// preview gives a pack a stack as the engine does.
func preview(t testing.TB, client pulumirpc.AnalyzerClient, stack []recorded, config map[string]*pulumirpc.PolicyConfig) []*pulumirpc.AnalyzeDiagnostic {
	t.Helper()
	single, whole := requests(t, stack)
	return send(t, client, single, whole, config)
}

func send(t testing.TB, client pulumirpc.AnalyzerClient, single []*pulumirpc.AnalyzeRequest, whole *pulumirpc.AnalyzeStackRequest, config map[string]*pulumirpc.PolicyConfig) []*pulumirpc.AnalyzeDiagnostic {
	t.Helper()
	ctx := context.Background()
	_, err := client.Handshake(ctx, &pulumirpc.AnalyzerHandshakeRequest{})
	require.NoError(t, err)
	info, err := client.GetAnalyzerInfo(ctx, &emptypb.Empty{})
	require.NoError(t, err)
	require.NotEmpty(t, info.GetPolicies())
	_, err = client.Configure(ctx, &pulumirpc.ConfigureAnalyzerRequest{PolicyConfig: config})
	require.NoError(t, err)
	var out []*pulumirpc.AnalyzeDiagnostic
	for _, request := range single {
		answer, err := client.Analyze(ctx, request)
		require.NoError(t, err)
		out = append(out, answer.GetDiagnostics()...)
	}
	answer, err := client.AnalyzeStack(ctx, whole)
	require.NoError(t, err)
	return append(out, answer.GetDiagnostics()...)
}

// settings configures one rule, at a level.
func settings(t testing.TB, level pulumirpc.EnforcementLevel, properties map[string]any) *pulumirpc.PolicyConfig {
	t.Helper()
	s, err := structpb.NewStruct(properties)
	require.NoError(t, err)
	return &pulumirpc.PolicyConfig{EnforcementLevel: level, Properties: s}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run: go test ./policies -update")
	require.Equal(t, string(want), string(got), "run: go test ./policies -update")
}
