package sim

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"go.yaml.in/yaml/v3"
	"google.golang.org/grpc/peer"

	"onedoor/internal/armtypes"
	"onedoor/internal/manifest"
)

// configState is what a provider knows of its cluster.
type configState int

const (
	unconfigured configState = iota // nothing yet, or the kubeconfig is unknown
	configured                      // the host of an API server
	broken                          // a kubeconfig that leads nowhere
)

// kubeConfig is the configuration of one instance of the provider.
type kubeConfig struct {
	state     configState
	host      string // of the API server
	reason    string // of broken
	namespace string // where objects go that name none

	upsert                          bool // Create takes over what exists
	configMapMutable, secretMutable bool // changed data is an update, not a replacement
	deleteUnreachable               bool // a cluster that is gone takes its objects along
}

func (k kubeConfig) defaultNamespace() string {
	if k.namespace == "" {
		return manifest.DefaultNamespace
	}
	return k.namespace
}

// kubeOptions are the inputs of the provider that the simulator knows.
var kubeOptions = []string{
	"cluster", "clusterIdentifier", "context", "deleteUnreachable", "enableConfigMapMutable", "enablePatchForce",
	"enableSecretMutable", "enableServerSideApply", "helmReleaseSettings", "kubeClientSettings", "kubeconfig", "namespace", "skipUpdateUnreachable",
	"strictMode", "suppressDeprecationWarnings", "suppressHelmHookWarnings", "upsertExistingObjects", "version",
}

// caller tells instances of the provider apart. They share one listener, and only
// the connection says which of them calls: an old provider deletes what a new one
// has replaced, each in its own cluster (A602).
func caller(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr.String()
	}
	return ""
}

func (p *kubernetes) config(ctx context.Context) kubeConfig {
	p.mu.Lock()
	defer p.mu.Unlock()
	if config, ok := p.configs[caller(ctx)]; ok {
		return config
	}
	return p.last
}

// CheckConfig refuses options that do not exist and, unlike the real provider,
// a kubeconfig that nobody can read (A606).
func (p *kubernetes) CheckConfig(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	args, err := unmarshal(req.GetNews(), "kubernetes.checkConfig")
	if err != nil {
		return nil, err
	}
	config := plain(args)
	var failures []*pulumirpc.CheckFailure
	for name := range config {
		if !slices.Contains(kubeOptions, name) {
			failures = append(failures, &pulumirpc.CheckFailure{Property: name, Reason: fmt.Sprintf("%s: got an option that the simulator does not know, want one of %s; fix: leave it out", name, strings.Join(kubeOptions, ", "))})
		}
	}
	if text, ok := config["kubeconfig"].(string); ok && text != "" {
		if _, err := parseKubeconfig(text, config); err != nil {
			failures = append(failures, &pulumirpc.CheckFailure{Property: "kubeconfig", Reason: fmt.Sprintf("kubeconfig: got a text that leads to no cluster (%v), want the contents of a kubeconfig; fix: take it from listManagedClusterUserCredentials", err)})
		}
	}
	if config["enableServerSideApply"] == false || config["enableServerSideApply"] == "false" {
		failures = append(failures, &pulumirpc.CheckFailure{Property: "enableServerSideApply", Reason: "enableServerSideApply: got false, want true, because the simulator knows server-side apply alone; fix: leave it out"})
	}
	slices.SortFunc(failures, func(a, b *pulumirpc.CheckFailure) int { return strings.Compare(a.GetProperty(), b.GetProperty()) })
	return &pulumirpc.CheckResponse{Inputs: req.GetNews(), Failures: failures}, nil
}

// DiffConfig decides whether a changed configuration is another cluster, in which
// case everything in it is replaced (A600). An identifier that stays the same
// says no, one that changes or is not known says yes; without one, a kubeconfig
// that is not known or leads to another cluster says yes.
func (p *kubernetes) DiffConfig(_ context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	oldArgs, err := unmarshal(req.GetOlds(), "kubernetes.diffConfig")
	if err != nil {
		return nil, err
	}
	newArgs, err := unmarshal(req.GetNews(), "kubernetes.diffConfig")
	if err != nil {
		return nil, err
	}
	olds, news := plain(oldArgs), plain(newArgs)
	const identifier = "clusterIdentifier"
	answer := &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_SOME, Diffs: changedKeys(olds, news)}
	if len(answer.Diffs) == 0 {
		return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}, nil
	}
	was, is := olds[identifier], news[identifier]
	if was != nil && is != nil && !reflect.DeepEqual(was, is) {
		answer.Replaces = append(answer.Replaces, identifier)
	}
	same := is != nil && reflect.DeepEqual(was, is)
	for _, key := range []string{"kubeconfig", "context", "cluster"} {
		if _, unknown := news[key].(armtypes.Unknown); unknown {
			answer.Diffs, answer.Replaces = []string{key}, append(answer.Replaces, key)
			if same {
				answer.Replaces = nil
			}
			return answer, nil
		}
	}
	before, err1 := activeCluster(olds)
	now, err2 := activeCluster(news)
	if err1 == nil && err2 == nil && !reflect.DeepEqual(before, now) {
		for _, key := range []string{"kubeconfig", "context", "cluster"} {
			if slices.Contains(answer.Diffs, key) {
				answer.Replaces = append(answer.Replaces, key)
			}
		}
	}
	if same {
		answer.Replaces = nil
	}
	return answer, nil
}

// changedKeys returns the names of what differs, sorted.
func changedKeys(olds, news map[string]any) []string {
	var out []string
	for key, v := range news {
		if !reflect.DeepEqual(olds[key], v) {
			out = append(out, key)
		}
	}
	for key := range olds {
		if _, ok := news[key]; !ok {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// Configure takes the kubeconfig and the options.
func (p *kubernetes) Configure(ctx context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	defer p.cloud.enter()()
	args, err := unmarshal(req.GetArgs(), "kubernetes.configure")
	if err != nil {
		return nil, err
	}
	in := plain(args)
	flag := func(name string) bool { return in[name] == true || in[name] == "true" }
	config := kubeConfig{
		upsert: flag("upsertExistingObjects"), configMapMutable: flag("enableConfigMapMutable"), secretMutable: flag("enableSecretMutable"),
		deleteUnreachable: flag("deleteUnreachable"),
	}
	switch text, known := in["kubeconfig"].(string); {
	case known && text != "":
		active, err := parseKubeconfig(text, in)
		if err != nil {
			config.state, config.reason = broken, fmt.Sprintf("failed to parse kubeconfig data in `kubernetes:config:kubeconfig`- %v", err)
			break
		}
		config.state, config.host, config.namespace = configured, active.host, active.namespace
	case in["kubeconfig"] == nil || known:
		config.state, config.reason = broken, "no kubeconfig, and the simulator reads none from this machine; fix: give the provider that of a cluster"
	}
	if namespace, _ := in["namespace"].(string); namespace != "" {
		config.namespace = namespace
	}
	p.mu.Lock()
	p.configs[caller(ctx)], p.last = config, config
	p.mu.Unlock()
	p.cloud.configured(req.GetUrn())
	return p.base.Configure(ctx, req)
}

// kubeCluster is the cluster that a kubeconfig leads to.
type kubeCluster struct {
	fields    map[string]any // of the cluster: server, certificate-authority-data
	host      string
	namespace string // of the context
}

// parseKubeconfig finds the active cluster: that of the current context, unless
// the options name another.
// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
func parseKubeconfig(text string, options map[string]any) (*kubeCluster, error) {
	var config struct {
		CurrentContext string `yaml:"current-context"`
		Clusters       []struct {
			Name    string
			Cluster map[string]any
		}
		Contexts []struct {
			Name    string
			Context struct{ Cluster, Namespace string }
		}
	}
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return nil, errors.New("it is no YAML")
	}
	context, _ := options["context"].(string)
	if context == "" {
		context = config.CurrentContext
	}
	out, name := &kubeCluster{}, ""
	for _, c := range config.Contexts {
		if c.Name == context {
			name, out.namespace = c.Context.Cluster, c.Context.Namespace
		}
	}
	if override, _ := options["cluster"].(string); override != "" {
		name = override
	}
	if name == "" {
		return nil, fmt.Errorf("no context %q", context)
	}
	for _, c := range config.Clusters {
		if c.Name == name {
			out.fields = c.Cluster
		}
	}
	server, _ := out.fields["server"].(string)
	at, err := url.Parse(server)
	if err != nil || at.Hostname() == "" {
		return nil, fmt.Errorf("no server of the cluster %q", name)
	}
	out.host = strings.ToLower(at.Hostname())
	return out, nil
}

// activeCluster returns the fields by which the real provider tells clusters
// apart.
func activeCluster(options map[string]any) (map[string]any, error) {
	text, _ := options["kubeconfig"].(string)
	c, err := parseKubeconfig(text, options)
	if err != nil {
		return nil, err
	}
	return c.fields, nil
}
