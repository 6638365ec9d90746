// Command onedoor previews and exercises the project against a simulated
// Azure: no account, no login, no network and no installed Pulumi.
package main

import (
	"context"
	"io"
	"os"

	"onedoor/internal/engine"
)

func main() {
	if engine.IsRecorder(os.Args[0]) { // the engine starts this binary as a policy pack
		engine.RecorderMain()
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command line without its process. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot(stdout, stderr)
	root.SetArgs(args)
	return report(stderr, root.ExecuteContext(ctx))
}
