package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// What the test binary is when it runs under another name or with these variables.
const (
	refusingPack = "refusing-pack"
	refuseEnv    = "ENGINE_TEST_REFUSE" // the name of the resource that the pack refuses

	helperEnv = "ENGINE_TEST_HELPER" // find, up, cycle
	dirEnv    = "ENGINE_TEST_DIR"    // of the helper's project
	blockEnv  = "ENGINE_TEST_BLOCK"  // how long the create of first takes

	fakeGoLog      = "ENGINE_TEST_GO_LOG"      // the fake go adds a line per build
	fakeGoFails    = "ENGINE_TEST_GO_FAILS"    // what it writes before it fails
	fakeGoHangs    = "ENGINE_TEST_GO_HANGS"    // it never ends by itself
	fakePulumiSays = "ENGINE_TEST_PULUMI_SAYS" // the version that the fake pulumi reports
)

// refuser is a policy pack with a mandatory resource policy and an advisory stack policy.
type refuser struct{ recorder }

func (*refuser) GetAnalyzerInfo(context.Context, *emptypb.Empty) (*pulumirpc.AnalyzerInfo, error) {
	return &pulumirpc.AnalyzerInfo{Name: refusingPack, Version: "2.0.0", Policies: []*pulumirpc.PolicyInfo{
		{Name: "NO-01", EnforcementLevel: pulumirpc.EnforcementLevel_MANDATORY, PolicyType: pulumirpc.PolicyType_POLICY_TYPE_RESOURCE},
		{Name: "HM-01", EnforcementLevel: pulumirpc.EnforcementLevel_ADVISORY, PolicyType: pulumirpc.PolicyType_POLICY_TYPE_STACK},
	}}, nil
}

func (*refuser) Analyze(_ context.Context, r *pulumirpc.AnalyzeRequest) (*pulumirpc.AnalyzeResponse, error) {
	out := &pulumirpc.AnalyzeResponse{}
	if r.Name == os.Getenv(refuseEnv) {
		out.Diagnostics = []*pulumirpc.AnalyzeDiagnostic{{
			PolicyName: "NO-01", PolicyPackName: refusingPack, PolicyPackVersion: "2.0.0", Urn: r.Urn,
			Message: r.Name + " is refused", EnforcementLevel: pulumirpc.EnforcementLevel_MANDATORY,
		}}
	}
	return out, nil
}

func (*refuser) AnalyzeStack(_ context.Context, r *pulumirpc.AnalyzeStackRequest) (*pulumirpc.AnalyzeResponse, error) {
	return &pulumirpc.AnalyzeResponse{Diagnostics: []*pulumirpc.AnalyzeDiagnostic{{
		PolicyName: "HM-01", PolicyPackName: refusingPack, PolicyPackVersion: "2.0.0",
		Message: fmt.Sprintf("%d resources", len(r.Resources)), EnforcementLevel: pulumirpc.EnforcementLevel_ADVISORY,
	}}}, nil
}

func refusingPackMain() {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	fatal(err)
	s := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage))
	pulumirpc.RegisterAnalyzerServer(s, &refuser{})
	fmt.Println(lis.Addr().(*net.TCPAddr).Port)
	fatal(s.Serve(lis))
}

// fakeGoMain stands in for `go build`: what it "builds" is the fake pulumi.
func fakeGoMain() {
	log, err := os.OpenFile(os.Getenv(fakeGoLog), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	fatal(err)
	fmt.Fprintln(log, strings.Join(os.Args[1:], " "))
	fatal(log.Close())
	if os.Getenv(fakeGoHangs) != "" {
		time.Sleep(time.Minute)
	}
	if text := os.Getenv(fakeGoFails); text != "" {
		fmt.Fprintln(os.Stderr, text)
		os.Exit(1)
	}
	time.Sleep(time.Second) // long enough for a second process to come and wait
	out := os.Args[slices.Index(os.Args, "-o")+1]
	exe, err := os.Executable()
	fatal(err)
	fatal(os.Symlink(exe, out))
	os.Exit(0)
}

func fakePulumiMain() {
	fmt.Println(os.Getenv(fakePulumiSays))
	os.Exit(0)
}

// helperMain is a process that tests can signal and kill.
func helperMain() {
	// As the command line does it: the context ends with the first signal.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cli, err := Find(ctx, Options{Progress: os.Stderr})
	fatal(err)
	if os.Getenv(helperEnv) == "find" {
		fmt.Println(cli.Path)
		os.Exit(0)
	}
	f := newFake()
	f.onMake = func(name string) error {
		fmt.Println("creating", name)
		if d, err := time.ParseDuration(os.Getenv(blockEnv)); err == nil && name == "first" {
			time.Sleep(d)
		}
		return nil
	}
	dir := os.Getenv(dirEnv)
	r := &Run{
		CLI: cli, Dir: dir, StackFile: filepath.Join(dir, "Pulumi.dev.yaml"), Stack: "dev", Home: filepath.Join(dir, ".onedoor"),
		Program: tiny(knobs{}), Providers: []Provider{{Package: "fake", Server: f}}, Progress: os.Stderr,
	}
	switch os.Getenv(helperEnv) {
	case "up":
		_, err = r.Up(ctx)
	case "cycle":
		r.Recorder, err = LinkRecorder(r.Home)
		fatal(err)
		for _, op := range []func(context.Context) (*Result, error){r.Preview, r.Up, r.Refresh, r.Preview} {
			_, err := op(ctx)
			fatal(err)
		}
		_, err = r.Destroy(ctx, DestroyOptions{})
	}
	kind := Kind("ok")
	if failure, ok := errors.AsType[*Failure](err); ok {
		kind = failure.Kind
	} else {
		fatal(err)
	}
	fmt.Println("ended", kind)
	os.Exit(0)
}

// helper is a running helperMain.
type helper struct {
	*exec.Cmd
	out    *bufio.Scanner
	stderr *bytes.Buffer
}

func startHelper(t *testing.T, env ...string) *helper {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	h := &helper{Cmd: exec.Command(exe), stderr: &bytes.Buffer{}}
	h.Env = append(os.Environ(), env...)
	h.Stderr = io.MultiWriter(h.stderr)
	ownGroup(h.Cmd)
	pipe, err := h.StdoutPipe()
	require.NoError(t, err)
	h.out = bufio.NewScanner(pipe)
	require.NoError(t, h.Start())
	t.Cleanup(func() { _ = h.Process.Kill(); _ = h.Cmd.Wait() })
	return h
}

// until reads lines up to the one that begins with prefix and returns it.
func (h *helper) until(t *testing.T, prefix string) string {
	t.Helper()
	for h.out.Scan() {
		if line := h.out.Text(); strings.HasPrefix(line, prefix) {
			return line
		}
	}
	_ = h.Cmd.Wait()
	require.Failf(t, "helper ended early", "wanted a line that begins with %q; it wrote:\n%s", prefix, h.stderr)
	return ""
}

// engineLock returns the lock of the engine that works on r's stack.
func engineLock(t *testing.T, r *Run) Holder {
	t.Helper()
	l, err := r.layout()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(l.engineLocks(), "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1, "locks in the file backend")
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	var h Holder
	require.NoError(t, json.Unmarshal(data, &h))
	require.NotZero(t, h.PID)
	return h
}
