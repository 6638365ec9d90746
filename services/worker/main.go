// Command worker empties a queue: it takes claim checks from Service Bus, reads their
// payloads, calls a model through the gateway for the tenant that each message proves,
// and writes results. docs/contracts/worker.md is its contract.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"onedoor/services/worker/payload"
	"onedoor/services/worker/settings"
)

// Exit codes, of docs/contracts/worker.md.
const (
	exitDone   = 0
	exitWrong  = 1 // what it was told is wrong
	exitFailed = 2 // a new start may mend it; of a panic, too
)

func main() {
	if code, yes := payload.Extracting(os.Args); yes {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	code := run(ctx, slog.New(slog.NewJSONHandler(os.Stdout, nil)))
	stop()
	os.Exit(code)
}

// run runs the worker until the context ends.
func run(ctx context.Context, log *slog.Logger) int {
	told, err := settings.Read(os.LookupEnv)
	if err != nil {
		log.Error("what the worker was told is wrong", "error", err)
		return exitWrong
	}
	bound(told)
	credential, err := azidentity.NewWorkloadIdentityCredential(nil)
	if err != nil {
		log.Error("no workload identity; see docs/contracts/worker.md", "error", err)
		return exitWrong
	}
	return serve(ctx, told, azure{credential: credential}, log)
}

// bound keeps garbage from growing past the memory that is planned for the worker,
// which the kernel would end it for.
func bound(told settings.Settings) { debug.SetMemoryLimit(told.Memory / 10 * 9) }
