package core

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const (
	gateways = rg + "/providers/Microsoft.ApiManagement/service/"
	gw       = gateways + "onedoor-dev"
	gwV2     = gateways + "onedoor-v2"
	gwPrem   = gateways + "onedoor-prem"
	kv       = rg + "/providers/Microsoft.KeyVault/vaults/"
	aPolicy  = `<policies><inbound><base /></inbound><backend><base /></backend><outbound><base /></outbound><on-error><base /></on-error></policies>`
)

// gateway is the body of a service.
func gateway(sku string, units int, props string, more ...string) string {
	if props != "" {
		props = "," + props
	}
	return fmt.Sprintf(`{'location':'swedencentral','sku':{'name':'%s','capacity':%d},'properties':{'publisherEmail':'a@example.org','publisherName':'a'%s}%s}`, sku, units, props, strings.Join(more, ""))
}

func properties(p string) string { return `{'properties':{` + p + `}}` }

// policy is the body of a policy in raw XML; " becomes \".
func policy(document, format string) string {
	return `{'properties':{'format':'` + format + `','value':'` + strings.ReplaceAll(document, `"`, `\"`) + `'}}`
}

const grantPath = "/providers/Microsoft.Authorization/roleAssignments/"

// served adds gateways and what they need to the landscape.
func servedBy(t testing.TB) State {
	t.Helper()
	s := platform(t)
	subnet := func(prefix, delegation string) string {
		out := `{'properties':{'addressPrefix':'` + prefix + `','networkSecurityGroup':{'id':'$netnetworkSecurityGroups/nsg'}`
		if delegation != "" {
			out += `,'delegations':[{'name':'d','properties':{'serviceName':'` + delegation + `'}}]`
		}
		return out + `}}`
	}
	vault := func(more string) string {
		return `{'location':'swedencentral','properties':{'tenantId':'` + tenant + `','sku':{'family':'A','name':'standard'},'enableRbacAuthorization':true` + more + `}}`
	}
	for _, r := range []struct{ id, body string }{
		{vnet + "/subnets/gw", subnet("10.0.10.0/27", "")},
		{vnet + "/subnets/tiny", subnet("10.0.10.32/29", "")},
		{vnet + "/subnets/farms", subnet("10.0.10.64/27", "Microsoft.Web/serverFarms")},
		{vnet + "/subnets/small", subnet("10.0.10.96/29", "Microsoft.Web/serverFarms")},
		{vnet + "/subnets/hosts", subnet("10.0.10.128/27", "Microsoft.Web/hostingEnvironments")},
		{vnet + "/subnets/used", subnet("10.0.10.160/27", "Microsoft.Web/serverFarms")},
		{net + "publicIPAddresses/label", `{'location':'swedencentral','sku':{'name':'Standard'},'properties':{'publicIPAllocationMethod':'Static','dnsSettings':{'domainNameLabel':'onedoor'}}}`},
		{rg + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/models", `{'location':'swedencentral'}`},
		{rg + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/other", `{'location':'swedencentral'}`},
		{gw, gateway("Developer", 1, "", `,'identity':{'type':'SystemAssigned, UserAssigned','userAssignedIdentities':{'$rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/models':{}}}`)},
		{gwV2, gateway("StandardV2", 1, `'virtualNetworkType':'External','virtualNetworkConfiguration':{'subnetResourceId':'$vnet/subnets/used'}`)},
		{gwPrem, gateway("Premium", 3, "")},
		{gateways + "onedoor-cons", gateway("Consumption", 0, "")},
		{gateways + "onedoor-basic2", gateway("BasicV2", 1, "")},
		{gw + "/backends/chat", properties(`'protocol':'http','url':'https://onedoor-sync.openai.azure.com/openai'`)},
		{gw + "/backends/spare", properties(`'protocol':'http','url':'https://spare.example.org'`)},
		{gw + "/backends/idle", properties(`'protocol':'http','url':'https://idle.example.org'`)},
		{gw + "/backends/pool", properties(`'type':'Pool','pool':{'services':[{'id':'/backends/spare'}]}`)},
		{gw + "/namedValues/url", properties(`'displayName':'control-url','value':'https://control.example.org'`)},
		{gw + "/namedValues/idle", properties(`'displayName':'idle','value':'x'`)},
		{gw + "/policyFragments/tail", policy(`<fragment><set-header name="x" exists-action="delete" /></fragment>`, "xml")},
		{gw + "/policyFragments/idle", policy(`<fragment />`, "xml")},
		{gw + "/loggers/monitor", properties(`'loggerType':'azureMonitor'`)},
		{gw + "/loggers/insights", properties(`'loggerType':'applicationInsights','resourceId':'$app','credentials':{'instrumentationKey':'secret'}`)},
		{gw + "/loggers/idle", properties(`'loggerType':'azureMonitor'`)},
		{gw + "/apis/chat", properties(`'displayName':'Chat','path':'openai','protocols':['https']`)},
		{gw + "/apis/chat/operations/complete", properties(`'displayName':'Complete','method':'POST','urlTemplate':'/deployments/{id}/chat','templateParameters':[{'name':'id','type':'string','required':true}]`)},
		{gw + "/apis/chat/policies/policy", policy(strings.Replace(aPolicy, "<inbound><base />", `<inbound><base /><set-backend-service backend-id="chat" /><include-fragment fragment-id="tail" /><set-header name="u"><value>{{control-url}}</value></set-header>`, 1), "xml")},
		{gw + "/apis/chat/diagnostics/azuremonitor", properties(`'loggerId':'$gw/loggers/monitor'`)},
		{gw + "/products/gold", properties(`'displayName':'Gold','state':'published'`)},
		{gw + "/products/open", properties(`'displayName':'Open','subscriptionRequired':false`)},
		{gw + "/products/empty", properties(`'displayName':'Empty'`)},
		{gw + "/products/gold/apiLinks/chat", properties(`'apiId':'$gw/apis/chat'`)},
		{gw + "/subscriptions/acme", properties(`'displayName':'acme','scope':'/products/gold','state':'active','primaryKey':'known-key'`)},
		{kv + "kv-apim", vault("")},
		{kv + "kv-shut", vault(`,'publicNetworkAccess':'Disabled','networkAcls':{'bypass':'AzureServices','defaultAction':'Deny'}`)},
		{kv + "kv-tight", vault(`,'networkAcls':{'bypass':'None','defaultAction':'Deny'}`)},
		{kv + "kv-apim/secrets/key", properties(`'value':'x'`)},
		{kv + "kv-shut/secrets/key", properties(`'value':'x'`)},
		{kv + "kv-tight/secrets/key", properties(`'value':'x'`)},
	} {
		s = must(t, s, r.id, strings.ReplaceAll(r.body, "$gw", gw))
	}
	reader := func(principal string) string {
		return properties(fmt.Sprintf(`'principalId':'%s','principalType':'ServicePrincipal','roleDefinitionId':'%s/providers/Microsoft.Authorization/roleDefinitions/4633458b-17de-408a-b874-0445c86b69e6'`, principal, sub))
	}
	own := show(t, s, gw).get("identity.principalId").text()
	s = must(t, s, kv+"kv-shut"+grantPath+"aaaaaaaa-0000-4000-8000-000000000001", reader(own))
	s = must(t, s, kv+"kv-tight"+grantPath+"aaaaaaaa-0000-4000-8000-000000000002", reader(own))
	return must(t, s, kv+"kv-apim"+grantPath+"aaaaaaaa-0000-4000-8000-000000000003", reader(show(t, s, rg+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/models").get("properties.principalId").text()))
}

// runAll runs cases against the landscape of gateways.
func runAll(t *testing.T, cases map[string]writeCase) {
	t.Helper()
	s := Seed(servedBy(t), Resource{ID: "/subscriptions/22222222-2222-2222-2222-222222222222/resourceGroups/x/providers/Microsoft.ApiManagement/service/TAKEN"})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.run(t, s, c.id, strings.ReplaceAll(c.body, "$gw", gw))
		})
	}
}

func TestGatewayRules(t *testing.T) {
	t.Parallel()
	fresh := gateways + "fresh"
	in := func(kind, subnet string) string {
		return `'virtualNetworkType':'` + kind + `','virtualNetworkConfiguration':{'subnetResourceId':'$vnet/subnets/` + subnet + `'}`
	}
	label := `,'publicIpAddressId':'$netpublicIPAddresses/label'`
	link := func(target string) string {
		return `{'location':'swedencentral','properties':{'subnet':{'id':'$vnet/subnets/endpoints'},'privateLinkServiceConnections':[{'name':'c','properties':{'privateLinkServiceId':'` + target + `','groupIds':['Gateway']}}]}}`
	}
	runAll(t, map[string]writeCase{
		"A500 unknown tier":               {reason: "the tier exists", id: fresh, body: gateway("StandardV3", 1, ""), want: ValidationError, text: "StandardV2"},
		"A500 two units of Developer":     {reason: "one", id: fresh, body: gateway("Developer", 2, ""), want: ValidationError, text: "1..1"},
		"A500 11 units of StandardV2":     {reason: "ten", id: fresh, body: gateway("StandardV2", 11, ""), want: ValidationError},
		"A500 10 units of StandardV2":     {reason: "neighbour", id: fresh, body: gateway("StandardV2", 10, "")},
		"A500 PremiumV2":                  {reason: "neighbour, although the type data does not name it", id: fresh, body: gateway("PremiumV2", 30, "")},
		"A500 a unit of Consumption":      {reason: "it has none", id: fresh, body: gateway("Consumption", 1, ""), want: ValidationError},
		"A501 name of a stranger":         {reason: "there once in the world", id: gateways + "taken", body: gateway("Developer", 1, ""), want: ServiceAlreadyExists},
		"A502 restore of nothing":         {reason: "there is none", id: fresh, body: gateway("Developer", 1, `'restore':true`), want: BadRequest, text: "leave restore out"},
		"A503 shut at birth":              {reason: "not before an endpoint", id: fresh, body: gateway("StandardV2", 1, `'publicNetworkAccess':'Disabled'`), want: NotSupported, text: "during service creation"},
		"A503 open at birth":              {reason: "neighbour", id: fresh, body: gateway("StandardV2", 1, `'publicNetworkAccess':'Enabled'`)},
		"A503 shut without an endpoint":   {reason: "another way in first", id: gw, body: gateway("Developer", 1, `'publicNetworkAccess':'Disabled'`), want: NotSupported, text: "approved private endpoint"},
		"A504 network of Standard":        {reason: "it has none", id: fresh, body: gateway("Standard", 1, in("External", "gw")), want: ValidationError, text: "None"},
		"A504 StandardV2 inside":          {reason: "outward only", id: fresh, body: gateway("StandardV2", 1, in("Internal", "farms")), want: ValidationError, text: "None or External"},
		"A504 no subnet":                  {reason: "a network has one", id: fresh, body: gateway("Developer", 1, `'virtualNetworkType':'External'`), want: ValidationError, text: "subnetResourceId"},
		"A504 subnet missing":             {reason: "it exists", id: fresh, body: gateway("Developer", 1, in("External", "nope")), want: InvalidResourceReference},
		"A505 injected":                   {reason: "neighbour", id: fresh, body: gateway("Developer", 1, in("External", "gw"))},
		"A505 injected with an address":   {reason: "neighbour", id: fresh, body: gateway("Developer", 1, in("Internal", "gw")+label)},
		"A505 delegated":                  {reason: "it belongs to nobody", id: fresh, body: gateway("Developer", 1, in("External", "farms")), want: ValidationError, text: "no delegation"},
		"A505 no security group":          {reason: "there is one", id: fresh, body: gateway("Developer", 1, in("External", "endpoints")), want: ValidationError, text: "security group"},
		"A505 too few addresses":          {reason: "two for a unit", id: fresh, body: gateway("Premium", 2, in("External", "tiny")), want: ValidationError, text: "with 3 addresses"},
		"A505 enough addresses":           {reason: "neighbour", id: fresh, body: gateway("Premium", 1, in("Internal", "tiny"))},
		"A505 another region":             {reason: "the network's", id: fresh, body: strings.Replace(gateway("Developer", 1, in("External", "gw")), "swedencentral", "westeurope", 1), want: InvalidResourceReference},
		"A506 integrated":                 {reason: "neighbour", id: fresh, body: gateway("StandardV2", 1, in("External", "farms"))},
		"A506 not delegated":              {reason: "it is the service's", id: fresh, body: gateway("StandardV2", 1, in("External", "gw")), want: ValidationError, text: "Microsoft.Web/serverFarms"},
		"A506 too small":                  {reason: "/28", id: fresh, body: gateway("StandardV2", 1, in("External", "small")), want: ValidationError, text: "/28"},
		"A506 second service in it":       {reason: "alone", id: fresh, body: gateway("StandardV2", 1, in("External", "used")), want: ValidationError, text: gwV2},
		"A506 injected v2":                {reason: "neighbour", id: fresh, body: gateway("PremiumV2", 1, in("Internal", "hosts"))},
		"A506 injected into farms":        {reason: "hosting environments", id: fresh, body: gateway("PremiumV2", 1, in("Internal", "farms")), want: ValidationError, text: "hostingEnvironments"},
		"A506 injection later":            {reason: "when it is made or never", id: gwV2, body: gateway("PremiumV2", 1, in("Internal", "hosts")), want: ValidationError, text: "or never"},
		"A507 address without label":      {reason: "it has one", id: fresh, body: gateway("Developer", 1, in("External", "gw")+`,'publicIpAddressId':'$netpublicIPAddresses/spare'`), want: ValidationError, text: "domainNameLabel"},
		"A507 address without network":    {reason: "an injected one's", id: fresh, body: gateway("Developer", 1, strings.TrimPrefix(label, ",")), want: ValidationError},
		"A507 address of v2":              {reason: "a classic one's", id: fresh, body: gateway("StandardV2", 1, in("External", "farms")+label), want: ValidationError},
		"A507 address in use":             {reason: "its own", id: fresh, body: gateway("Developer", 1, in("External", "gw")+`,'publicIpAddressId':'$netpublicIPAddresses/ip'`), want: ValidationError},
		"A507 zones without address":      {reason: "a zonal one brings its own", id: fresh, body: gateway("Premium", 3, in("Internal", "gw"), `,'zones':['1','2','3']`), want: ValidationError, text: "publicIpAddressId"},
		"A507 zones with address":         {reason: "neighbour", id: fresh, body: gateway("Premium", 3, in("Internal", "gw")+label, `,'zones':['1','2','3']`)},
		"A507 zones outside":              {reason: "neighbour", id: fresh, body: gateway("Premium", 3, "", `,'zones':['1','2','3']`)},
		"A508 zones of Developer":         {reason: "Premium's", id: fresh, body: gateway("Developer", 1, "", `,'zones':['1']`), want: ValidationError, text: "only Premium"},
		"A508 zone 4":                     {reason: "there are three", id: fresh, body: gateway("Premium", 1, "", `,'zones':['4']`), want: ValidationError},
		"A508 more zones than units":      {reason: "a unit for each", id: fresh, body: gateway("Premium", 2, "", `,'zones':['1','2','3']`), want: ValidationError, text: "3 zones with 2 units"},
		"A508 regions of StandardV2":      {reason: "Premium's", id: fresh, body: gateway("StandardV2", 1, `'additionalLocations':[{'location':'westeurope','sku':{'name':'StandardV2','capacity':1}}]`), want: ValidationError},
		"A508 regions of Premium":         {reason: "neighbour", id: fresh, body: gateway("Premium", 1, `'additionalLocations':[{'location':'westeurope','sku':{'name':'Premium','capacity':1}}],'disableGateway':true`)},
		"A508 only gateway off":           {reason: "nothing would serve", id: fresh, body: gateway("Premium", 1, `'disableGateway':true`), want: ValidationError},
		"A508 client certificates, false": {reason: "Consumption's switch", id: fresh, body: gateway("Developer", 1, `'enableClientCertificate':false`), want: ValidationError, text: "not even false"},
		"A508 client certificates":        {reason: "neighbour", id: fresh, body: gateway("Consumption", 0, `'enableClientCertificate':true`)},
		"A508 11 certificates":            {reason: "10 at most", id: fresh, body: gateway("Developer", 1, `'certificates':[`+strings.TrimSuffix(strings.Repeat(`{'storeName':'Root'},`, 11), ",")+`]`), want: ValidationError, text: "11"},
		"A508 10 certificates":            {reason: "neighbour", id: fresh, body: gateway("Developer", 1, `'certificates':[`+strings.TrimSuffix(strings.Repeat(`{'storeName':'Root'},`, 10), ",")+`]`)},
		"A509 classic to v2":              {reason: "a replacement", id: gw, body: gateway("StandardV2", 1, ""), want: ValidationError, text: "family"},
		"A509 Developer to Premium":       {reason: "neighbour", id: gw, body: gateway("Premium", 1, "")},
		"A514 endpoint of BasicV2":        {reason: "it has none", id: net + "privateEndpoints/new", body: link(gateways + "onedoor-basic2"), want: BadRequest, text: "BasicV2"},
		"A514 endpoint of StandardV2":     {reason: "neighbour, integrated outward", id: net + "privateEndpoints/new", body: link(gwV2)},
	})
}

// A service is activated for long, takes one write at a time, and nothing in it
// is written meanwhile (A510, A511, A515); writes to one API exclude one another
// (A523).
func TestGatewayIsSerial(t *testing.T) {
	t.Parallel()
	s := servedBy(t)
	code := func(s State, op Op) Code {
		t.Helper()
		_, a := Apply(s, op)
		if a.Error == nil {
			return ""
		}
		return a.Error.Code
	}
	put := func(id, body string) Op { return Op{Method: Put, ID: id, Body: j(t, body)} }
	for sku, want := range map[string]time.Duration{"Developer": 35 * time.Minute, "Premium": 45 * time.Minute, "StandardV2": 5 * time.Minute} {
		next, a := Apply(s, put(gateways+"fresh", gateway(sku, 1, "")))
		if a.Error != nil || a.Operation.End-a.Operation.Start != want {
			t.Errorf("%s: %v, %v, want %v", sku, a.Operation, a.Error, want)
		}
		if got := code(next, put(gateways+"fresh/products/p", properties(`'displayName':'p'`))); got != Conflict {
			t.Errorf("product of a service that is being activated: %q, want %s", got, Conflict)
		}
		if got := code(Settle(next), put(gateways+"fresh/products/p", properties(`'displayName':'p'`))); got != "" {
			t.Errorf("product after it: %s", got)
		}
	}
	changing, a := Apply(s, put(gw, gateway("Developer", 1, `'notificationSenderEmail':'b@example.org'`)))
	if a.Error != nil || a.Operation.End-a.Operation.Start != 15*time.Minute {
		t.Fatalf("change: %v, %v", a.Operation, a.Error)
	}
	for name, op := range map[string]Op{
		"service": put(gw, gateway("Developer", 1, "")), "deletion": {Method: Delete, ID: gw},
		"operation": put(gw+"/apis/chat/operations/new", properties(`'displayName':'x','method':'GET','urlTemplate':'/x'`)),
	} {
		if got := code(changing, op); got != Conflict {
			t.Errorf("%s while the service changes: %q, want %s", name, got, Conflict)
		}
	}

	first, a := Apply(s, put(gw+"/apis/chat/operations/one", properties(`'displayName':'x','method':'GET','urlTemplate':'/one'`)))
	if a.Error != nil {
		t.Fatal(a.Error)
	}
	for name, op := range map[string]Op{
		"operation": put(gw+"/apis/chat/operations/two", properties(`'displayName':'x','method':'GET','urlTemplate':'/two'`)),
		"policy":    put(gw+"/apis/chat/policies/policy", policy(aPolicy, "xml")),
		"API":       put(gw+"/apis/chat", properties(`'displayName':'Chat','path':'openai'`)),
		"revision":  put(gw+"/apis/chat;rev=2", properties(`'displayName':'Chat','path':'openai'`)),
		"deletion":  {Method: Delete, ID: gw + "/apis/chat/operations/complete"},
	} {
		if got := code(first, op); got != PessimisticConcurrency {
			t.Errorf("%s beside an operation: %q, want %s", name, got, PessimisticConcurrency)
		}
		if got := code(Settle(first), op); got != "" {
			t.Errorf("%s after it: %s", name, got)
		}
	}
	for name, op := range map[string]Op{
		"another API": put(gw+"/apis/new", properties(`'displayName':'New','path':'new'`)),
		"a product":   put(gw+"/products/new", properties(`'displayName':'New'`)),
	} {
		if got := code(first, op); got != "" {
			t.Errorf("%s beside an operation: %s", name, got)
		}
	}
}

// A deleted service keeps its name in the world for 48 hours; restore brings it
// back with what was in it, purge frees the name (A502).
func TestGatewayIsSoftDeleted(t *testing.T) {
	t.Parallel()
	s := servedBy(t)
	s, a := Apply(s, Op{Method: Delete, ID: gw, Instant: true})
	if a.Error != nil {
		t.Fatal(a.Error)
	}
	body := gateway("StandardV2", 1, "")
	kept := writeCase{reason: "the name is kept", want: ServiceIsSoftDeleted, text: "deletedservices/onedoor-dev"}
	kept.run(t, s, gw, body)
	s = must(t, s, rg+"2", `{'location':'swedencentral'}`)
	kept.run(t, s, strings.Replace(gw, "/rg/", "/rg2/", 1), body)
	restored := must(t, s, gw, gateway("StandardV2", 1, `'restore':true`))
	if got := shown(t, restored, gw, "sku.name"); got != "Developer" {
		t.Errorf("restored as %v, want Developer", got)
	}
	for _, child := range []string{"/apis/chat/operations/complete", "/products/gold/apiLinks/chat", "/subscriptions/acme"} {
		if _, ok := restored.Find(gw + child); !ok {
			t.Errorf("restored without %s", child)
		}
	}
	purged, err := Purge(s, gw)
	if err != nil {
		t.Fatal(err)
	}
	fresh := must(t, purged, gw, body)
	if _, ok := fresh.Find(gw + "/apis/chat"); ok {
		t.Error("a service made after a purge has the old one's API")
	}
	kept.run(t, Advance(s, s.Now+47*time.Hour), gw, body)
	late := Advance(s, s.Now+48*time.Hour)
	writeCase{reason: "neighbour: 48 hours later"}.run(t, late, gw, body)
	if later := must(t, late, gw, body); later.SoftDeleted[Key(gw+"/apis/chat")] != nil {
		t.Error("the old one's children are kept for ever")
	}
}

// With an approved endpoint the public way can be shut (A503); a write that says
// nothing opens it again.
func TestGatewayAccess(t *testing.T) {
	t.Parallel()
	s := servedBy(t)
	network := `'virtualNetworkType':'External','virtualNetworkConfiguration':{'subnetResourceId':'$vnet/subnets/used'}`
	shut := gateway("StandardV2", 1, network+`,'publicNetworkAccess':'Disabled'`)
	endpoint := `{'location':'swedencentral','properties':{'subnet':{'id':'$vnet/subnets/endpoints'},'%s':[{'name':'c','properties':{'privateLinkServiceId':'` + gwV2 + `','groupIds':['Gateway']}}]}}`
	pending := must(t, s, net+"privateEndpoints/pending", fmt.Sprintf(endpoint, "manualPrivateLinkServiceConnections"))
	writeCase{reason: "a pending endpoint is no way in", want: NotSupported}.run(t, pending, gwV2, shut)
	s = must(t, s, net+"privateEndpoints/gateway", fmt.Sprintf(endpoint, "privateLinkServiceConnections"))
	s = must(t, s, gwV2, shut)
	if got := shown(t, s, gwV2, "properties.publicNetworkAccess"); got != "Disabled" {
		t.Errorf("access: %v", got)
	}
	s = must(t, s, gwV2, gateway("StandardV2", 1, network))
	if got := shown(t, s, gwV2, "properties.publicNetworkAccess"); got != "Enabled" {
		t.Errorf("access after a write without it: %v", got)
	}
}

// A tier holds so many of each (A567).
func TestGatewayLimits(t *testing.T) {
	t.Parallel()
	s := servedBy(t)
	fill := func(service string, n int) State {
		full := s.clone()
		for i := range n {
			id := fmt.Sprintf("%s/products/p%d", service, i)
			full.Resources[Key(id)] = &Resource{ID: id, Type: "Microsoft.ApiManagement/service/products", Provisioning: Succeeded}
		}
		return full
	}
	product := properties(`'displayName':'New'`)
	writeCase{reason: "100 of Developer", want: QuotaExceeded, text: "at most 100"}.run(t, fill(gw, 97), gw+"/products/new", product)
	writeCase{reason: "neighbour: one is left"}.run(t, fill(gw, 96), gw+"/products/new", product)
	writeCase{reason: "neighbour: an update"}.run(t, fill(gw, 97), gw+"/products/gold", properties(`'displayName':'Gold'`))
	writeCase{reason: "neighbour: Premium has 2,000"}.run(t, fill(gwPrem, 1999), gwPrem+"/products/new", product)
	writeCase{reason: "2,000 of Premium", want: QuotaExceeded}.run(t, fill(gwPrem, 2000), gwPrem+"/products/new", product)
	for typ, most := range map[string]int{operationType: 75000, namedValueType: 18000, gatewayLoggerType: 400, keyType: 75000} {
		if got := gatewayTiers["PremiumV2"].limits[typ]; got != most {
			t.Errorf("%s in PremiumV2: %d, want %d", typ, got, most)
		}
	}
}

// What is in a service answers with the service's defaults (A512, A513, A524,
// A546, A557, A560), and what one answers can be written back.
func TestGatewayAnswers(t *testing.T) {
	t.Parallel()
	s := servedBy(t)
	s = must(t, s, gateways+"inside", gateway("Premium", 3, `'virtualNetworkType':'Internal','virtualNetworkConfiguration':{'subnetResourceId':'$vnet/subnets/gw'},'publicIpAddressId':'$netpublicIPAddresses/label'`, `,'zones':['1','2','3']`))
	s = must(t, s, gw+"/apis/graph", properties(`'displayName':'Graph','path':'graph','apiType':'graphql','format':'graphql-link','value':'https://x'`))
	s = must(t, s, gw+"/namedValues/secret", properties(`'displayName':'secret','secret':true,'value':'x'`))
	for id, want := range map[string]map[string]any{
		gw: {
			"properties.gatewayUrl": "https://onedoor-dev.azure-api.net", "properties.platformVersion": "stv2", "properties.virtualNetworkType": "None", "properties.publicNetworkAccess": "Enabled",
			"properties.provisioningState": Succeeded, "properties.privateIPAddresses": nil,
		},
		gateways + "inside": {
			"properties.publicIPAddresses": []any{shown(t, s, net+"publicIPAddresses/label", "properties.ipAddress")}, "properties.privateIPAddresses": []any{"10.0.10.4"},
		},
		gwV2: {"properties.publicIPAddresses": nil, "properties.customProperties": nil},
		gw + "/apis/chat": {
			"properties.type": "http", "properties.apiRevision": "1", "properties.isCurrent": true, "properties.subscriptionRequired": true,
			"properties.subscriptionKeyParameterNames.header": "Ocp-Apim-Subscription-Key", "properties.protocols": []any{"https"}, "etag": nil,
		},
		gw + "/apis/graph":    {"properties.type": "graphql", "properties.format": nil, "properties.value": nil, "properties.apiType": nil},
		gw + "/products/gold": {"properties.state": "published", "properties.approvalRequired": false, "properties.provisioningState": nil},
		gw + "/products/open": {"properties.state": "notPublished", "properties.approvalRequired": nil},
		gw + "/subscriptions/acme": {
			"properties.scope": gw + "/products/gold", "properties.state": "active", "properties.primaryKey": nil, "properties.secondaryKey": nil,
		},
		gw + "/subscriptions/master":               {"properties.scope": gw + "/", "properties.state": "active"},
		gw + "/groups/administrators":              {"properties.builtIn": true, "properties.type": "system"},
		gw + "/namedValues/secret":                 {"properties.value": nil, "properties.secret": true},
		gw + "/namedValues/url":                    {"properties.value": "https://control.example.org", "properties.secret": false},
		gw + "/apis/chat/diagnostics/azuremonitor": {"properties.verbosity": "information", "properties.logClientIp": false},
		gw + "/backends/chat":                      {"properties.type": "Single"},
		gw + "/loggers/insights":                   {"properties.isBuffered": true},
	} {
		for _, path := range sortedKeys(want) {
			if got := shown(t, s, id, path); fmt.Sprint(got) != fmt.Sprint(want[path]) {
				t.Errorf("%s: %s = %v, want %v", id, path, got, want[path])
			}
		}
	}
	switches, _ := shown(t, s, gw, "properties.customProperties").(map[string]any)
	if got := switches["Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Protocols.Tls10"]; got != "False" {
		t.Errorf("TLS 1.0: %v", got)
	}
	submitted := must(t, s, gw+"/subscriptions/new", properties(`'displayName':'x','scope':'/apis'`))
	if got := shown(t, submitted, gw+"/subscriptions/new", "properties.state"); got != "submitted" {
		t.Errorf("state of a subscription: %v", got)
	}
	credential, _ := shown(t, s, gw+"/loggers/insights", "properties.credentials.instrumentationKey").(string)
	if !strings.HasPrefix(credential, "{{Logger-Credentials--") || !s.hasNamedValue(&Resource{ID: gw}, strings.Trim(credential, "{}")) {
		t.Errorf("credentials of a logger: %q", credential)
	}
	writeBack(t, s, "/providers/Microsoft.ApiManagement/")
}

// Every type of the two services has a row in the table, and every row a type.
func TestGatewayTypesHaveRules(t *testing.T) {
	t.Parallel()
	known, err := catalog()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, name := range known.names {
		name = strings.ToLower(name)
		names[name] = true
		if (strings.HasPrefix(name, gatewayType) || strings.HasPrefix(name, modelAccountType)) && behaviourOf(name) == &unmodelled {
			t.Errorf("%s has no rules", name)
		}
	}
	for _, table := range []map[string]*behaviour{gatewayTypes, cognitiveTypes} {
		for typ, b := range table {
			if len(b.check) == 0 || !names[typ] {
				t.Errorf("%s: no checks, or no such type", typ)
			}
		}
	}
}
