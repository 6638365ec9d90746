// Package azurite runs Microsoft's storage emulator as the judge of code that uses
// blobs and tables: what it accepts, with the real clients and bearer tokens, is not
// a matter of our own opinion.
package azurite

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"onedoor/services/internal/npm"
)

//go:embed package.json package-lock.json
var lock embed.FS

// account is the one that the emulator has.
const account = "devstoreaccount1"

// startup is how long the emulator may take until it listens.
const startup = time.Minute

// Server is a running emulator with nothing in it.
type Server struct {
	// BlobURL and TableURL are the service URLs of its account, by TLS.
	BlobURL, TableURL string
	// Credential hands out tokens that it accepts, with all rights.
	Credential azcore.TokenCredential
	// Client trusts its certificate; give it to the clients as their transport.
	Client *http.Client
}

// Start runs an emulator until the test ends. Everything is in memory. Without Node
// the test is skipped.
func Start(t testing.TB) *Server {
	t.Helper()
	project := npm.Project(t, "azurite", lock)
	dir := t.TempDir()
	trusted, err := writeCertificate(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, "node", filepath.Join(project, "node_modules/azurite/dist/src/azurite.js"),
		"--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck", "--silent",
		"--oauth", "basic", "--cert", filepath.Join(dir, certFile), "--key", filepath.Join(dir, keyFile),
		"--blobPort", "0", "--queuePort", "0", "--tablePort", "0")
	said, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Dir, command.Stderr = dir, command.Stdout
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = command.Wait() // it was killed
	})
	s := &Server{Credential: credential{}, Client: trusting(trusted)}
	late := time.AfterFunc(startup, stop)
	defer late.Stop()
	if err := s.listen(said); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Client.CloseIdleConnections)
	return s
}

// listen reads the addresses, then drops what else the emulator says.
func (s *Server) listen(said io.Reader) error {
	lines := bufio.NewScanner(said)
	var heard []string
	for lines.Scan() {
		heard = append(heard, lines.Text())
		what, at, ok := strings.Cut(lines.Text(), " service is successfully listening at ")
		switch {
		case !ok:
		case strings.HasSuffix(what, "Blob"):
			s.BlobURL = at + "/" + account
		case strings.HasSuffix(what, "Table"):
			s.TableURL = at + "/" + account
		}
		if s.BlobURL != "" && s.TableURL != "" {
			go io.Copy(io.Discard, said) //nolint:errcheck // until the emulator ends
			return nil
		}
	}
	return fmt.Errorf("azurite ended, or did not listen within %s:\n%s", startup, strings.Join(heard, "\n"))
}

func trusting(certificate *x509.Certificate) *http.Client {
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return &http.Client{Transport: transport}
}

// credential hands out tokens as the emulator checks them: issuer, audience, span of
// time, and no signature.
type credential struct{}

// GetToken implements azcore.TokenCredential.
func (credential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	until := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	claims, err := json.Marshal(map[string]any{
		"iss": "https://sts.windows.net/00000000-0000-0000-0000-000000000000/", "aud": "https://storage.azure.com",
		"oid": "00000000-0000-0000-0000-000000000001", "tid": "00000000-0000-0000-0000-000000000000",
		"iat": 0, "nbf": 0, "exp": until.Unix(),
	})
	if err != nil {
		return azcore.AccessToken{}, err
	}
	encode := base64.RawURLEncoding.EncodeToString
	token := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(claims) + "." + encode([]byte("unchecked"))
	return azcore.AccessToken{Token: token, ExpiresOn: until}, nil
}
