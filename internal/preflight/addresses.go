package preflight

import (
	"context"
	"net/netip"
	"strings"

	"onedoor/internal/azread"
)

// network is what a peer shows of itself.
type network struct {
	Space    space `json:"addressSpace"`
	Peerings []struct {
		Properties struct {
			Remote struct {
				ID string `json:"id"`
			} `json:"remoteVirtualNetwork"`
			Space space `json:"remoteAddressSpace"`
		} `json:"properties"`
	} `json:"virtualNetworkPeerings"`
}

type space struct {
	Prefixes []netip.Prefix `json:"addressPrefixes"`
}

// addresses judges whether addresses are used twice.
func (a *asking) addresses(ctx context.Context) {
	for _, peer := range a.Peers {
		codes := []string{OverlapsPeer, ClusterOverlaps, OverlapsSpoke}
		got, found, err := a.Azure.Get(ctx, peer.ID, peer.APIVersion)
		var there network
		if err == nil && found {
			err = got.Into(&there)
		}
		switch {
		case err != nil:
			a.NotChecked(peer.ID, azread.Reason(err), codes...)
			continue
		case !found:
			a.NotChecked(peer.ID, "there is no such network, or the caller may not see it", codes...)
			continue
		case len(there.Space.Prefixes) == 0:
			a.NotChecked(peer.ID, "Azure's answer has no addresses", codes...)
			continue
		}
		a.Judged(codes...)
		for _, ours := range a.Ranges {
			code := OverlapsPeer
			if ours.Inside {
				code = ClusterOverlaps
			}
			for _, theirs := range there.Space.Prefixes {
				if ours.Prefix.Overlaps(theirs) {
					a.Found(code, peer.ID, "%s uses %s, and the peer %s", ours.What, ours.Prefix, theirs)
				}
			}
			if !ours.Inside {
				a.spokes(peer.ID, ours, there)
			}
		}
	}
}

// spokes judges the other networks that a hub is peered with.
func (a *asking) spokes(hub string, ours Range, there network) {
	for _, peering := range there.Peerings {
		other := peering.Properties
		if a.isOwn(other.Remote.ID) {
			continue
		}
		for _, theirs := range other.Space.Prefixes {
			if ours.Prefix.Overlaps(theirs) {
				a.Found(OverlapsSpoke, hub, "%s uses %s, and so does %s, which the peer is joined with, by %s", ours.What, ours.Prefix, other.Remote.ID, theirs)
			}
		}
	}
}

// isOwn tells whether a network is the plan's own: by its second update the hub lists
// it too.
func (a *asking) isOwn(id string) bool {
	for _, r := range a.Ranges {
		if name, is := strings.CutPrefix(r.What, "network "); is && strings.HasSuffix(strings.ToLower(id), "/virtualnetworks/"+strings.ToLower(name)) &&
			strings.Contains(strings.ToLower(id), strings.ToLower(a.Subscription)) {
			return true
		}
	}
	return false
}
