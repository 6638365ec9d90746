package embedded

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"onedoor/internal/engine"
	armpatch "onedoor/plugins/armpatch/provider"
	"onedoor/sim"
)

// headerTimeout is how long a client on this machine may take to send headers.
const headerTimeout = 10 * time.Second

// servePatches serves the cloud as an ARM endpoint on loopback, and over it the
// provider of patches, which speaks to Azure by itself.
func servePatches(cloud *sim.Cloud) (engine.Provider, func() error, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return engine.Provider{}, nil, err
	}
	server := &http.Server{Handler: cloud.ARM(), ReadHeaderTimeout: headerTimeout}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	stop := func() error {
		err := server.Close()
		if serveErr := <-ended; !errors.Is(serveErr, http.ErrServerClosed) {
			err = errors.Join(err, serveErr)
		}
		return err
	}
	provider := armpatch.New(armpatch.Options{Endpoint: "http://" + listener.Addr().String(), Credential: anybody{}, Sleep: cloud.Sleep})
	return engine.Provider{Package: armpatch.Name, Server: provider.Server()}, stop, nil
}

// anybody is whoever calls: the simulated cloud takes any token.
type anybody struct{}

// GetToken implements azcore.TokenCredential.
func (anybody) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "simulated", ExpiresOn: time.Now().Add(time.Hour)}, nil
}
