package engine

import (
	"fmt"
	"net"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
)

// maxMessage is the engine's own limit for one message: 400 MB.
const maxMessage = 400 << 20

// Provider is a resource provider served by this process.
type Provider struct {
	// Package is the package's name: azure-native, kubernetes, ...
	Package string
	// Server answers the engine. It must implement Handshake or Attach, GetPluginInfo,
	// CheckConfig, DiffConfig, Configure, Check, Diff, Create, Read, Update, Delete, Cancel.
	Server pulumirpc.ResourceProviderServer
}

// serveProviders listens on one loopback port per provider and returns the value for
// PULUMI_DEBUG_PROVIDERS. They serve until stop is called.
func serveProviders(providers []Provider) (attach string, stop func(), err error) {
	var servers []*grpc.Server
	stop = func() {
		for _, s := range servers {
			s.Stop()
		}
	}
	var pairs []string
	for _, p := range providers {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			stop()
			return "", nil, fmt.Errorf("provider %s: cannot listen on the loopback interface: %w", p.Package, err)
		}
		s := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage))
		pulumirpc.RegisterResourceProviderServer(s, p.Server)
		servers = append(servers, s)
		go s.Serve(lis) //nolint:errcheck // ends with ErrServerStopped
		pairs = append(pairs, fmt.Sprintf("%s:%d", p.Package, lis.Addr().(*net.TCPAddr).Port))
	}
	return strings.Join(pairs, ","), stop, nil
}
