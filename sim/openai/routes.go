package openai

import (
	"net"
	"net/http"
	"strings"

	"onedoor/sim/openai/core"
)

// Entry is where a request comes in.
type Entry struct {
	// Account is the account that is meant whatever the host of the request, for
	// servers on an address of their own; empty reads the host.
	Account string
	// Network is the label of the network that requests come from.
	Network string
}

// domain ends the names of the accounts.
const domain = ".openai.azure.com"

// route understands the path of a request (A800): the v1 API under /openai/v1, the
// dated one under /openai with an api-version. A path that neither has leaves the
// operation empty, which the core refuses as not found.
func (s *Service) route(e Entry, req *http.Request) core.Request {
	r := core.Request{Account: e.Account, Network: e.Network}
	if r.Account == "" {
		host := req.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		r.Account = strings.TrimSuffix(host, domain)
	}
	s.identify(&r, req)
	path, ok := strings.CutPrefix(req.URL.Path, "/openai/")
	if !ok {
		return r
	}
	version := req.URL.Query().Get("api-version")
	path, v1 := strings.CutPrefix(path, "v1/")
	r.Dated = !v1
	if r.Dated && version == "" {
		return r
	}
	parts := strings.Split(path, "/")
	if r.Dated && len(parts) > 2 && parts[0] == "deployments" {
		// Only synchronous calls have a deployment in their path.
		r.Model = parts[1]
		switch req.Method + " " + strings.Join(parts[2:], "/") {
		case "POST chat/completions":
			r.Operation = core.Chat
		case "POST embeddings":
			r.Operation = core.Embeddings
		}
		return r
	}
	if r.Operation, ok = fixed[req.Method+" "+path]; ok {
		return r
	}
	if len(parts) < 2 || len(parts) > 3 {
		return r
	}
	r.ID = parts[1]
	parts[1] = "*"
	r.Operation = fixed[req.Method+" "+strings.Join(parts, "/")]
	return r
}

var fixed = map[string]core.Operation{
	"POST files":            core.CreateFile,
	"POST files/import":     core.ImportFile,
	"GET files":             core.ListFiles,
	"GET files/*":           core.GetFile,
	"DELETE files/*":        core.DeleteFile,
	"GET files/*/content":   core.FileContent,
	"POST batches":          core.CreateBatch,
	"GET batches":           core.ListBatches,
	"GET batches/*":         core.GetBatch,
	"POST batches/*/cancel": core.CancelBatch,
	"GET models":            core.ListModels,
	"POST chat/completions": core.Chat,
	"POST embeddings":       core.Embeddings,
	"POST responses":        core.Responses,
}

// identify reads the credential. A token goes before a key.
func (s *Service) identify(r *core.Request, req *http.Request) {
	if token, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok {
		if s.issued != nil {
			if p, ok := s.issued(token); ok {
				r.Caller = &p
			}
		}
		return
	}
	r.Key = req.Header.Get("api-key") != ""
}
