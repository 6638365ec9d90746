// Command armpatch is the resource plugin of the package armpatch: it changes a part of an
// Azure resource that something else made. The package provider says what it does; this is the
// process that the Pulumi CLI builds and starts when Pulumi.yaml names this directory. To
// install it as a plugin instead, build it under the name pulumi-resource-armpatch.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"onedoor/plugins/armpatch/provider"
)

func main() {
	if err := serve(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "armpatch:", err)
		os.Exit(1)
	}
}

// serve is the contract of a plugin: one argument, the engine's address; the first line of
// output is the port it listens on; it ends on an interrupt or when the engine has gone. Without
// an argument it waits for an engine that attaches by PULUMI_DEBUG_PROVIDERS.
func serve(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("armpatch", flag.ContinueOnError)
	// Engines pass their own logging and tracing flags, so a plugin has to know them.
	flags.String("tracing", "", "ignored")
	flags.Bool("logtostderr", false, "ignored")
	flags.Bool("logflow", false, "ignored")
	flags.Int("v", 0, "ignored")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if engine := flags.Arg(0); engine != "" {
		if err := rpcutil.Healthcheck(ctx, engine, 5*time.Minute, cancel); err != nil {
			return fmt.Errorf("engine at %s: %w", engine, err)
		}
	}
	ended := make(chan bool)
	go func() {
		<-ctx.Done()
		close(ended)
	}()
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: ended,
		Init: func(s *grpc.Server) error {
			pulumirpc.RegisterResourceProviderServer(s, provider.New(provider.Options{}).Server())
			return nil
		},
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d\n", handle.Port)
	return <-handle.Done
}
