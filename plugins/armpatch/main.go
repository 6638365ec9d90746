// Command armpatch is the resource plugin of the package armpatch: it changes a part of an
// Azure resource that something else made. The package provider says what it does; this is the
// process that the Pulumi CLI builds and starts when Pulumi.yaml names this directory. To
// install it as a plugin instead, build it under the name pulumi-resource-armpatch.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"onedoor/internal/pluginhost"
	"onedoor/plugins/armpatch/provider"
)

func main() {
	if err := serve(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "armpatch:", err)
		os.Exit(1)
	}
}

// serve answers the engine whose address is the one argument. Without an argument it waits for
// an engine that attaches by PULUMI_DEBUG_PROVIDERS.
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
	return pluginhost.Serve(flags.Arg(0), 5*time.Minute, func(s *grpc.Server) {
		pulumirpc.RegisterResourceProviderServer(s, provider.New(provider.Options{}).Server())
	}, out)
}
