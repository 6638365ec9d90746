package reach

import (
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/az/flows"
)

// policy is a policy of the cluster, of either kind, in one direction.
type policy struct {
	name      string
	namespace string // "" for all
	direction flows.Direction
	whole     bool // it is about every pod of its namespace
	allows    []grant
	denies    []grant
	isolates  bool // what no policy allows is denied
}

// grant is one rule of a policy.
type grant struct {
	anybody    bool
	prefixes   []netip.Prefix
	except     []netip.Prefix
	namespaces []string
	dns        bool // the cluster's name servers
	hosts      []string
	entities   []string
	ports      []string // none means all
	narrow     bool     // it is about some pods of its far end only
}

// far is the far end of a connection, as a policy sees it.
type far struct {
	addr      netip.Addr // of a machine in the network
	internet  bool       // any address outside
	host      string     // name by which it was found, "" for none
	namespace string     // of a pod
	entity    flows.Entity
}

// port is a number or a text as a port, "" for a name.
func (v in) port() string {
	if n := v.number(); n > 0 {
		return strconv.Itoa(n)
	}
	if _, err := strconv.Atoi(v.text()); err == nil {
		return v.text()
	}
	return ""
}

// namespaceLabel is on every namespace; Cilium writes it another way.
// https://kubernetes.io/docs/reference/labels-annotations-taints/
const (
	namespaceLabel       = "kubernetes.io/metadata.name"
	ciliumNamespaceLabel = "k8s:io.kubernetes.pod.namespace"
)

// readPolicy reads a policy as one for each direction that it is about.
func readPolicy(r Resource) []policy {
	if r.kind() != "networking.k8s.io/v1:NetworkPolicy" {
		return readCilium(r)
	}
	spec := r.in("spec")
	types, _ := spec.at("policyTypes").texts()
	if len(types) == 0 {
		types = []string{"Ingress"}
		if !spec.at("egress").absent() {
			types = append(types, "Egress")
		}
	}
	var out []policy
	for _, typ := range types {
		p := policy{
			name: r.in("metadata", "name").text(), namespace: r.in("metadata", "namespace").text(),
			direction: flows.Inbound, whole: everything(spec.at("podSelector")), isolates: true,
		}
		list, peers := "ingress", "from"
		if typ == "Egress" {
			p.direction, list, peers = flows.Outbound, "egress", "to"
		}
		for _, rule := range spec.at(list).list() {
			ports := portsOf(rule.at("ports").list(), "port", "endPort")
			if len(rule.at(peers).list()) == 0 {
				p.allows = append(p.allows, grant{anybody: true, ports: ports})
			}
			for _, peer := range rule.at(peers).list() {
				p.allows = append(p.allows, readPeer(peer, p.namespace, ports))
			}
		}
		out = append(out, p)
	}
	return out
}

// everything tells whether a selector selects all.
func everything(selector in) bool {
	return !selector.unknown() && len(selector.at("matchLabels").labels()) == 0 && len(selector.at("matchExpressions").list()) == 0
}

func portsOf(items []in, one, end string) []string {
	var out []string
	for _, item := range items {
		switch p := item.at(one).port(); {
		case p == "0" || item.at(one).absent():
			out = append(out, "0-65535")
		case item.at(end).port() != "":
			out = append(out, p+"-"+item.at(end).port())
		default:
			out = append(out, p)
		}
	}
	return out
}

// readPeer reads one far end of a NetworkPolicy.
func readPeer(peer in, namespace string, ports []string) grant {
	g := grant{ports: ports}
	if block := peer.at("ipBlock"); !block.absent() {
		except, _ := block.at("except").texts()
		g.prefixes, g.except = prefixesOf([]string{block.at("cidr").text()}), prefixesOf(except)
		return g
	}
	g.narrow = !everything(peer.at("podSelector"))
	switch selector := peer.at("namespaceSelector"); {
	case selector.absent():
		g.namespaces = []string{namespace}
	case selector.at("matchLabels", namespaceLabel).text() != "":
		g.namespaces = []string{selector.at("matchLabels", namespaceLabel).text()}
	case everything(selector):
		g.namespaces = []string{anyNamespace}
	default:
		g.namespaces, g.narrow = []string{anyNamespace}, true
	}
	g.dns = isDNS(peer.at("podSelector", "matchLabels", "k8s-app").text(), g.namespaces)
	return g
}

const anyNamespace = "*"

// isDNS tells whether pods with that label are the cluster's name servers.
func isDNS(app string, namespaces []string) bool {
	return app == "kube-dns" && slices.Contains(namespaces, "kube-system")
}

func prefixesOf(texts []string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		if p, ok := ipv4(text); ok {
			out = append(out, p)
		}
	}
	return out
}

// readCilium reads a policy of Cilium's.
// https://docs.cilium.io/en/stable/security/policy/language/
func readCilium(r Resource) []policy {
	var out []policy
	specs := r.in("specs").list()
	if !r.in("spec").absent() {
		specs = append(specs, r.in("spec"))
	}
	for _, spec := range specs {
		for _, d := range []struct {
			direction        flows.Direction
			allow, deny, end string
		}{{flows.Inbound, "ingress", "ingressDeny", "from"}, {flows.Outbound, "egress", "egressDeny", "to"}} {
			if spec.at(d.allow).absent() && spec.at(d.deny).absent() {
				continue
			}
			selector := spec.at("endpointSelector")
			p := policy{
				name: r.in("metadata", "name").text(), namespace: r.in("metadata", "namespace").text(), direction: d.direction,
				whole: everything(selector), isolates: spec.at("enableDefaultDeny", d.allow).state(true) != no,
			}
			if ns := selector.at("matchLabels", ciliumNamespaceLabel).text(); p.namespace == "" && ns != "" && len(selector.at("matchLabels").labels()) == 1 {
				p.namespace, p.whole = ns, true
			}
			for _, rule := range spec.at(d.allow).list() {
				p.allows = append(p.allows, readCiliumRule(rule, d.end, p.namespace)...)
			}
			for _, rule := range spec.at(d.deny).list() {
				p.denies = append(p.denies, readCiliumRule(rule, d.end, p.namespace)...)
			}
			out = append(out, p)
		}
	}
	return out
}

func readCiliumRule(rule in, end, namespace string) []grant {
	var ports []string
	for _, group := range rule.at("toPorts").list() {
		ports = append(ports, portsOf(group.at("ports").list(), "port", "endPort")...)
	}
	g := grant{ports: ports}
	cidrs, _ := rule.at(end + "CIDR").texts()
	g.prefixes = prefixesOf(cidrs)
	for _, name := range rule.at(end + "FQDNs").list() {
		g.hosts = append(g.hosts, name.at("matchName").text()+name.at("matchPattern").text())
	}
	g.entities, _ = rule.at(end + "Entities").texts()
	out := []grant{}
	for _, set := range rule.at(end + "CIDRSet").list() {
		except, _ := set.at("except").texts()
		out = append(out, grant{prefixes: prefixesOf([]string{set.at("cidr").text()}), except: prefixesOf(except), ports: ports})
	}
	for _, peer := range rule.at(end + "Endpoints").list() {
		labels := peer.at("matchLabels").labels()
		to := grant{ports: ports, namespaces: []string{namespace}}
		if ns, other := labels[ciliumNamespaceLabel]; other {
			to.namespaces = []string{ns}
			delete(labels, ciliumNamespaceLabel)
		}
		to.dns = isDNS(labels["k8s:k8s-app"], to.namespaces)
		to.narrow = len(labels) > 0
		out = append(out, to)
	}
	named := []string{"CIDR", "CIDRSet", "FQDNs", "Entities", "Endpoints"}
	g.anybody = !slices.ContainsFunc(named, func(k string) bool { return !rule.at(end + k).absent() })
	if g.anybody || len(g.prefixes)+len(g.hosts)+len(g.entities) > 0 {
		out = append(out, g)
	}
	return out
}

// meets tells whether the grant is about the far end and the port.
func (g grant) meets(f far, port string) verdict {
	if len(g.ports) > 0 && port != "" && !inPorts(g.ports, port) {
		return no
	}
	has := func(entities ...string) bool {
		return slices.ContainsFunc(entities, func(e string) bool { return slices.Contains(g.entities, e) })
	}
	switch {
	case g.anybody || has("all"):
		return yes
	case f.entity == flows.ClusterDNS:
		return of(g.dns || has("cluster"))
	case f.entity != "":
		return of(has(string(f.entity)))
	case f.namespace != "":
		if has("cluster") {
			return yes
		}
		meets := of(slices.Contains(g.namespaces, f.namespace) || slices.Contains(g.namespaces, anyNamespace))
		if g.narrow {
			return meets.and(maybe)
		}
		return meets
	case has("world"):
		return yes
	case f.internet:
		return g.meetsInternet(f.host)
	default:
		within := func(p netip.Prefix) bool { return p.Contains(f.addr) }
		return of(slices.ContainsFunc(g.prefixes, within) && !slices.ContainsFunc(g.except, within))
	}
}

// meetsInternet tells whether the grant reaches host on the internet, or all of
// it where host is empty.
func (g grant) meetsInternet(host string) verdict {
	private := func(p netip.Prefix) bool { return p.Addr().IsPrivate() }
	if slices.ContainsFunc(g.prefixes, func(p netip.Prefix) bool { return p.Bits() == 0 }) {
		return yes
	}
	for _, pattern := range g.hosts {
		if matched, err := path.Match(pattern, host); err == nil && matched && host != "" {
			return yes
		}
	}
	if host != "" && len(g.hosts) > 0 && strings.HasPrefix(host, ".") {
		for _, pattern := range g.hosts {
			if strings.HasSuffix(pattern, host) {
				return maybe // some name of the service
			}
		}
	}
	return of(slices.ContainsFunc(g.prefixes, func(p netip.Prefix) bool { return !private(p) })).and(maybe)
}

// decide is what the cluster's policies say to the pods of namespace about a
// connection in one direction.
func (c cluster) decide(namespace string, direction flows.Direction, f far, port string) decision {
	if !c.enforced {
		return decision{yes, "nothing in the cluster enforces policies"}
	}
	isolated, allowed, all := no, decision{no, ""}, []string{}
	for _, p := range c.policies {
		if p.direction != direction || p.namespace != "" && p.namespace != namespace {
			continue
		}
		about := maybe
		if p.whole {
			about = yes
		}
		for _, g := range p.denies {
			if m := g.meets(f, port).and(about); m != no {
				return decision{m.not(), namespace + "/" + p.name}
			}
		}
		if p.isolates {
			isolated = isolated.or(about)
			all = append(all, p.name)
		}
		for _, g := range p.allows {
			if m := g.meets(f, port).and(about); m > allowed.verdict {
				allowed = decision{m, namespace + "/" + p.name}
			}
		}
	}
	switch {
	case isolated == no:
		return decision{yes, "no policy of " + namespace}
	case allowed.verdict != no:
		return allowed
	case isolated == maybe:
		return decision{maybe, "policies of " + namespace + " about some pods"}
	default:
		slices.Sort(all)
		return decision{no, namespace + "/" + all[0]}
	}
}

// closed tells whether a policy denies every pod of namespace what nothing else
// allows it.
func (c cluster) closed(namespace string, direction flows.Direction) bool {
	return slices.ContainsFunc(c.policies, func(p policy) bool {
		return p.namespace == namespace && p.direction == direction && p.whole && p.isolates && len(p.allows) == 0 && len(p.denies) == 0
	})
}
