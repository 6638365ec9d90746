// Command onedoor previews and exercises the project against a simulated
// Azure: no account, no login, no network and no installed Pulumi.
package main

import (
	"context"
	"io"
	"os"

	"onedoor/cmd/embedded"
)

func main() {
	embedded.Dispatch() // the engine starts this binary as a policy pack
	dir, err := os.Getwd()
	if err != nil {
		os.Exit(report(os.Stderr, err))
	}
	os.Exit(run(context.Background(), dir, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command line without its process, as if called in dir. It returns
// the exit code.
func run(ctx context.Context, dir string, args []string, stdout, stderr io.Writer) int {
	root := newRoot(dir, stdout, stderr)
	root.SetArgs(args)
	return report(stderr, root.ExecuteContext(ctx))
}
