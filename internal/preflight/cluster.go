package preflight

import (
	"context"
	"net"
	"time"

	"onedoor/internal/azread"
)

// dialTimeout is how long a connection to the API server may take. A wall that drops
// packets never answers.
const dialTimeout = 10 * time.Second

// cluster judges whether the API server answers where this runs.
func (a *asking) cluster(ctx context.Context) {
	if a.Cluster == nil || !a.InCluster {
		return
	}
	got, found, err := a.Azure.Get(ctx, a.Cluster.ID, a.Cluster.APIVersion)
	var now struct {
		FQDN    string `json:"fqdn"`
		Private string `json:"privateFQDN"`
	}
	if err == nil && found {
		err = got.Into(&now)
	}
	switch {
	case err != nil:
		a.NotChecked(a.Cluster.Name, azread.Reason(err), ClusterReachable)
		return
	case !found && a.Private:
		a.NotChecked(a.Cluster.Name, "the cluster does not exist yet, and its API server will answer in its network alone: what the plan holds inside it can be made from there, or set cluster.inCluster to skip for the first update", ClusterReachable)
		return
	case !found:
		return // it will have an address that everybody can look up
	}
	host := now.FQDN
	if a.Private && now.Private != "" {
		host = now.Private
	}
	if host == "" {
		a.NotChecked(a.Cluster.Name, "Azure's answer has no name of the API server", ClusterReachable)
		return
	}
	if _, err := a.Resolve(ctx, host); err != nil {
		a.NotChecked(host, "the name cannot be looked up here: "+azread.Reason(err), ClusterReachable)
		return
	}
	a.Judged(ClusterReachable)
	if err := a.Dial(ctx, net.JoinHostPort(host, "443")); err != nil {
		a.Found(ClusterReachable, host, "does not take connections from here: %v", err)
	}
}
