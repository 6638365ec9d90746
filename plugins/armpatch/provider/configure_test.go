package provider

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

func TestConfig(t *testing.T) {
	t.Setenv("AZURE_ENVIRONMENT", "") // not parallel: the environment is the subject
	p := New(Options{})
	for name, c := range map[string]struct {
		config map[string]any
		want   []string
	}{
		"nothing": {nil, nil},
		"fine":    {map[string]any{"environment": "china", "version": "0.1.0", "__internal": map[string]any{}}, nil},
		"unknown": {map[string]any{"environment": unknown{}}, nil},
		"wrong":   {map[string]any{"environment": "AzureChinaCloud", "endpoint": "x"}, []string{"endpoint: got a key that the provider does not have, want environment; fix: pulumi config rm armpatch:endpoint", `environment: got "AzureChinaCloud", want public, usgovernment or china`}},
	} {
		resp, err := p.CheckConfig(t.Context(), &pulumirpc.CheckRequest{News: wire(t, c.config)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range resp.GetFailures() {
			got = append(got, f.GetReason())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	endpoint := func(args map[string]any) string {
		t.Helper()
		p := New(Options{Credential: credential{}})
		if _, err := p.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: wire(t, args)}); err != nil {
			return err.Error()
		}
		c, err := p.connect()
		if err != nil {
			return err.Error()
		}
		return c.endpoint
	}
	for environment, want := range map[string]string{
		"": "https://management.azure.com", "public": "https://management.azure.com",
		"usgovernment": "https://management.usgovcloudapi.net", "china": "https://management.chinacloudapi.cn",
	} {
		config := map[string]any{"environment": environment}
		if environment == "" {
			config = nil
		}
		if got := endpoint(config); got != want {
			t.Errorf("%q: got %s, want %s", environment, got, want)
		}
	}
	if got := endpoint(map[string]any{"environment": "moon"}); !strings.Contains(got, `armpatch:environment: got "moon", want public, usgovernment or china`) {
		t.Error(got)
	}
	t.Setenv("AZURE_ENVIRONMENT", "AzureUSGovernment")
	if got := endpoint(nil); !strings.Contains(got, `AZURE_ENVIRONMENT: got "AzureUSGovernment", want public`) {
		t.Error(got)
	}
	if got := endpoint(map[string]any{"environment": "usgovernment"}); got != "https://management.usgovcloudapi.net" {
		t.Error(got)
	}

	diff, err := p.DiffConfig(t.Context(), &pulumirpc.DiffRequest{OldInputs: wire(t, nil), News: wire(t, map[string]any{"environment": "public"})})
	if err != nil || diff.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
		t.Errorf("the default spelt out: %v, %v", diff, err)
	}
	diff, err = p.DiffConfig(t.Context(), &pulumirpc.DiffRequest{OldInputs: wire(t, nil), News: wire(t, map[string]any{"environment": "china"})})
	if err != nil || !slices.Equal(diff.GetReplaces(), []string{"environment"}) {
		t.Errorf("another cloud: %v, %v", diff, err)
	}
}

// A token must not go over the network in clear text.
func TestPlainHTTPIsForLoopback(t *testing.T) {
	t.Parallel()
	p := New(Options{Endpoint: "http://management.example.org", Credential: credential{}, Sleep: (&naps{}).sleep, HTTPClient: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, errors.New("sent")
	})}})
	in, err := p.Check(t.Context(), &pulumirpc.CheckRequest{Urn: urn, News: wire(t, args(t, nil))})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn, Properties: in.GetInputs()})
	refused(t, err, "not permitted for non-TLS")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
