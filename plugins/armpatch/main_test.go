package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"

	"onedoor/plugins/armpatch/provider"
)

// The contract of a plugin: the first line is a port, on which the provider answers.
func TestServe(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serve([]string{"--logtostderr", "-v=9", "--tracing", "x"}, w) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("127.0.0.1:"+strings.TrimSpace(line), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	info, err := pulumirpc.NewResourceProviderClient(conn).GetPluginInfo(ctx, &emptypb.Empty{})
	if err != nil || info.GetVersion() != provider.Version {
		t.Errorf("plugin info: %v, %v", info, err)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if err := self.Signal(os.Interrupt); err != nil {
		t.Skipf("no interrupts here: %v", err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("serve ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("an interrupt did not end it")
	}
}

func TestServeRefusesUnknownFlags(t *testing.T) {
	t.Parallel()
	if err := serve([]string{"--no-such-flag"}, io.Discard); err == nil {
		t.Error("no error")
	}
}
