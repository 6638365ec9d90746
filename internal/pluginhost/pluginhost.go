// Package pluginhost keeps the contract between Pulumi's engine and a plugin that is a
// program of its own: the first line of output is the port it listens on, and it ends on
// an interrupt or when the engine has gone. How a plugin reads its arguments is its own
// affair.
package pluginhost

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"google.golang.org/grpc"
)

// Serve answers calls until it is interrupted or the engine has gone. engine is its
// address, asked every so often whether it is there; without one the plugin waits for
// whoever attaches to it.
func Serve(engine string, often time.Duration, register func(*grpc.Server), stdout io.Writer) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if engine != "" {
		if err := rpcutil.Healthcheck(ctx, engine, often, cancel); err != nil {
			return fmt.Errorf("engine at %s: %w", engine, err)
		}
	}
	ended := make(chan bool)
	go func() {
		<-ctx.Done()
		close(ended)
	}()
	// Raises gRPC's limit of 4 MB for a message: a stack is one message.
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: ended,
		Init:   func(s *grpc.Server) error { register(s); return nil },
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "%d\n", handle.Port); err != nil {
		return fmt.Errorf("telling the engine the port: %w", err)
	}
	return <-handle.Done
}
