package core

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var label = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)

// reservedZones cannot be made as private zones (A035).
// https://learn.microsoft.com/azure/dns/private-dns-privatednszone#restrictions
var reservedZones = strings.Fields("azclient.ms azure.com cloudapp.net core.windows.net microsoft.com msidentity.com trafficmanager.net windows.net")

// zoneName: two to 34 labels of 1..63 characters, and not one of Azure's own (A035).
func zoneName(_ State, r, _ *Resource) *Error {
	name := strings.ToLower(Name(r.ID))
	labels := strings.Split(name, ".")
	good := len(labels) >= 2 && len(labels) <= 34 && len(name) <= 253
	for _, l := range labels {
		good = good && label.MatchString(l)
	}
	if !good {
		return refuse(InvalidResourceName, "name", "name of private zone "+r.ID, strconv.Quote(name), "2 to 34 labels of 1..63 letters, digits, _ and -, without a dot at the end", "use a name such as privatelink.blob.core.windows.net")
	}
	if slices.Contains(reservedZones, name) {
		return refuse(InvalidResourceName, "name", "name of private zone "+r.ID, strconv.Quote(name), "a name that Azure does not keep for itself", "use privatelink."+name+" or a name of your own")
	}
	return nil
}

func completeZone(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	props["maxNumberOfRecordSets"], props["maxNumberOfVirtualNetworkLinks"] = 25000.0, 1000.0
	props["maxNumberOfVirtualNetworkLinksWithRegistration"] = 100.0
}

func viewZone(s State, r *Resource, body map[string]any) {
	links, registering, records := 0.0, 0.0, 1.0 // the SOA record is always there
	for _, child := range s.under(r.ID) {
		if !strings.HasPrefix(strings.ToLower(child.Type), zoneType+"/") {
			continue // attached to the zone, such as a role assignment
		}
		if !isType(child.Type, linkType) {
			records++
			continue
		}
		links++
		if child.props("registrationEnabled").flag() {
			registering++
		}
	}
	props := object(body, "properties")
	props["numberOfRecordSets"], props["numberOfVirtualNetworkLinks"] = records, links
	props["numberOfVirtualNetworkLinksWithRegistration"] = registering
}

// zoneInUse: a zone with links stays; the deletion of its group takes both (A037).
func zoneInUse(s State, r, with *Resource) *Error {
	if Key(r.ID) != Key(with.ID) {
		return nil
	}
	for _, child := range s.under(r.ID) {
		if isType(child.Type, linkType) {
			return refuse(CannotDeleteResource, r.ID, "deletion of "+r.ID, "a zone with nested resources such as "+child.ID, "one without links", "delete the links first")
		}
	}
	return nil
}

// linkNetwork: the network exists, one link for each network and zone, no two
// zones of one name for a network, one registering zone for each network (A036).
// https://learn.microsoft.com/azure/dns/private-dns-virtual-network-links
func linkNetwork(s State, r, old *Resource) *Error {
	v := r.props("virtualNetwork.id")
	if !v.known() {
		return nil
	}
	if _, err := s.refer(r, "virtualNetwork", v, vnetType); err != nil {
		return err
	}
	if old != nil {
		if was := old.props("virtualNetwork.id"); was.known() && Key(was.text()) != Key(v.text()) {
			return refuse(PropertyChangeNotAllowed, "virtualNetwork", "network of "+r.ID, v.text(), was.text()+", which was set when it was made", "replace the link")
		}
	}
	zone := Name(ParentOf(r.ID))
	for _, key := range sortedKeys(s.Resources) {
		other := s.Resources[key]
		if !isType(other.Type, linkType) || key == Key(r.ID) || other.Provisioning == Deleting || Key(other.props("virtualNetwork.id").text()) != Key(v.text()) {
			continue
		}
		if strings.EqualFold(Name(ParentOf(other.ID)), zone) {
			return refuse(Conflict, "virtualNetwork", "network of "+r.ID, fmt.Sprintf("%s, which %s links to a zone of the same name", v.text(), other.ID), "one link for each network and zone name", "drop one of the links")
		}
		if r.props("registrationEnabled").flag() && other.props("registrationEnabled").flag() {
			return refuse(Conflict, "registrationEnabled", "registration of "+r.ID, "true, as in "+other.ID, "one registering zone for each network", "set registrationEnabled to false on one of them")
		}
	}
	return nil
}

func completeLink(_ State, r, _ *Resource) {
	setDefault(object(r.Body, "properties"), "registrationEnabled", false)
}

func viewLink(_ State, r *Resource, body map[string]any) {
	state := "InProgress"
	if r.Provisioning == Succeeded {
		state = "Completed"
	}
	object(body, "properties")["virtualNetworkLinkState"] = state
}
