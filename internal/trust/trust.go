// Package trust makes clients of the doors of the cluster. A door has a private name,
// for which no public authority issues, so that whoever calls it is told which one did.
package trust

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
)

// Client is a client that trusts the authorities whose certificates text has as PEM,
// besides those that the machine trusts; with "", those alone. It fails when text has no
// certificate.
func Client(text string) (*http.Client, error) {
	if text == "" {
		return &http.Client{}, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil { // a machine that trusts nobody
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM([]byte(text)) {
		return nil, errors.New("no certificate as PEM in it")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	return &http.Client{Transport: transport}, nil
}
