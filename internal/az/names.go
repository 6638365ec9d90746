package az

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Rule is Azure's naming rule of one resource type.
// Source of every length and character set:
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules
type Rule struct {
	Prefix   string // what the name starts with, from Microsoft's list of abbreviations
	Max      int    // characters
	Unique   bool   // unique in all of Azure: the name ends in a hash of the subscription
	NoHyphen bool   // only lower-case letters and digits are legal
}

// The naming rules of the types that this project declares.
var (
	ResourceGroup        = Rule{Prefix: "rg", Max: 90}
	LogAnalytics         = Rule{Prefix: "log", Max: 63}
	ApplicationInsights  = Rule{Prefix: "appi", Max: 255}
	ActionGroup          = Rule{Prefix: "ag", Max: 260}
	VirtualNetwork       = Rule{Prefix: "vnet", Max: 63} // Azure allows 64; AKS turns it into a node label of 63
	Subnet               = Rule{Prefix: "snet", Max: 63} // Azure allows 80; AKS as above
	NetworkSecurityGroup = Rule{Prefix: "nsg", Max: 80}
	NatGateway           = Rule{Prefix: "ng", Max: 80}
	PublicIPAddress      = Rule{Prefix: "pip", Max: 80}
	Peering              = Rule{Prefix: "peer", Max: 80}
	DNSZoneLink          = Rule{Prefix: "link", Max: 80}
	APIManagement        = Rule{Prefix: "apim", Max: 50, Unique: true}
	ModelAccount         = Rule{Prefix: "oai", Max: 63, Unique: true} // Azure allows 64; it is a part of a host name too
	ManagedCluster       = Rule{Prefix: "aks", Max: 54}               // Azure allows 63; it is the DNS prefix too, which has 54
	FederatedCredential  = Rule{Prefix: "fic", Max: 120}
	UserAssignedIdentity = Rule{Prefix: "id", Max: 128}
	StorageAccount       = Rule{Prefix: "st", Max: 24, Unique: true, NoHyphen: true}
	KeyVault             = Rule{Prefix: "kv", Max: 24, Unique: true}
	ContainerRegistry    = Rule{Prefix: "cr", Max: 50, Unique: true, NoHyphen: true}
	ServiceBusNamespace  = Rule{Prefix: "sb", Max: 50, Unique: true}
	PrivateEndpoint      = Rule{Prefix: "pep", Max: 64}
	Alert                = Rule{Prefix: "alert", Max: 260}
	RuleGroup            = Rule{Prefix: "prg", Max: 260}
	MetricsWorkspace     = Rule{Prefix: "amw", Max: 63}
	DataCollection       = Rule{Prefix: "dc", Max: 44} // an endpoint's limit; a rule may have 64
)

// hashLength is the number of hex digits (24 bits) of a name's hash.
const hashLength = 6

// Name is the Azure name of the resource that parts describe, by rule: prefix,
// project, stack, parts, generation from the second on, and a hash where the
// name must be unique in all of Azure. A name that would be too long is cut and
// ends in a hash of the full one, so two long names stay distinct. The result
// is a plain string: previews and policies see it.
func (s Scope) Name(rule Rule, parts ...string) string {
	words := append([]string{rule.Prefix, s.Project, s.Stack}, parts...)
	if s.Generation > 1 {
		words = append(words, fmt.Sprintf("g%d", s.Generation))
	}
	full := sanitize(strings.Join(words, "-"))
	tail := ""
	if rule.Unique {
		tail = hash(s.SubscriptionID, full)
	}
	separator := "-"
	if rule.NoHyphen {
		separator, full = "", strings.ReplaceAll(full, "-", "")
	}
	room := rule.Max
	if tail != "" {
		room -= len(separator) + hashLength
	}
	if len(full) > room {
		if tail == "" {
			tail = hash(full)
			room -= len(separator) + hashLength
		}
		full = strings.TrimRight(full[:room], "-")
	}
	if tail == "" {
		return full
	}
	return full + separator + tail
}

// IsWord tells whether s can be a part of names as it is. Parts that cannot are
// made to fit, and two of them could then be alike.
func IsWord(s string) bool { return s != "" && sanitize(s) == s }

// sanitize keeps lower-case letters, digits and single hyphens.
func sanitize(s string) string {
	var b strings.Builder
	hyphen := false
	for _, r := range strings.ToLower(s) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
			hyphen = false
			continue
		}
		if !hyphen && b.Len() > 0 {
			b.WriteByte('-')
		}
		hyphen = true
	}
	return strings.TrimRight(b.String(), "-")
}

// hash is the first hex digits of the SHA-256 of words.
func hash(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:])[:hashLength]
}
