package core

import (
	"strings"
	"testing"
)

// Each rule refuses by ARM's code what it must, and lets its legal neighbour pass.
func TestRules(t *testing.T) {
	t.Parallel()
	nsgID, ipID, natID, sub2 := net+"networkSecurityGroups/new", net+"publicIPAddresses/new", net+"natGateways/new", "/subscriptions/22222222-2222-2222-2222-222222222222"
	subnet := vnet + "/subnets/new"
	std := `{'location':'swedencentral','sku':{'name':'Standard'},'properties':{'publicIPAllocationMethod':'Static'}}`
	zone := net + "privateDnsZones/"
	for name, c := range map[string]struct {
		reason string
		method Method // Put if empty
		id     string
		body   string
		want   Code // "" for a legal neighbour
		text   string
	}{
		"A003 group missing":                 {reason: "a resource lives in a group", id: sub + "/resourceGroups/nope/providers/Microsoft.Network/virtualNetworks/vnet", body: `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.0.0.0/16']}}}`, want: ResourceGroupNotFound, text: "nope"},
		"A003 parent missing":                {reason: "a subnet lives in a network", id: net + "virtualNetworks/nope/subnets/a", body: `{'properties':{'addressPrefix':'10.0.9.0/24'}}`, want: ParentResourceNotFound},
		"A003 parent there":                  {reason: "neighbour", id: subnet, body: `{'properties':{'addressPrefix':'10.0.9.0/24'}}`},
		"A006 51 tags":                       {reason: "ARM's limit is 50", id: ipID, body: strings.TrimSuffix(std, "}") + `,'tags':{` + tags(51) + `}}`, want: TooManyTags},
		"A006 50 tags":                       {reason: "neighbour", id: ipID, body: strings.TrimSuffix(std, "}") + `,'tags':{` + tags(50) + `}}`},
		"A006 tag value of 257":              {reason: "ARM's limit is 256", id: ipID, body: strings.TrimSuffix(std, "}") + `,'tags':{'a':'` + strings.Repeat("x", 257) + `'}}`, want: InvalidTagValueLength},
		"A006 tag name of 513":               {reason: "ARM's limit is 512", id: ipID, body: strings.TrimSuffix(std, "}") + `,'tags':{'` + strings.Repeat("x", 513) + `':'a'}}`, want: InvalidTagNameLength},
		"A009 no location":                   {reason: "a regional resource has one", id: ipID, body: `{'sku':{'name':'Standard'},'properties':{'publicIPAllocationMethod':'Static'}}`, want: LocationRequired},
		"A009 moved":                         {reason: "a resource never moves", id: net + "publicIPAddresses/ip", body: strings.ReplaceAll(std, "swedencentral", "westeurope"), want: InvalidResourceLocation},
		"A013 unknown type":                  {reason: "refused by name", id: net + "virtualNetwork/v", body: `{}`, want: InvalidResourceType, text: "Microsoft.Network/virtualNetworks"},
		"A013 unknown property":              {reason: "refused with the nearest", id: subnet, body: `{'properties':{'adressPrefix':'10.0.9.0/24'}}`, want: InvalidRequestContent, text: "addressPrefix"},
		"A014 reference into our rg":         {reason: "must resolve", id: subnet, body: `{'properties':{'addressPrefix':'10.0.9.0/24','networkSecurityGroup':{'id':'$netnetworkSecurityGroups/nope'}}}`, want: InvalidResourceReference},
		"A014 reference elsewhere":           {reason: "is taken to exist", id: subnet, body: `{'properties':{'addressPrefix':'10.0.9.0/24','networkSecurityGroup':{'id':'` + sub + `/resourceGroups/hub/providers/Microsoft.Network/networkSecurityGroups/x'}}}`},
		"A014 child of foreign":              {reason: "a network we do not know may get a subnet", id: sub + "/resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub/subnets/a", body: `{'properties':{'addressPrefix':'10.7.0.0/24'}}`},
		"A020 outside":                       {reason: "a subnet is inside its network", id: subnet, body: `{'properties':{'addressPrefix':'10.2.0.0/24'}}`, want: NetcfgInvalidSubnet},
		"A020 host bits":                     {reason: "a block begins at its first address", id: subnet, body: `{'properties':{'addressPrefix':'10.0.9.5/24'}}`, want: NetcfgInvalidSubnet, text: "10.0.9.0/24"},
		"A020 no prefix":                     {reason: "a subnet has one", id: subnet, body: `{'properties':{}}`, want: NetcfgInvalidSubnet},
		"A021 overlap":                       {reason: "siblings are apart", id: subnet, body: `{'properties':{'addressPrefix':'10.0.1.128/25'}}`, want: NetcfgSubnetRangesOverlap, text: "subnet a"},
		"A021 adjacent":                      {reason: "neighbour", id: subnet, body: `{'properties':{'addressPrefix':'10.0.0.0/24'}}`},
		"A022 /30":                           {reason: "Azure keeps five addresses", id: subnet, body: `{'properties':{'addressPrefix':'10.0.9.0/30'}}`, want: NetcfgInvalidSubnet, text: "/29"},
		"A022 /29":                           {reason: "neighbour", id: subnet, body: `{'properties':{'addressPrefix':'10.0.9.0/29'}}`},
		"A023 two delegations":               {reason: "a service owns its subnet", id: subnet, body: `{'properties':{'addressPrefix':'10.0.9.0/24','delegations':[{'name':'a','properties':{'serviceName':'Microsoft.Web/serverFarms'}},{'name':'b','properties':{'serviceName':'Microsoft.App/environments'}}]}}`, want: InvalidRequestFormat},
		"A023 unknown service":               {reason: "the service exists", id: subnet, body: `{'properties':{'addressPrefix':'10.0.9.0/24','delegations':[{'name':'a','properties':{'serviceName':'Microsoft.Web/serverFarm'}}]}}`, want: InvalidRequestFormat, text: "Microsoft.Web/serverFarms"},
		"A023 one delegation":                {reason: "neighbour", id: subnet, body: `{'properties':{'addressPrefix':'10.0.9.0/24','delegations':[{'name':'a','properties':{'serviceName':'Microsoft.Web/serverFarms'}}]}}`},
		"A024 other subscription":            {reason: "same subscription", id: subnet, body: `{'properties':{'addressPrefix':'10.0.9.0/24','networkSecurityGroup':{'id':'` + sub2 + `/resourceGroups/hub/providers/Microsoft.Network/networkSecurityGroups/known'}}}`, want: InvalidResourceReference, text: "subscription"},
		"A024 other region":                  {reason: "same region", id: subnet, body: `{'properties':{'addressPrefix':'10.0.9.0/24','networkSecurityGroup':{'id':'` + sub + `/resourceGroups/hub/providers/Microsoft.Network/networkSecurityGroups/far'}}}`, want: InvalidResourceReference, text: "swedencentral"},
		"A025 group in use":                  {reason: "attached to subnet a", method: Delete, id: net + "networkSecurityGroups/nsg", want: InUseNSG},
		"A026 gateway in use":                {reason: "attached to subnet a", method: Delete, id: net + "natGateways/nat", want: InUseNatGateway},
		"A026 table in use":                  {reason: "attached to subnet a", method: Delete, id: net + "routeTables/routes", want: InUseRouteTable},
		"A026 address in use":                {reason: "attached to nat", method: Delete, id: net + "publicIPAddresses/ip", want: PublicIPInUse},
		"A026 spare address":                 {reason: "neighbour", method: Delete, id: net + "publicIPAddresses/spare"},
		"A027 subnet in use":                 {reason: "an endpoint sits in it", method: Delete, id: vnet + "/subnets/busy", want: InUseSubnet},
		"A027 network in use":                {reason: "its subnet is", method: Delete, id: vnet, want: InUseSubnet},
		"A027 idle subnet":                   {reason: "neighbour", method: Delete, id: vnet + "/subnets/a"},
		"A028 priority 99":                   {reason: "100..4096", id: nsgID, body: nsg(nsgRule("a", 99)), want: InvalidRequestContent},
		"A028 priority 4096":                 {reason: "neighbour", id: nsgID, body: nsg(nsgRule("a", 4096))},
		"A028 same priority":                 {reason: "unique for a direction", id: nsgID, body: nsg(nsgRule("a", 100), nsgRule("b", 100)), want: SecurityRuleConflict},
		"A028 same, other direction":         {reason: "neighbour", id: nsgID, body: nsg(nsgRule("a", 100), nsgRule("b", 100, `{'direction':'Outbound'}`))},
		"A029 same name":                     {reason: "names are unique", id: nsgID, body: nsg(nsgRule("a", 100), nsgRule("A", 101)), want: SecurityRuleConflict},
		"A030 port 70000":                    {reason: "0..65535", id: nsgID, body: nsg(nsgRule("a", 100, `{'destinationPortRange':'70000'}`)), want: SecurityRuleInvalidPortRange},
		"A030 range backwards":               {reason: "from is not above to", id: nsgID, body: nsg(nsgRule("a", 100, `{'destinationPortRange':'90-80'}`)), want: SecurityRuleInvalidPortRange},
		"A030 range":                         {reason: "neighbour", id: nsgID, body: nsg(nsgRule("a", 100, `{'destinationPortRange':'80-90'}`))},
		"A030 star in a port list":           {reason: "a list takes no *", id: nsgID, body: nsg(nsgRule("a", 100, `{'destinationPortRange':null,'destinationPortRanges':['*']}`)), want: SecurityRuleInvalidPortRanges},
		"A031 typo in a tag":                 {reason: "a tag is a known one", id: nsgID, body: nsg(nsgRule("a", 100, `{'sourceAddressPrefix':'VirtualNetworks'}`)), want: SecurityRuleInvalidAddressPrefix, text: "nearest is VirtualNetwork"},
		"A031 regional tag":                  {reason: "neighbour", id: nsgID, body: nsg(nsgRule("a", 100, `{'sourceAddressPrefix':'Storage.SwedenCentral'}`))},
		"A031 tag in a list":                 {reason: "a list takes no tags", id: nsgID, body: nsg(nsgRule("a", 100, `{'sourceAddressPrefix':null,'sourceAddressPrefixes':['VirtualNetwork']}`)), want: SecurityRuleUnsupportedValue},
		"A031 blocks in a list":              {reason: "neighbour", id: nsgID, body: nsg(nsgRule("a", 100, `{'sourceAddressPrefix':null,'sourceAddressPrefixes':['10.0.0.0/8','192.0.2.1']}`))},
		"A032 orphan":                        {reason: "a subnet would fall out", id: vnet, body: `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.2.0.0/16']}}}`, want: NetcfgInvalidSubnet, text: "subnet a"},
		"A032 widened":                       {reason: "neighbour", id: vnet, body: `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.0.0.0/16','10.2.0.0/16']}}}`},
		"A032 overlapping blocks":            {reason: "blocks are apart", id: vnet, body: `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.0.0.0/16','10.0.0.0/8']}}}`, want: NetcfgSubnetRangesOverlap},
		"A034 dynamic":                       {reason: "Standard is static", id: ipID, body: strings.ReplaceAll(std, "Static", "Dynamic"), want: InvalidRequestFormat},
		"A034 basic":                         {reason: "retired", id: ipID, body: strings.ReplaceAll(std, "Standard", "Basic"), want: OperationNotAllowed},
		"A034 zones change":                  {reason: "zones are fixed", id: net + "publicIPAddresses/ip", body: strings.TrimSuffix(std, "}") + `,'zones':['3']}`, want: ZonesFixed},
		"A034 zones reordered":               {reason: "neighbour", id: net + "publicIPAddresses/ip", body: strings.TrimSuffix(std, "}") + `,'zones':['1','2']}`},
		"A034 wrong zone":                    {reason: "gateway and address share a zone", id: natID, body: `{'location':'swedencentral','sku':{'name':'Standard'},'zones':['3'],'properties':{'publicIpAddresses':[{'id':'` + net + `publicIPAddresses/zone1'}]}}`, want: NatGatewayZoneMismatch},
		"A034 right zone":                    {reason: "neighbour", id: natID, body: `{'location':'swedencentral','sku':{'name':'Standard'},'zones':['1'],'properties':{'publicIpAddresses':[{'id':'` + net + `publicIPAddresses/zone1'}]}}`},
		"A034 address taken":                 {reason: "an address has one gateway", id: natID, body: `{'location':'swedencentral','sku':{'name':'Standard'},'properties':{'publicIpAddresses':[{'id':'$netpublicIPAddresses/ip'}]}}`, want: Conflict},
		"A034 idle 121":                      {reason: "4..120 minutes", id: natID, body: `{'location':'swedencentral','sku':{'name':'Standard'},'properties':{'idleTimeoutInMinutes':121}}`, want: InvalidRequestContent},
		"A034 idle 120":                      {reason: "neighbour", id: natID, body: `{'location':'swedencentral','sku':{'name':'Standard'},'properties':{'idleTimeoutInMinutes':120}}`},
		"A035 one label":                     {reason: "two at least", id: zone + "internal", body: `{'location':'global'}`, want: InvalidResourceName},
		"A035 reserved":                      {reason: "Azure's own", id: zone + "azure.com", body: `{'location':'global'}`, want: InvalidResourceName, text: "privatelink.azure.com"},
		"A035 privatelink":                   {reason: "neighbour", id: zone + "privatelink.azure.com", body: `{'location':'global'}`},
		"A035 in a region":                   {reason: "zones are global", id: zone + "x.internal", body: `{'location':'swedencentral'}`, want: InvalidResourceLocation},
		"A036 second link":                   {reason: "one for each pair", id: zone + "corp.internal/virtualNetworkLinks/again", body: `{'location':'global','properties':{'registrationEnabled':false,'virtualNetwork':{'id':'$vnet'}}}`, want: Conflict},
		"A036 other network":                 {reason: "neighbour", id: zone + "corp.internal/virtualNetworkLinks/spoke", body: `{'location':'global','properties':{'registrationEnabled':false,'virtualNetwork':{'id':'$netvirtualNetworks/spoke'}}}`},
		"A036 second registration":           {reason: "one registering zone", id: zone + "lab.internal/virtualNetworkLinks/vnet", body: `{'location':'global','properties':{'registrationEnabled':true,'virtualNetwork':{'id':'$vnet'}}}`, want: Conflict},
		"A036 resolution only":               {reason: "neighbour", id: zone + "lab.internal/virtualNetworkLinks/vnet", body: `{'location':'global','properties':{'registrationEnabled':false,'virtualNetwork':{'id':'$vnet'}}}`},
		"A037 zone with links":               {reason: "nested resources", method: Delete, id: zone + "corp.internal", want: CannotDeleteResource},
		"A037 zone without":                  {reason: "neighbour", method: Delete, id: zone + "lab.internal"},
		"A038 overlapping spaces":            {reason: "addresses are apart", id: vnet + "/virtualNetworkPeerings/clash", body: `{'properties':{'remoteVirtualNetwork':{'id':'$netvirtualNetworks/clash'}}}`, want: VnetAddressSpacesOverlap},
		"A038 apart":                         {reason: "neighbour", id: vnet + "/virtualNetworkPeerings/spoke", body: `{'properties':{'remoteVirtualNetwork':{'id':'$netvirtualNetworks/spoke'}}}`},
		"A038 itself":                        {reason: "another network", id: vnet + "/virtualNetworkPeerings/self", body: `{'properties':{'remoteVirtualNetwork':{'id':'$vnet'}}}`, want: InvalidRequestFormat},
		"A038 foreign":                       {reason: "taken to exist", id: vnet + "/virtualNetworkPeerings/hub", body: `{'properties':{'remoteVirtualNetwork':{'id':'` + sub2 + `/resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub'}}}`},
		"A029 no name":                       {reason: "a rule has one", id: nsgID, body: nsg(nsgRule("", 100)), want: InvalidRequestFormat},
		"A023 delegation of a subnet in use": {reason: "its service owns it", id: vnet + "/subnets/web", body: `{'properties':{'addressPrefix':'10.0.7.0/24'}}`, want: Conflict},
		"A023 delegation kept":               {reason: "neighbour", id: vnet + "/subnets/web", body: `{'properties':{'addressPrefix':'10.0.7.0/24','delegations':[{'name':'a','properties':{'serviceName':'Microsoft.Web/serverFarms'}}]}}`},
		"A034 address of the old kind":       {reason: "a gateway wants Standard addresses", id: natID, body: `{'location':'swedencentral','sku':{'name':'Standard'},'properties':{'publicIpAddresses':[{'id':'` + sub + `/resourceGroups/hub/providers/Microsoft.Network/publicIPAddresses/basic'}]}}`, want: NatGatewayPublicIPSku},
		"A102 endpoint in a missing subnet":  {reason: "it sits in one", id: net + "privateEndpoints/new", body: `{'location':'swedencentral','properties':{'subnet':{'id':'$vnet/subnets/nope'}}}`, want: InvalidResourceReference},
		"A102 endpoint in another region":    {reason: "it sits in the network's region", id: net + "privateEndpoints/new", body: `{'location':'westeurope','properties':{'subnet':{'id':'$vnet/subnets/endpoints'}}}`, want: InvalidResourceReference},
		"A102 endpoint":                      {reason: "neighbour", id: net + "privateEndpoints/new", body: `{'location':'swedencentral','properties':{'subnet':{'id':'$vnet/subnets/endpoints'}}}`},
		"A042 appliance":                     {reason: "a next hop needs its address", id: net + "routeTables/new", body: `{'location':'swedencentral','properties':{'routes':[{'name':'r','properties':{'addressPrefix':'0.0.0.0/0','nextHopType':'VirtualAppliance'}}]}}`, want: InvalidRequestFormat},
		"A042 appliance with address":        {reason: "neighbour", id: net + "routeTables/new", body: `{'location':'swedencentral','properties':{'routes':[{'name':'r','properties':{'addressPrefix':'0.0.0.0/0','nextHopType':'VirtualAppliance','nextHopIpAddress':'10.0.0.4'}}]}}`},
		"A050 29 days":                       {reason: "30..730", id: ws, body: `{'location':'swedencentral','properties':{'retentionInDays':29}}`, want: InvalidParameter},
		"A050 730 days":                      {reason: "neighbour", id: ws, body: `{'location':'swedencentral','properties':{'retentionInDays':730}}`},
		"A051 quota 0":                       {reason: "-1 or more than 0", id: ws, body: `{'location':'swedencentral','properties':{'workspaceCapping':{'dailyQuotaGb':0}}}`, want: InvalidParameter},
		"A051 quota -1":                      {reason: "neighbour", id: ws, body: `{'location':'swedencentral','properties':{'workspaceCapping':{'dailyQuotaGb':-1}}}`},
		"A060 no workspace":                  {reason: "classic is retired", id: mon + "components/new", body: `{'location':'swedencentral','kind':'web','properties':{'Application_Type':'web'}}`, want: BadRequest},
		"A060 workspace missing":             {reason: "it exists", id: mon + "components/new", body: `{'location':'swedencentral','kind':'web','properties':{'Application_Type':'web','WorkspaceResourceId':'$rg/providers/Microsoft.OperationalInsights/workspaces/nope'}}`, want: InvalidResourceReference},
		"A060 retention 31":                  {reason: "from a list", id: app, body: `{'location':'swedencentral','kind':'web','properties':{'Application_Type':'web','WorkspaceResourceId':'$ws','RetentionInDays':31}}`, want: InvalidParameter},
		"A062 13 characters":                 {reason: "12 at most", id: mon + "actionGroups/new", body: `{'location':'Global','properties':{'enabled':true,'groupShortName':'abcdefghijklm'}}`, want: InvalidRequestContent},
		"A062 12 characters":                 {reason: "neighbour", id: mon + "actionGroups/new", body: `{'location':'Global','properties':{'enabled':true,'groupShortName':'abcdefghijkl'}}`},
		"A062 no address":                    {reason: "mail goes somewhere", id: mon + "actionGroups/new", body: `{'location':'Global','properties':{'enabled':true,'groupShortName':'a','emailReceivers':[{'name':'x','emailAddress':'nobody'}]}}`, want: InvalidParameter},
		"A062 same receiver":                 {reason: "names are unique", id: mon + "actionGroups/new", body: `{'location':'Global','properties':{'enabled':true,'groupShortName':'a','emailReceivers':[{'name':'x','emailAddress':'a@example.org'}],'webhookReceivers':[{'name':'x','serviceUri':'https://example.org'}]}}`, want: InvalidParameter},
		"A062 region":                        {reason: "global or a few regions", id: mon + "actionGroups/new", body: `{'location':'westeurope','properties':{'enabled':true,'groupShortName':'a'}}`, want: LocationNotAvailable},
		"A063 unknown detector":              {reason: "a published one", id: anomalies, body: detector(`{'detector':{'id':'FailureDetector'}}`), want: BadRequest, text: "FailureAnomaliesDetector"},
		"A063 too often":                     {reason: "a minute at least", id: anomalies, body: detector(`{'frequency':'PT30S'}`), want: BadRequest},
		"A063 hourly":                        {reason: "neighbour", id: anomalies, body: detector(`{'frequency':'PT1H'}`)},
		"A063 scope missing":                 {reason: "the component exists", id: anomalies, body: detector(`{'scope':['` + mon + `components/nope']}`), want: InvalidResourceReference},
		"A063 no action group":               {reason: "it exists", id: anomalies, body: detector(`{'actionGroups':{'groupIds':['` + mon + `actionGroups/nope']}}`), want: InvalidResourceReference},
		"A003 wrong kind of reference":       {reason: "a reference has a type", id: subnet, body: `{'properties':{'addressPrefix':'10.0.9.0/24','networkSecurityGroup':{'id':'$vnet'}}}`, want: InvalidResourceReference, text: "networksecuritygroups"},
		"A006 tag name with a slash":         {reason: "ARM forbids it", id: ipID, body: strings.TrimSuffix(std, "}") + `,'tags':{'a/b':'c'}}`, want: InvalidTagNameLength},
		"A020 no block":                      {reason: "a prefix is a block", id: subnet, body: `{'properties':{'addressPrefix':'10.0.9.0'}}`, want: NetcfgInvalidSubnet},
		"A022 IPv6 /63":                      {reason: "/64 is the only size", id: subnet, body: `{'properties':{'addressPrefixes':['10.0.9.0/24','fd00::/63']}}`, want: NetcfgInvalidSubnet, text: "/64"},
		"A030 no port":                       {reason: "a rule has ports", id: nsgID, body: nsg(nsgRule("a", 100, `{'destinationPortRange':null}`)), want: SecurityRuleInvalidPortRange},
		"A030 no address":                    {reason: "a rule has addresses", id: nsgID, body: nsg(nsgRule("a", 100, `{'sourceAddressPrefix':null}`)), want: SecurityRuleInvalidAddressPrefix},
		"A030 nonsense in a list":            {reason: "a list holds blocks", id: nsgID, body: nsg(nsgRule("a", 100, `{'sourceAddressPrefix':null,'sourceAddressPrefixes':['10.0.0']}`)), want: SecurityRuleInvalidAddressPrefix},
		"A032 no block":                      {reason: "a network has a space", id: vnet, body: `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':[]}}}`, want: InvalidRequestFormat},
		"A032 nonsense":                      {reason: "a space is of blocks", id: vnet, body: `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.0.0.0']}}}`, want: InvalidRequestFormat},
		"A032 host bits":                     {reason: "a block begins at its first address", id: vnet, body: `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.0.0.1/16']}}}`, want: InvalidRequestFormat},
		"A033 two inline of one name":        {reason: "names are unique", id: vnet, body: `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.0.0.0/16']},'subnets':[{'name':'x','properties':{'addressPrefix':'10.0.1.0/24'}},{'name':'X','properties':{'addressPrefix':'10.0.2.0/24'}}]}}`, want: InvalidRequestFormat},
		"A033 inline overlap":                {reason: "inline subnets are subnets", id: vnet, body: `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.0.0.0/16']},'subnets':[{'name':'x','properties':{'addressPrefix':'10.0.1.0/24'}},{'name':'y','properties':{'addressPrefix':'10.0.1.0/25'}}]}}`, want: NetcfgSubnetRangesOverlap},
		"A033 inline":                        {reason: "neighbour", id: vnet, body: `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.0.0.0/16']},'subnets':[{'name':'x','properties':{'addressPrefix':'10.0.1.0/24'}}]}}`},
		"A034 version changes":               {reason: "set once", id: net + "publicIPAddresses/spare", body: strings.ReplaceAll(std, "'Static'", "'Static','publicIPAddressVersion':'IPv6'"), want: PropertyChangeNotAllowed},
		"A034 no sku":                        {reason: "a gateway is Standard", id: natID, body: `{'location':'swedencentral'}`, want: InvalidRequestFormat},
		"A034 two zones":                     {reason: "a gateway is zonal", id: natID, body: `{'location':'swedencentral','sku':{'name':'Standard'},'zones':['1','2']}`, want: InvalidRequestFormat},
		"A036 link moves":                    {reason: "a link keeps its network", id: zone + "corp.internal/virtualNetworkLinks/vnet", body: `{'location':'global','properties':{'registrationEnabled':true,'virtualNetwork':{'id':'$netvirtualNetworks/spoke'}}}`, want: PropertyChangeNotAllowed},
		"A038 second peering":                {reason: "one for each pair", id: vnet + "/virtualNetworkPeerings/again", body: `{'properties':{'remoteVirtualNetwork':{'id':'$netvirtualNetworks/spoke'}}}`, want: Conflict},
		"A042 two routes of one name":        {reason: "names are unique", id: net + "routeTables/new", body: `{'location':'swedencentral','properties':{'routes':[{'name':'r','properties':{'addressPrefix':'10.1.0.0/16','nextHopType':'None'}},{'name':'r','properties':{'addressPrefix':'10.2.0.0/16','nextHopType':'None'}}]}}`, want: InvalidRequestFormat},
		"A042 two routes of one prefix":      {reason: "prefixes are unique", id: net + "routeTables/new", body: `{'location':'swedencentral','properties':{'routes':[{'name':'r','properties':{'addressPrefix':'10.1.0.0/16','nextHopType':'None'}},{'name':'s','properties':{'addressPrefix':'10.1.0.0/16','nextHopType':'None'}}]}}`, want: InvalidRequestFormat},
		"A042 nonsense":                      {reason: "a prefix is a block or a tag", id: net + "routeTables/new", body: `{'location':'swedencentral','properties':{'routes':[{'name':'r','properties':{'addressPrefix':'AzureCloudy','nextHopType':'None'}}]}}`, want: InvalidRequestFormat, text: "AzureCloud"},
		"A060 sampling 101":                  {reason: "percent", id: app, body: `{'location':'swedencentral','kind':'web','properties':{'Application_Type':'web','WorkspaceResourceId':'$ws','SamplingPercentage':101}}`, want: InvalidRequestContent},
		"A062 webhook without host":          {reason: "an address", id: mon + "actionGroups/new", body: `{'location':'Global','properties':{'enabled':true,'groupShortName':'a','webhookReceivers':[{'name':'x','serviceUri':'example'}]}}`, want: InvalidParameter},
		"A063 in a region":                   {reason: "rules are global", id: anomalies + " 2", body: strings.Replace(detector(""), "'global'", "'swedencentral'", 1), want: LocationNotAvailable},
		"A063 no scope":                      {reason: "it watches something", id: anomalies, body: detector(`{'scope':[]}`), want: BadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Seed(platform(t),
				Resource{ID: sub2 + "/resourceGroups/hub/providers/Microsoft.Network/networkSecurityGroups/known", Body: map[string]any{"location": "swedencentral"}},
				Resource{ID: sub + "/resourceGroups/hub/providers/Microsoft.Network/networkSecurityGroups/far", Body: map[string]any{"location": "westus"}},
				Resource{ID: sub + "/resourceGroups/hub/providers/Microsoft.Network/publicIPAddresses/basic", Body: map[string]any{"location": "swedencentral", "sku": map[string]any{"name": "Basic"}}})
			if strings.HasPrefix(name, "A023 delegation") {
				s = must(t, s, vnet+"/subnets/web", `{'properties':{'addressPrefix':'10.0.7.0/24'}}`)
				s = must(t, s, net+"privateEndpoints/web", `{'location':'swedencentral','properties':{'subnet':{'id':'$vnet/subnets/web'}}}`)
				s = must(t, s, vnet+"/subnets/web", `{'properties':{'addressPrefix':'10.0.7.0/24','delegations':[{'name':'a','properties':{'serviceName':'Microsoft.Web/serverFarms'}}]}}`)
			}
			if strings.HasPrefix(name, "A034") {
				s = must(t, s, net+"publicIPAddresses/zone1", strings.TrimSuffix(std, "}")+`,'zones':['1']}`)
			}
			if name == "A038 second peering" {
				s = must(t, s, vnet+"/virtualNetworkPeerings/spoke", `{'properties':{'remoteVirtualNetwork':{'id':'$netvirtualNetworks/spoke'}}}`)
			}
			if strings.HasPrefix(name, "A027") {
				s = must(t, s, vnet+"/subnets/busy", `{'properties':{'addressPrefix':'10.0.8.0/24'}}`)
				s = must(t, s, net+"privateEndpoints/pe", `{'location':'swedencentral','properties':{'subnet':{'id':'$vnet/subnets/busy'}}}`)
			}
			op := Op{Method: c.method, ID: c.id, Instant: true}
			if op.Method == "" {
				op.Method, op.Body = Put, j(t, c.body)
			}
			_, a := Apply(s, op)
			switch {
			case c.want == "" && a.Error != nil:
				t.Errorf("%s: refused: %v", c.reason, a.Error)
			case c.want != "" && a.Error == nil:
				t.Errorf("%s: accepted, want %s", c.reason, c.want)
			case a.Error != nil && a.Error.Code != c.want:
				t.Errorf("%s: %v, want %s", c.reason, a.Error, c.want)
			case a.Error != nil && !strings.Contains(a.Error.Message, c.text):
				t.Errorf("%s: message %q lacks %q", c.reason, a.Error.Message, c.text)
			case a.Error != nil && !(strings.Contains(a.Error.Message, "fix: ")):
				t.Errorf("%s: message %q names no remedy", c.reason, a.Error.Message)
			}
			// With the rules off only types are checked.
			op.TypesOnly = true
			if _, a := Apply(s, op); a.Error != nil && c.want != a.Error.Code {
				t.Errorf("%s: types only: %v", c.reason, a.Error)
			}
		})
	}
}

func tags(n int) string {
	var out []string
	for i := range n {
		out = append(out, "'t"+string(rune('a'+i/26))+string(rune('a'+i%26))+"':'v'")
	}
	return strings.Join(out, ",")
}
