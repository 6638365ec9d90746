package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"golang.org/x/sync/errgroup"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/config"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/insights"
	"onedoor/services/controlplane/intake"
	"onedoor/services/controlplane/lead"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/service"
	"onedoor/services/controlplane/telemetry"
)

// serve runs the service until the context ends.
func serve(ctx context.Context, log *slog.Logger) int {
	told, err := config.ReadServe(os.LookupEnv)
	if err != nil {
		log.Error("what the program was told is wrong", "error", err)
		return exitWrong
	}
	klog.SetSlogLogger(log) // of the cluster's client, whose lines would be no JSON
	shutdown, err := telemetry.Traces(ctx)
	if err != nil {
		log.Error("traces cannot be sent", "error", err)
		return exitWrong
	}
	s, election, err := open(ctx, told, log)
	if err != nil {
		log.Error("the service cannot start", "error", err)
		return exitFailed
	}
	err = observed(ctx, told, s, election, log)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := shutdown(last); err != nil {
		log.Warn("the last traces were not sent", "error", err)
	}
	if err != nil {
		log.Error("the service failed", "error", err)
		return exitFailed
	}
	return exitDone
}

// open connects to everything.
func open(ctx context.Context, told config.Serve, log *slog.Logger) (*service.Service, lead.Lease, error) {
	var none lead.Lease
	credential, err := azidentity.NewWorkloadIdentityCredential(nil)
	if err != nil {
		return nil, none, fmt.Errorf("workload identity: %w", err)
	}
	table, err := aztables.NewClient(strings.TrimRight(told.TableURL, "/")+"/"+told.Settings.Ledger, credential, nil)
	if err != nil {
		return nil, none, fmt.Errorf("ledger: %w", err)
	}
	storage, err := azblob.NewClient(told.BlobURL, credential, nil)
	if err != nil {
		return nil, none, fmt.Errorf("storage: %w", err)
	}
	bus, err := azservicebus.NewClient(told.BusHost, credential, nil)
	if err != nil {
		return nil, none, fmt.Errorf("bus: %w", err)
	}
	topic, err := intake.NewServiceBus(bus, told.Settings.Topic)
	if err != nil {
		return nil, none, err
	}
	cluster, err := rest.InClusterConfig()
	if err != nil {
		return nil, none, fmt.Errorf("cluster: %w", err)
	}
	reviews, err := authentication.NewForConfig(cluster)
	if err != nil {
		return nil, none, fmt.Errorf("cluster: %w", err)
	}
	leases, err := coordination.NewForConfig(cluster)
	if err != nil {
		return nil, none, fmt.Errorf("cluster: %w", err)
	}
	namespace, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return nil, none, fmt.Errorf("cluster: %w", err)
	}
	host, err := os.Hostname() // the pod's name
	if err != nil {
		return nil, none, err
	}
	store := blobs.NewAzure(storage)
	parts := service.Parts{
		Settings: told.Settings, Table: ledger.NewAzure(table), Blobs: store, Bus: topic, Signer: store,
		Identity: identity.Either{
			Entra: identity.NewEntra(ctx, told.Authority, told.Settings),
			Pods:  identity.Pods{Reviews: reviews.TokenReviews(), Audience: told.Audience},
		},
		KeysDir: told.KeysDir, Signing: told.Signing, Log: log,
		Events: &insights.Client{Target: told.Events, Token: credential, HTTP: &http.Client{}, Now: time.Now},
	}
	if told.BatchURL != "" {
		parts.Account = account.New(told.BatchURL, credential, &http.Client{})
	}
	s, err := service.New(parts)
	return s, lead.Lease{Client: leases, Namespace: string(namespace), Name: told.Lease, Identity: host, Log: log}, err
}

// Times of the servers. An upload of 2 GB may take its time; the deployment gives
// 120 s after SIGTERM, of which some are for the lease and the last traces.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	drain         = 110 * time.Second
)

// observed serves callers and the platform and stands for election, until the
// context ends or one of them fails.
func observed(ctx context.Context, told config.Serve, s *service.Service, election lead.Lease, log *slog.Logger) error {
	door := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, TLSConfig: &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { // it changes in place
			pair, err := tls.LoadX509KeyPair(told.TLSFile, told.TLSFile)
			return &pair, err
		},
	}}
	status := &http.Server{Handler: s.Status(), ReadHeaderTimeout: headerTimeout}
	group, ends := errgroup.WithContext(ctx)
	listen := func(port int, serve func(net.Listener) error) {
		group.Go(func() error {
			at, err := (&net.ListenConfig{}).Listen(ends, "tcp", ":"+strconv.Itoa(port))
			if err != nil {
				return err
			}
			if err := serve(at); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
	}
	listen(told.DoorPort, func(at net.Listener) error { return door.ServeTLS(at, "", "") })
	listen(told.StatusPort, status.Serve)
	group.Go(func() error { return election.Run(ends, s.Lead) })
	group.Go(func() error {
		<-ends.Done()
		log.Info("stopping: no new uploads, those that run may end")
		s.Close()
		left, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		return errors.Join(door.Shutdown(left), status.Shutdown(left))
	})
	return group.Wait()
}
