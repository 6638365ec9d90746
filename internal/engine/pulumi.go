package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Pulumi runs another command of the CLI over the stack, such as `import` or `state`, with
// the providers attached, and returns what it printed. The program runs where the command
// asks for it.
func (r *Run) Pulumi(ctx context.Context, args ...string) (string, error) {
	if r.CLI.Path == "" || len(args) == 0 {
		return "", errors.New("engine: Run.CLI (from Find) and a command are required")
	}
	l, err := r.layout()
	if err != nil {
		return "", setup(err)
	}
	if !r.held {
		release, err := r.Hold(ctx, Operation(args[0]))
		if err != nil {
			return "", err
		}
		defer release()
	}
	if err := r.prepare(l); err != nil {
		return "", setup(err)
	}
	show := newDisplay(r.Progress, Operation(args[0]))
	if err := l.cancelStale(ctx, show.say); err != nil {
		return "", err
	}
	attach, stopProviders, err := serveProviders(r.Providers)
	if err != nil {
		return "", err
	}
	defer stopProviders()
	language, stopLanguage, err := serveLanguage(r.Program)
	if err != nil {
		return "", err
	}
	defer stopLanguage()
	stop := catchInterrupts(ctx, show.interrupted)
	defer stop.close()
	cmd := &command{cli: r.CLI, stop: stop}
	env := r.environment(l, OpUp, attach)
	env["PULUMI_DEBUG_LANGUAGES"] = language
	var list []string
	for _, key := range slices.Sorted(maps.Keys(env)) {
		list = append(list, key+"="+env[key])
	}
	if _, _, _, err = cmd.Run(context.WithoutCancel(ctx), l.work(), nil, nil, nil, list, args...); err != nil {
		return cmd.stdout, fmt.Errorf("pulumi %s: %w\n%s", strings.Join(args, " "), err, indent(cmd.stdout+"\n"+cmd.stderr))
	}
	return cmd.stdout, nil
}

// language stands for the project's language host, which the CLI asks to run the program,
// and what else it must install even where none runs. All of it is here.
type language struct {
	pulumirpc.UnimplementedLanguageRuntimeServer

	program pulumi.RunFunc
	engine  atomic.Pointer[string] // where the engine listens, once it has said so
}

// Handshake implements pulumirpc.LanguageRuntimeServer.
func (l *language) Handshake(_ context.Context, req *pulumirpc.LanguageHandshakeRequest) (*pulumirpc.LanguageHandshakeResponse, error) {
	l.engine.Store(&req.EngineAddress)
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

// Run implements pulumirpc.LanguageRuntimeServer.
func (l *language) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	address := l.engine.Load()
	if address == nil || l.program == nil {
		return nil, errors.New("the engine has not said where it listens, or there is no program")
	}
	running, err := pulumi.NewContext(ctx, pulumi.RunInfo{
		EngineAddr: *address, MonitorAddr: req.GetMonitorAddress(), Config: req.GetConfig(), ConfigSecretKeys: req.GetConfigSecretKeys(),
		Project: req.GetProject(), Stack: req.GetStack(), Organization: req.GetOrganization(), Parallel: req.GetParallel(), DryRun: req.GetDryRun(),
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = running.Close() }() // nothing of it is kept
	if err := pulumi.RunWithContext(running, (&program{run: l.program}).call); err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}

// GetPluginInfo implements pulumirpc.LanguageRuntimeServer.
func (*language) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{}, nil
}

// GetRequiredPackages implements pulumirpc.LanguageRuntimeServer.
func (*language) GetRequiredPackages(context.Context, *pulumirpc.GetRequiredPackagesRequest) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

// serveLanguage listens on a loopback port and returns the value for PULUMI_DEBUG_LANGUAGES.
func serveLanguage(program pulumi.RunFunc) (attach string, stop func(), err error) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("language host: cannot listen on the loopback interface: %w", err)
	}
	s := grpc.NewServer()
	pulumirpc.RegisterLanguageRuntimeServer(s, &language{program: program})
	go s.Serve(lis) //nolint:errcheck // ends with ErrServerStopped
	return fmt.Sprintf("go:%d", lis.Addr().(*net.TCPAddr).Port), s.Stop, nil
}
