package gateway

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"

	apimanagement "github.com/pulumi/pulumi-azure-native-sdk/apimanagement/v2/v20240501"
	vnet "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20240501"
	dns "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20240601"
	"github.com/pulumi/pulumi-azure-native-sdk/v2/utilities"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/az/apim"
	"onedoor/internal/az/netplan"
	"onedoor/internal/privatelink"
	"onedoor/internal/ref"
	armpatch "onedoor/plugins/armpatch/sdk"
)

// armType is the service's.
const armType = "Microsoft.ApiManagement/service"

// apiVersion is the one that the service is declared with.
const apiVersion = "2024-05-01"

// service is API Management. It is registered here and not by the SDK, whose
// constructor sends seven defaults that nobody asked for, one of which the
// Developer SKU refuses.
// https://github.com/pulumi/pulumi/issues/10298
type service struct {
	pulumi.CustomResourceState
	Identity           apimanagement.ApiManagementServiceIdentityResponsePtrOutput `pulumi:"identity"`
	PrivateIPAddresses pulumi.StringArrayOutput                                    `pulumi:"privateIPAddresses"`
}

// serviceToken is the type of the service. Another version of it needs an alias
// of this one, which the SDK would have added, or the service is replaced.
const serviceToken = "azure-native:apimanagement/v20240501:ApiManagementService"

// declare declares the service and makes it found. What it returns exists once
// callers reach it.
func (b *builder) declare() ([]pulumi.Resource, error) {
	scope, group := b.args.Scope, b.args.Group
	plain := b.args.name()
	b.id = scope.ResourceID(group.PlainName, armType, plain)
	kind, subnet := "External", b.args.Subnet.ID
	if b.args.Network.Internal && b.args.Network.Mode != netplan.Endpoint {
		kind = "Internal"
	}
	args := &apimanagement.ApiManagementServiceArgs{
		ServiceName:                 pulumi.String(plain),
		ResourceGroupName:           group.Name,
		Location:                    pulumi.String(scope.Location),
		Sku:                         apimanagement.ApiManagementServiceSkuPropertiesArgs{Name: pulumi.String(string(b.args.SKU.Name)), Capacity: pulumi.Int(b.args.SKU.Capacity)},
		PublisherName:               pulumi.String(b.args.Publisher.Name),
		PublisherEmail:              pulumi.String(b.args.Publisher.Email),
		VirtualNetworkType:          pulumi.String(kind),
		VirtualNetworkConfiguration: apimanagement.VirtualNetworkConfigurationArgs{SubnetResourceId: subnet},
		// The vault lets only the system identity in; the models know the other.
		Identity: apimanagement.ApiManagementServiceIdentityArgs{
			Type: pulumi.String("SystemAssigned, UserAssigned"),
			UserAssignedIdentities: b.args.Identity.ID.ApplyT(func(id string) map[string]apimanagement.UserIdentityProperties {
				return map[string]apimanagement.UserIdentityProperties{id: {}}
			}).(apimanagement.UserIdentityPropertiesMapOutput),
		},
		CustomProperties: b.args.protocols(),
		Tags:             scope.Tags(component),
	}
	keeps, err := b.keepsMode()
	if err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	opts := []pulumi.ResourceOption{b.in, keeps, pulumi.Protect(scope.Protect()), pulumi.DeleteBeforeReplace(true)} // its name is fixed
	switch b.args.Network.Mode {
	case netplan.Classic:
		address, err := b.address(plain)
		if err != nil {
			return nil, err
		}
		args.PublicIpAddressId = address
		if block, _ := pem.Decode([]byte(b.args.Authority)); block != nil {
			args.Certificates = apimanagement.CertificateConfigurationArray{apimanagement.CertificateConfigurationArgs{
				EncodedCertificate: pulumi.String(base64.StdEncoding.EncodeToString(block.Bytes)), StoreName: pulumi.String("Root"),
			}}
		}
		if len(b.args.SKU.Zones) > 0 {
			args.Zones = pulumi.ToStringArray(b.args.SKU.Zones)
		}
		// Moved to another subnet, the service holds on to the old one for hours.
		// https://learn.microsoft.com/azure/api-management/virtual-network-injection-resources
		opts = append(opts, pulumi.ReplaceOnChanges([]string{"virtualNetworkConfiguration.subnetResourceId"}))
	case netplan.Endpoint:
		opts = append(opts, pulumi.IgnoreChanges([]string{"publicNetworkAccess"})) // closed below
	}
	b.made = &service{}
	if err := b.ctx.RegisterResource(serviceToken, b.name, args, b.made, utilities.PkgResourceDefaultOpts(opts)...); err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	b.service = ref.After(pulumi.String(plain), b.made)
	switch {
	case b.args.zone() == "":
		return []pulumi.Resource{b.made}, nil
	case b.args.Network.Mode == netplan.Endpoint:
		return b.close()
	default:
		return b.record()
	}
}

// keepsMode refuses, in previews too, to turn a service into one of another mode.
// Azure changes no tier into one of another mode, a service holds on to its old
// subnet for hours, and a deleted one keeps its name.
// https://learn.microsoft.com/azure/api-management/upgrade-and-scale
func (b *builder) keepsMode() (pulumi.ResourceOption, error) {
	name := b.args.name()
	hook, err := b.ctx.RegisterResourceHook(b.name+"-keeps-its-mode", func(change *pulumi.ResourceHookArgs) error {
		was, now := modeOf(change.OldInputs), modeOf(change.NewInputs)
		if was == now || was == "" {
			return nil
		}
		return fmt.Errorf("gateway.mode: got %q, want %q, in which %s runs: Azure changes neither its tier nor its subnet from one mode to another. "+
			"Keep the mode; or make a second stack in mode %s, move the callers and destroy this one; "+
			"or destroy this stack, raise base.generation, since deleted names stay taken, and make it anew", now, was, name, now)
	}, &pulumi.ResourceHookOptions{OnDryRun: true})
	if err != nil {
		return nil, err
	}
	return pulumi.ResourceHooks(&pulumi.ResourceHookBinding{BeforeUpdate: []*pulumi.ResourceHook{hook}}), nil
}

// modeOf is the mode of a service with those inputs, "" where they do not tell.
func modeOf(inputs resource.PropertyMap) netplan.GatewayMode {
	sku := inputs["sku"]
	if !sku.IsObject() || !sku.ObjectValue()["name"].IsString() {
		return ""
	}
	tier, _ := apim.Lookup(apim.SKU(sku.ObjectValue()["name"].StringValue()))
	return tier.Mode
}

// address is the address that Azure manages an injected service through, and
// callers of an external one reach it at. It takes a DNS label.
// https://learn.microsoft.com/azure/api-management/api-management-using-with-vnet
func (b *builder) address(label string) (pulumi.StringOutput, error) {
	scope := b.args.Scope
	plain := scope.Name(az.PublicIPAddress, "gateway")
	made, err := vnet.NewPublicIPAddress(b.ctx, b.name+"-address", &vnet.PublicIPAddressArgs{
		PublicIpAddressName:      pulumi.String(plain),
		ResourceGroupName:        b.args.Group.Name,
		Location:                 pulumi.String(scope.Location),
		Sku:                      vnet.PublicIPAddressSkuArgs{Name: pulumi.String("Standard"), Tier: pulumi.String("Regional")},
		PublicIPAddressVersion:   pulumi.String("IPv4"),
		PublicIPAllocationMethod: pulumi.String("Static"),
		IdleTimeoutInMinutes:     pulumi.Int(4),
		DnsSettings:              vnet.PublicIPAddressDnsSettingsArgs{DomainNameLabel: pulumi.String(label)},
		Zones:                    pulumi.StringArray{pulumi.String("1"), pulumi.String("2"), pulumi.String("3")},
		Tags:                     scope.Tags(component),
	}, b.in, pulumi.Protect(scope.Protect())) // callers may have allowed it
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("address: %w", err)
	}
	return ref.After(pulumi.String(scope.ResourceID(b.args.Group.PlainName, "Microsoft.Network/publicIPAddresses", plain)), made), nil
}

// weak are the ciphers without forward secrecy or with CBC, which the classic
// tiers offer unless told otherwise; the others offer none of them.
// https://learn.microsoft.com/azure/api-management/api-management-howto-manage-protocols-ciphers
var weak = []string{
	"TripleDes168", "TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_RSA_WITH_AES_128_CBC_SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256",
	"TLS_RSA_WITH_AES_256_CBC_SHA", "TLS_RSA_WITH_AES_256_CBC_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
}

// protocols turns off what is older than TLS 1.2, on both sides, and weak
// ciphers.
func (a Args) protocols() pulumi.StringMap {
	const security = "Microsoft.WindowsAzure.ApiManagement.Gateway.Security."
	off := pulumi.StringMap{}
	for _, side := range []string{"Protocols.", "Backend.Protocols."} {
		for _, protocol := range []string{"Ssl30", "Tls10", "Tls11"} {
			off[security+side+protocol] = pulumi.String("False")
		}
	}
	if a.Network.Mode == netplan.Classic {
		for _, cipher := range weak {
			off[security+"Ciphers."+cipher] = pulumi.String("False")
		}
	}
	return off
}

// record gives the gateway's name its private address, in the zone of that one
// name.
func (b *builder) record() ([]pulumi.Resource, error) {
	zone := b.args.Zones[b.args.zone()]
	at, err := az.ParseID(zone.Plain)
	if err != nil {
		return nil, fmt.Errorf("zone: %w", err)
	}
	record, err := dns.NewPrivateRecordSet(b.ctx, b.name+"-record", &dns.PrivateRecordSetArgs{
		PrivateZoneName:       zoneName(zone),
		ResourceGroupName:     pulumi.String(at.ResourceGroup),
		RelativeRecordSetName: pulumi.String("@"),
		RecordType:            pulumi.String("A"),
		Ttl:                   pulumi.Float64(300),
		ARecords:              dns.ARecordArray{dns.ARecordArgs{Ipv4Address: b.made.PrivateIPAddresses.ApplyT(first).(pulumi.StringOutput).ToStringPtrOutput()}},
	}, b.in)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return []pulumi.Resource{b.made, record}, nil
}

// zoneName is the zone's name, once it resolves.
func zoneName(zone ref.Zone) pulumi.StringOutput {
	name := zone.Name
	return zone.ID.ApplyT(func(string) string { return name }).(pulumi.StringOutput)
}

// first is the first address; the others are those of further regions.
func first(addresses []string) (string, error) {
	if len(addresses) == 0 {
		return "", fmt.Errorf("the service has no private address")
	}
	return addresses[0], nil
}

// close puts the gateway behind a private endpoint and then closes its public
// address: Azure refuses to make a service without one.
// https://learn.microsoft.com/azure/api-management/private-endpoint
func (b *builder) close() ([]pulumi.Resource, error) {
	ready, err := privatelink.New(b.ctx, b.name, privatelink.Args{
		Scope: b.args.Scope, Component: component, Group: b.args.Group, Subnet: b.args.Doors,
		Target: ref.Ready(b.id, b.made), GroupID: "Gateway", Zone: b.args.zone(), Zones: b.args.Zones,
	}, b.in)
	if err != nil {
		return nil, err
	}
	// Any later write of the service could open it again, so what the service is
	// declared with triggers the patch.
	plain, err := json.Marshal(struct {
		Scope     az.Scope
		SKU       SKU
		Publisher Publisher
	}{b.args.Scope, b.args.SKU, b.args.Publisher})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(plain)
	closed, err := armpatch.NewPatch(b.ctx, b.name+"-closed", &armpatch.PatchArgs{
		ResourceID: ref.After(pulumi.String(b.id), append(slices.Clone(ready), b.made)...),
		APIVersion: pulumi.String(apiVersion),
		Properties: pulumi.Map{"properties": pulumi.Map{"publicNetworkAccess": pulumi.String("Disabled")}},
		Triggers:   pulumi.StringMap{"service": pulumi.String(hex.EncodeToString(sum[:8]))},
		OnDelete:   pulumi.String(armpatch.Keep), // it goes with the service
	}, b.in, pulumi.DeletedWith(b.made))
	if err != nil {
		return nil, fmt.Errorf("closing: %w", err)
	}
	// The service takes nothing while it is being changed.
	b.service = ref.After(pulumi.String(b.args.name()), closed)
	return append(ready, closed), nil
}
