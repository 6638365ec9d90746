package core

import "fmt"

// peeringRemote: the other network exists or is somebody else's, is another
// one, has no second peering from here, and no common address (A038).
// https://learn.microsoft.com/azure/virtual-network/virtual-network-manage-peering
func peeringRemote(s State, r, _ *Resource) *Error {
	v := r.props("remoteVirtualNetwork.id")
	if !v.known() {
		return nil
	}
	remote, err := s.refer(r, "remoteVirtualNetwork", v, vnetType)
	if err != nil {
		return err
	}
	here := ParentOf(r.ID)
	if Key(v.text()) == Key(here) {
		return refuse(InvalidRequestFormat, "remoteVirtualNetwork", "remote network of "+r.ID, "the network itself", "another network", "pass the other network's id")
	}
	for _, other := range s.under(here) {
		if isType(other.Type, peeringType) && Key(other.ID) != Key(r.ID) && Key(other.props("remoteVirtualNetwork.id").text()) == Key(v.text()) {
			return refuse(Conflict, "remoteVirtualNetwork", "remote network of "+r.ID, v.text()+", which "+other.ID+" has too", "one peering for each pair", "drop one of them")
		}
	}
	mine, ok := spaceOf(s.network(here))
	theirs, ok2 := spaceOf(remote)
	if !ok || !ok2 {
		return nil
	}
	for _, p := range mine {
		for _, q := range theirs {
			if p.Overlaps(q) {
				return refuse(VnetAddressSpacesOverlap, "remoteVirtualNetwork", "peering "+r.ID, fmt.Sprintf("%s here and %s there", p, q), "address spaces that do not overlap", "renumber one of the networks")
			}
		}
	}
	return nil
}

func completePeering(s State, r, _ *Resource) {
	props := object(r.Body, "properties")
	setDefault(props, "allowVirtualNetworkAccess", true)
	for _, key := range []string{"allowForwardedTraffic", "allowGatewayTransit", "useRemoteGateways", "doNotVerifyRemoteGateways"} {
		setDefault(props, key, false)
	}
	setDefault(props, "peerCompleteVnets", true)
	props["resourceGuid"] = GUID(r, "resourceGuid")
	delete(props, "peeringState") // whatever the writer says: it is what viewPeering finds
}

// viewPeering: connected once the other side has its half.
func viewPeering(s State, r *Resource, body map[string]any) {
	props := object(body, "properties")
	remote := r.props("remoteVirtualNetwork.id").text()
	state := "Initiated"
	for _, other := range s.under(remote) {
		if isType(other.Type, peeringType) && Key(other.props("remoteVirtualNetwork.id").text()) == Key(ParentOf(r.ID)) {
			state = "Connected"
		}
	}
	props["peeringState"], props["peeringSyncLevel"] = state, "FullyInSync"
	if target, ok := s.Find(remote); ok {
		if space, ok := target.props("addressSpace").v.(map[string]any); ok {
			props["remoteAddressSpace"], props["remoteVirtualNetworkAddressSpace"] = copyValue(space), copyValue(space)
		}
	}
}
