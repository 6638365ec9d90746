package interp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"onedoor/internal/apimpolicy"
)

// Config is a gateway with one API.
type Config struct {
	Path       string // of the API, below which its operations answer
	API        apimpolicy.Document
	Operations []apimpolicy.Operation
	Products   []apimpolicy.Document // by name
	Fragments  []apimpolicy.Document // by name
	Backends   map[string]Backend    // by id
	Keys       map[string]Key        // by the key's text
	Tokens     map[string]Token      // by the token's text
	Route      Route
	Now        func() time.Time // for limits; time stands still without it
}

// Backend is a back end of the gateway.
type Backend struct {
	URL     string            // requests get its path before theirs
	Headers map[string]string // its credentials, set on every request
	Handler http.Handler      // nil for one that cannot be reached
}

// Key is a subscription.
type Key struct {
	ID      string
	Name    string // for people; may be changed
	Product string // "" for a key of all APIs
}

// Token is a signed token of a caller.
type Token struct {
	Audience, Issuer string
	Expired          bool
	Claims           map[string]string
}

// Metric is what a call counted as.
type Metric struct {
	Dimensions map[string]string
	Tokens     int
}

// Gateway answers requests.
type Gateway struct {
	config    Config
	api       *apimpolicy.Node
	products  map[string]*apimpolicy.Node
	fragments map[string]*apimpolicy.Node

	mu      sync.Mutex
	used    map[string][]use // by counter key
	metrics []Metric
}

// use is what one call took of a limit.
type use struct {
	at     time.Time
	tokens int
}

// New is a gateway. It refuses documents with policies, or attributes, that it
// does not know.
func New(config Config) (*Gateway, error) {
	g := &Gateway{config: config, products: map[string]*apimpolicy.Node{}, fragments: map[string]*apimpolicy.Node{}, used: map[string][]use{}}
	if config.Now == nil {
		g.config.Now = func() time.Time { return time.Time{} }
	}
	var problems []error
	read := func(doc apimpolicy.Document) *apimpolicy.Node {
		root, err := apimpolicy.Parse(doc.Text, doc.Raw)
		if err == nil {
			err = supported(root)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("document %q: %w", doc.Name, err))
		}
		return root
	}
	g.api = read(config.API)
	for _, doc := range config.Products {
		g.products[doc.Name] = read(doc)
	}
	for _, doc := range config.Fragments {
		g.fragments[doc.Name] = read(doc)
	}
	return g, errors.Join(problems...)
}

// Metrics are the token metrics so far, one for each finished call, sorted by
// tenant.
func (g *Gateway) Metrics() []Metric {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.SortedStableFunc(slices.Values(g.metrics), func(a, b Metric) int {
		return cmp.Compare(a.Dimensions["tenant"], b.Dimensions["tenant"])
	})
}

// ServeHTTP answers one request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	operation, parameters, ok := g.config.match(r)
	if !ok {
		plain(http.StatusNotFound, "Resource not found").send(w, nil)
		return
	}
	c, err := newCall(g, r, operation, parameters)
	if err != nil {
		plain(http.StatusBadRequest, err.Error()).send(w, nil)
		return
	}
	answer := c.run()
	for name, value := range c.added {
		answer.header.Set(name, value)
	}
	answer.send(w, c.count)
}

// run takes a call through its sections.
func (c *call) run() *response {
	err := c.sections("inbound", "backend", "outbound")
	if refused, failed := errors.AsType[*failure](err); failed {
		c.lastError = refused
		c.response = plain(refused.status, refused.message)
		maps.Copy(c.response.header, refused.header)
		err = c.sections("on-error")
	}
	if err != nil && !errors.Is(err, errReturned) {
		return plain(http.StatusInternalServerError, err.Error())
	}
	return c.response
}

func (c *call) sections(names ...string) error {
	for _, name := range names {
		c.section = name
		if section := c.g.api.Child(name); section != nil {
			if err := c.each(section.Children); err != nil {
				return err
			}
		}
	}
	return nil
}

// Route is how paths find operations.
type Route int

// The ways. Azure does not say which is its own, so tests take both.
const (
	// Exact matches a path as it was sent, letter by letter.
	Exact Route = iota
	// Lenient matches whatever could mean the same: it decodes, drops empty
	// segments and does not look at case.
	Lenient
)

// match finds the operation of a request, and its parameters.
func (c Config) match(r *http.Request) (apimpolicy.Operation, map[string]string, bool) {
	path := r.URL.EscapedPath()
	if c.Route == Lenient {
		path = r.URL.Path
	}
	segments := c.segments(path)
	for _, o := range c.Operations {
		if o.Method != r.Method {
			continue
		}
		if parameters, ok := c.fits(c.segments("/"+c.Path+o.Template), segments); ok {
			return o, parameters, true
		}
	}
	return apimpolicy.Operation{}, nil, false
}

func (c Config) segments(path string) []string {
	all := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if c.Route == Lenient {
		return slices.DeleteFunc(all, func(s string) bool { return s == "" })
	}
	return all
}

func (c Config) fits(template, path []string) (map[string]string, bool) {
	parameters := map[string]string{}
	for i, t := range template {
		switch {
		case t == "*": // takes whatever is left
			return parameters, true
		case i >= len(path):
			return nil, false
		case strings.HasPrefix(t, "{"):
			if path[i] == "" {
				return nil, false
			}
			parameters[strings.Trim(t, "{}")] = path[i]
		case t != path[i] && (c.Route == Exact || !strings.EqualFold(t, path[i])):
			return nil, false
		}
	}
	return parameters, len(template) == len(path)
}

// take adds to what a counter key used, and tells what it used in the last
// minute and in all.
func (g *Gateway) take(key string, tokens int) (minute, total int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.config.Now()
	if tokens > 0 {
		g.used[key] = append(g.used[key], use{now, tokens})
	}
	for _, u := range g.used[key] {
		total += u.tokens
		if now.Sub(u.at) < time.Minute {
			minute += u.tokens
		}
	}
	return minute, total
}

// count is called with the tokens of an answer once it has been sent.
func (c *call) count(tokens int) {
	for _, key := range c.counters {
		c.g.take(key, tokens)
	}
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	for _, dimensions := range c.metrics {
		c.g.metrics = append(c.g.metrics, Metric{dimensions, tokens})
	}
}

// plain is the answer that the gateway itself gives.
func plain(status int, message string) *response {
	body := fmt.Sprintf(`{"statusCode": %d, "message": %s}`, status, strconv.Quote(message))
	return &response{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: textBody(body)}
}
