package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"

	"onedoor/internal/policypack"
)

const (
	// RecorderName is the name under which a binary of this program is the recorder pack.
	RecorderName = "onedoor-recorder"
	// EnvRecord names the directory into which the recorder writes.
	EnvRecord = "ONEDOOR_RECORD"

	recordFile = "stack.json"
)

// recorded is one resource as the recorder writes it: what engine events do not carry.
type recorded struct {
	URN                  string              `json:"urn"`
	Parent               string              `json:"parent"`
	Provider             string              `json:"provider"`
	Dependencies         []string            `json:"dependencies"`
	PropertyDependencies map[string][]string `json:"propertyDependencies"`
}

// IsRecorder reports whether argv0, usually os.Args[0], asks this process to be the recorder.
// A main function asks it first, before it parses flags or traps signals.
func IsRecorder(argv0 string) bool {
	return strings.TrimSuffix(filepath.Base(argv0), ".exe") == RecorderName
}

// RecorderMain serves the recorder pack until its engine is gone, and ends the process.
func RecorderMain() {
	err := fmt.Errorf("%s is not set; the recorder is started by the engine, not by hand", EnvRecord)
	if dir := os.Getenv(EnvRecord); dir != "" {
		err = policypack.Serve(&recorder{dir: dir}, os.Args[1:], os.Stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", RecorderName, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// recorder is a policy pack without policies.
type recorder struct {
	pulumirpc.UnimplementedAnalyzerServer
	dir string
}

func (*recorder) Handshake(context.Context, *pulumirpc.AnalyzerHandshakeRequest) (*pulumirpc.AnalyzerHandshakeResponse, error) {
	return &pulumirpc.AnalyzerHandshakeResponse{}, nil
}

func (*recorder) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

func (*recorder) GetAnalyzerInfo(context.Context, *emptypb.Empty) (*pulumirpc.AnalyzerInfo, error) {
	return &pulumirpc.AnalyzerInfo{Name: RecorderName, DisplayName: RecorderName, Version: "1.0.0"}, nil
}

func (*recorder) ConfigureStack(context.Context, *pulumirpc.AnalyzerStackConfigureRequest) (*pulumirpc.AnalyzerStackConfigureResponse, error) {
	return &pulumirpc.AnalyzerStackConfigureResponse{}, nil
}

func (*recorder) Configure(context.Context, *pulumirpc.ConfigureAnalyzerRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (*recorder) Analyze(context.Context, *pulumirpc.AnalyzeRequest) (*pulumirpc.AnalyzeResponse, error) {
	return &pulumirpc.AnalyzeResponse{}, nil
}

func (*recorder) Remediate(context.Context, *pulumirpc.AnalyzeRequest) (*pulumirpc.RemediateResponse, error) {
	return &pulumirpc.RemediateResponse{}, nil
}

func (*recorder) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// AnalyzeStack is called once, when every resource of the program has been seen.
func (r *recorder) AnalyzeStack(_ context.Context, req *pulumirpc.AnalyzeStackRequest) (*pulumirpc.AnalyzeResponse, error) {
	out := make([]recorded, 0, len(req.GetResources()))
	for _, res := range req.GetResources() {
		deps := map[string][]string{}
		for key, urns := range res.GetPropertyDependencies() {
			deps[key] = urns.GetUrns()
		}
		out = append(out, recorded{
			URN: res.GetUrn(), Parent: res.GetParent(), Provider: res.GetProvider().GetUrn(),
			Dependencies: res.GetDependencies(), PropertyDependencies: deps,
		})
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.AnalyzeResponse{}, writeFile(filepath.Join(r.dir, recordFile), data)
}

// readRecord returns what the recorder wrote, by URN; ok is false if it was never asked.
func readRecord(dir string) (byURN map[string]recorded, ok bool, err error) {
	data, err := os.ReadFile(filepath.Join(dir, recordFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	var list []recorded
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, false, err
	}
	byURN = make(map[string]recorded, len(list))
	for _, r := range list {
		byURN[r.URN] = r
	}
	return byURN, true, nil
}

// LinkRecorder makes this executable available as the recorder pack below home and returns
// the path for Run.Recorder.
func LinkRecorder(home string) (string, error) { return Link(home, RecorderName) }

// Link makes this executable available under another name in home/bin, so that it can tell
// from its argv[0] what it is to be, and returns the path. It links symbolically, else hard,
// else it copies; a process that runs the old link is not disturbed.
func Link(home, name string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("linking %s: %w", name, err)
	}
	return LinkTo(exe, home, name)
}

// LinkTo is Link for another executable.
func LinkTo(exe, home, name string) (string, error) {
	exe, err := filepath.EvalSymlinks(exe)
	if err != nil {
		return "", fmt.Errorf("linking %s: %w", name, err)
	}
	bin, err := filepath.Abs(filepath.Join(home, "bin"))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", fmt.Errorf("linking %s: %w", name, err)
	}
	path := filepath.Join(bin, name+filepath.Ext(exe))
	if filepath.Ext(exe) != ".exe" {
		path = filepath.Join(bin, name)
	}
	if target, err := os.Readlink(path); err == nil && target == exe {
		return path, nil
	}
	tmp, err := os.MkdirTemp(bin, ".link-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	fresh := filepath.Join(tmp, name)
	var failed []error
	for _, link := range []func(string, string) error{os.Symlink, os.Link, copyFile} {
		err := link(exe, fresh)
		if err == nil {
			if err := os.Rename(fresh, path); err != nil {
				return "", fmt.Errorf("linking %s: %w", name, err)
			}
			return path, nil
		}
		failed = append(failed, err)
	}
	return "", fmt.Errorf("linking %s to %s: %w", path, exe, errors.Join(failed...))
}

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// addDependencies fills in what the recorder knows.
func (r *Result) addDependencies(record map[string]recorded) {
	for i := range r.Resources {
		res := &r.Resources[i]
		rec, ok := record[res.URN]
		if !ok {
			continue
		}
		res.Dependencies = rec.Dependencies
		res.PropertyDependencies = maps.Clone(rec.PropertyDependencies)
	}
}
