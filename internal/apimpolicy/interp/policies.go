package interp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/apimpolicy"
)

// call is one request on its way.
type call struct {
	g          *Gateway
	method     string
	operation  apimpolicy.Operation
	parameters map[string]string
	key        *Key
	header     http.Header
	body       string
	path       string // below the back end's URL
	variables  map[string]any
	section    string
	product    bool // the walk is in the product's document
	backend    string
	response   *response
	lastError  *failure

	counters []string            // keys of the limits that the call counts for
	metrics  []map[string]string // dimensions of the metrics that it counts for
	added    map[string]string   // headers that limits add to the answer
}

func newCall(g *Gateway, r *http.Request, operation apimpolicy.Operation, parameters map[string]string) (*call, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c := &call{
		g: g, method: r.Method, operation: operation, parameters: parameters, header: r.Header.Clone(), body: string(body),
		path: strings.TrimPrefix(r.URL.RequestURI(), "/"+g.config.Path), variables: map[string]any{}, added: map[string]string{},
	}
	for _, text := range []string{r.Header.Get(apimpolicy.KeyName), r.URL.Query().Get(apimpolicy.KeyName)} {
		if key, known := g.config.Keys[text]; known && text != "" {
			c.key = &key
		}
	}
	return c, nil
}

// failure is an error of a policy: what callers and the on-error section see.
type failure struct {
	source  string // name of the policy
	status  int
	message string
	header  http.Header
}

func (f *failure) Error() string { return f.source + ": " + f.message }

// errReturned ends the walk: the answer stands.
var errReturned = errors.New("returned")

// policy is one policy: the attributes that it may have, and what it does.
type policy struct {
	attrs []string
	run   func(c *call, n *apimpolicy.Node) error
}

// policies are the known ones. Elements that are parts of others have no run.
var policies map[string]policy

func init() { // running a policy runs those inside it
	policies = map[string]policy{
		"policies": {}, "fragment": {}, "inbound": {}, "backend": {}, "outbound": {}, "on-error": {},
		"when": {attrs: []string{"condition"}}, "otherwise": {}, "value": {}, "set-status": {attrs: []string{"code", "reason"}},
		"openid-config": {attrs: []string{"url"}}, "audiences": {}, "audience": {}, "issuers": {}, "issuer": {},
		"dimension": {attrs: []string{"name", "value"}},

		"base":                {run: (*call).base},
		"include-fragment":    {[]string{"fragment-id"}, (*call).include},
		"choose":              {nil, (*call).choose},
		"set-variable":        {[]string{"name", "value"}, (*call).setVariable},
		"set-header":          {[]string{"name", "exists-action"}, (*call).setHeader},
		"set-body":            {nil, (*call).setBody},
		"rewrite-uri":         {[]string{"template", "copy-unmatched-params"}, (*call).rewrite},
		"return-response":     {nil, (*call).returnResponse},
		"retry":               {[]string{"condition", "count", "interval", "first-fast-retry"}, (*call).retry},
		"set-backend-service": {[]string{"backend-id"}, (*call).setBackend},
		"forward-request":     {[]string{"timeout", "buffer-request-body", "buffer-response"}, (*call).forward},
		"validate-jwt": {[]string{"header-name", "require-scheme", "require-expiration-time", "require-signed-tokens", "failed-validation-httpcode",
			"failed-validation-error-message", "output-token-variable-name"}, (*call).validateToken},
		"authentication-managed-identity": {[]string{"resource", "client-id", "output-token-variable-name", "ignore-error"}, (*call).managedIdentity},
	}
	for _, family := range []string{"llm", "azure-openai"} {
		policies[family+"-token-limit"] = policy{[]string{"counter-key", "tokens-per-minute", "token-quota", "token-quota-period", "estimate-prompt-tokens",
			"remaining-tokens-header-name", "remaining-quota-tokens-header-name"}, (*call).limit}
		policies[family+"-emit-token-metric"] = policy{[]string{"namespace"}, (*call).metric}
	}
}

// supported tells of elements and attributes that are not known.
func supported(n *apimpolicy.Node) error {
	p, known := policies[n.Name]
	if !known {
		return fmt.Errorf("<%s> is not known here", n.Name)
	}
	for _, a := range n.Attrs {
		if !slices.Contains(p.attrs, a.Name) {
			return fmt.Errorf("%s of <%s> is not known here", a.Name, n.Name)
		}
	}
	for _, child := range n.Children {
		if err := supported(child); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) each(nodes []*apimpolicy.Node) error {
	for _, n := range nodes {
		if err := policies[n.Name].run(c, n); err != nil {
			return err
		}
	}
	return nil
}

// attr is the value of an attribute, an expression evaluated.
func (c *call) attr(n *apimpolicy.Node, name string) (any, error) {
	text, _ := n.Attr(name)
	return c.value(n, text)
}

func (c *call) textAttr(n *apimpolicy.Node, name string) (string, error) {
	v, err := c.attr(n, name)
	if err != nil {
		return "", err
	}
	s, ok := v.(string)
	if !ok {
		return "", c.fault(n, fmt.Sprintf("%s is no string", name))
	}
	return s, nil
}

// value evaluates a text when it is an expression.
func (c *call) value(n *apimpolicy.Node, text string) (any, error) {
	v, err := c.evaluate(text)
	if err != nil {
		return nil, c.fault(n, err.Error())
	}
	return v, nil
}

// fault is what an expression that throws ends in.
func (c *call) fault(n *apimpolicy.Node, message string) error {
	return &failure{source: n.Name, status: http.StatusInternalServerError, message: message}
}

func (c *call) condition(n *apimpolicy.Node) (bool, error) {
	v, err := c.attr(n, "condition")
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, c.fault(n, "the condition is no bool")
	}
	return b, nil
}

// base runs the outer scope: the API's is the product, if the caller has a key
// of one. Outside it there is nothing.
func (c *call) base(*apimpolicy.Node) error {
	if c.product || c.key == nil || c.g.products[c.key.Product] == nil {
		return nil
	}
	section := c.g.products[c.key.Product].Child(c.section)
	if section == nil {
		return nil
	}
	c.product = true
	defer func() { c.product = false }()
	return c.each(section.Children)
}

func (c *call) include(n *apimpolicy.Node) error {
	id, _ := n.Attr("fragment-id")
	f := c.g.fragments[id]
	if f == nil {
		return c.fault(n, fmt.Sprintf("there is no fragment %q", id))
	}
	return c.each(f.Children)
}

func (c *call) choose(n *apimpolicy.Node) error {
	for _, child := range n.Children {
		if child.Name == "when" {
			met, err := c.condition(child)
			if err != nil {
				return err
			}
			if !met {
				continue
			}
		}
		return c.each(child.Children)
	}
	return nil
}

func (c *call) setVariable(n *apimpolicy.Node) error {
	name, _ := n.Attr("name")
	v, err := c.attr(n, "value")
	c.variables[name] = v
	return err
}

func (c *call) setHeader(n *apimpolicy.Node) error {
	header := c.header
	if c.section == "outbound" || c.section == "on-error" {
		header = c.response.header
	}
	return c.changeHeader(n, header)
}

// changeHeader changes one header of a request or an answer.
func (c *call) changeHeader(n *apimpolicy.Node, header http.Header) error {
	name, _ := n.Attr("name")
	switch action, _ := n.Attr("exists-action"); action {
	case "delete":
		header.Del(name)
		return nil
	case "override":
		v, err := c.value(n, n.Child("value").Text)
		if err != nil {
			return err
		}
		header.Set(name, fmt.Sprint(v))
		return nil
	default:
		return c.fault(n, fmt.Sprintf("exists-action %q is not known here", action))
	}
}

func (c *call) setBody(n *apimpolicy.Node) error {
	v, err := c.value(n, n.Text)
	if err != nil {
		return err
	}
	c.body = fmt.Sprint(v)
	return nil
}

func (c *call) rewrite(n *apimpolicy.Node) error {
	path, err := c.textAttr(n, "template")
	if err != nil {
		return err
	}
	if keep, _ := n.Attr("copy-unmatched-params"); keep != "false" {
		return c.fault(n, "copy-unmatched-params other than false is not known here")
	}
	c.path = path
	return nil
}

func (c *call) returnResponse(n *apimpolicy.Node) error {
	answer := &response{status: http.StatusOK, header: http.Header{}, body: textBody("")}
	for _, child := range n.Children {
		switch child.Name {
		case "set-status":
			code, _ := child.Attr("code")
			status, err := strconv.Atoi(code)
			if err != nil {
				return c.fault(child, err.Error())
			}
			answer.status = status
		case "set-header":
			if err := c.changeHeader(child, answer.header); err != nil {
				return err
			}
		case "set-body":
			v, err := c.value(child, child.Text)
			if err != nil {
				return err
			}
			answer.body = textBody(fmt.Sprint(v))
		}
	}
	c.drop()
	c.response = answer
	return errReturned
}

// drop gives up an answer that is not going to be sent.
func (c *call) drop() {
	if c.response != nil {
		_ = c.response.body.Close() // the back end finds out when it writes
		c.response = nil
	}
}

// retry runs what is inside, and again while the condition holds.
func (c *call) retry(n *apimpolicy.Node) error {
	text, _ := n.Attr("count")
	count, err := strconv.Atoi(text)
	if err != nil {
		return c.fault(n, err.Error())
	}
	for again := 0; ; again++ {
		err := c.each(n.Children)
		var failed *failure
		if err != nil && (!errors.As(err, &failed) || failed.source != "forward-request") {
			return err
		}
		more, conditionErr := c.condition(n)
		if conditionErr != nil {
			return conditionErr
		}
		if !more || again == count {
			return err
		}
	}
}

func (c *call) setBackend(n *apimpolicy.Node) error {
	id, err := c.textAttr(n, "backend-id")
	c.backend = id
	return err
}

func (c *call) forward(n *apimpolicy.Node) error {
	backend, known := c.g.config.Backends[c.backend]
	if !known {
		return c.fault(n, fmt.Sprintf("there is no back end %q", c.backend))
	}
	c.drop()
	answer, err := backend.send(c.method, c.path, c.header, c.body)
	if err != nil {
		return &failure{source: n.Name, status: http.StatusInternalServerError, message: err.Error()}
	}
	buffer, _ := n.Attr("buffer-response")
	answer.whole = buffer != "false"
	c.response = answer
	return nil
}

// validateToken takes the tokens of the configuration to be signed.
func (c *call) validateToken(n *apimpolicy.Node) error {
	code, _ := n.Attr("failed-validation-httpcode")
	status, err := strconv.Atoi(code)
	if err != nil {
		return c.fault(n, err.Error())
	}
	message, _ := n.Attr("failed-validation-error-message")
	name, _ := n.Attr("header-name")
	scheme, _ := n.Attr("require-scheme")
	text, ok := strings.CutPrefix(c.header.Get(name), scheme+" ")
	token, known := c.g.config.Tokens[text]
	if !ok || !known || token.Expired || !lists(n.Child("audiences"), token.Audience) || !lists(n.Child("issuers"), token.Issuer) {
		return &failure{source: n.Name, status: status, message: message}
	}
	variable, _ := n.Attr("output-token-variable-name")
	c.variables[variable] = token
	return nil
}

func lists(n *apimpolicy.Node, value string) bool {
	return n != nil && slices.ContainsFunc(n.Children, func(child *apimpolicy.Node) bool { return child.Text == value })
}

// managedIdentity gets a token that names the identity and what it is for.
func (c *call) managedIdentity(n *apimpolicy.Node) error {
	resource, _ := n.Attr("resource")
	client, _ := n.Attr("client-id")
	variable, _ := n.Attr("output-token-variable-name")
	c.variables[variable] = "token of " + client + " for " + resource
	return nil
}

// limit refuses a call when what earlier ones took has used up the limit, as the
// real one does without estimates.
func (c *call) limit(n *apimpolicy.Node) error {
	key, err := c.textAttr(n, "counter-key")
	if err != nil {
		return err
	}
	minute, total := c.g.take(key, 0)
	for _, l := range []struct {
		attr, remaining string
		used, status    int
		header          http.Header
	}{
		{"tokens-per-minute", "remaining-tokens-header-name", minute, http.StatusTooManyRequests, http.Header{"Retry-After": {"60"}}},
		{"token-quota", "remaining-quota-tokens-header-name", total, http.StatusForbidden, nil},
	} {
		text, there := n.Attr(l.attr)
		if !there {
			continue
		}
		most, err := strconv.Atoi(text)
		if err != nil {
			return c.fault(n, err.Error())
		}
		if l.used >= most {
			return &failure{source: n.Name, status: l.status, message: "Token limit is exceeded.", header: l.header}
		}
		if name, there := n.Attr(l.remaining); there {
			c.added[name] = strconv.Itoa(most - l.used)
		}
	}
	c.counters = append(c.counters, key)
	return nil
}

func (c *call) metric(n *apimpolicy.Node) error {
	dimensions := map[string]string{}
	for _, d := range n.Children {
		name, _ := d.Attr("name")
		value, err := c.textAttr(d, "value")
		if err != nil {
			return err
		}
		dimensions[name] = value
	}
	c.metrics = append(c.metrics, dimensions)
	return nil
}
