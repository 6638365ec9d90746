// Command controlplane is the one door of asynchronous work: it takes batch jobs
// and items of queues, is the only one to submit the former to Azure and to send the
// latter, and brings results back. docs/contracts/control-plane.md is its contract.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes, of docs/contracts/control-plane.md.
const (
	exitDone   = 0
	exitWrong  = 1 // what it was told is wrong
	exitFailed = 2 // a new start may mend it; of a panic, too
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	code := run(ctx, os.Args[1:], slog.New(slog.NewJSONHandler(os.Stdout, nil)))
	stop()
	os.Exit(code)
}

// run does what the arguments say.
func run(ctx context.Context, args []string, log *slog.Logger) int {
	switch {
	case len(args) == 1 && args[0] == "serve":
		return serve(ctx, log)
	case len(args) == 2 && args[0] == "nightly":
		return nightly(ctx, args[1], log)
	default:
		log.Error("what the program was told is wrong: want serve, or nightly and the name of a job", "arguments", args)
		return exitWrong
	}
}
