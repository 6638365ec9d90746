package core

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	aiAt     = rg + "/providers/Microsoft.CognitiveServices/accounts/"
	syncAcc  = aiAt + "sync"
	batchAcc = aiAt + "batch"
)

// modelAccount is the body of an account.
func modelAccount(kind, sku, props string) string {
	return `{'location':'swedencentral','kind':'` + kind + `','sku':{'name':'` + sku + `'},'properties':{` + props + `}}`
}

// modelDeployment is the body of a deployment.
func modelDeployment(sku string, capacity int, model, more string) string {
	return fmt.Sprintf(`{'sku':{'name':'%s','capacity':%d},'properties':{'model':{'format':'OpenAI','name':'%s'}%s}}`, sku, capacity, model, more)
}

// models adds accounts and deployments to the landscape.
func models(t testing.TB) State {
	t.Helper()
	s := platform(t)
	for _, r := range []struct{ id, body string }{
		{syncAcc, modelAccount("OpenAI", "S0", `'customSubDomainName':'onedoor-sync'`)},
		{syncAcc + "/raiPolicies/strict", `{'properties':{'basePolicyName':'Microsoft.DefaultV2','contentFilters':[{'name':'Hate','source':'Prompt','enabled':true,'severityThreshold':'Low'}]}}`},
		{syncAcc + "/raiPolicies/spare", `{'properties':{}}`},
		{syncAcc + "/deployments/chat", modelDeployment("GlobalStandard", 10, "gpt-4o", `,'raiPolicyName':'strict'`)},
		{batchAcc, modelAccount("OpenAI", "S0", `'customSubDomainName':'onedoor-batch','disableLocalAuth':true`)},
		{batchAcc + "/deployments/jobs", modelDeployment("GlobalBatch", 50, "gpt-4o", "")},
		{aiAt + "text", modelAccount("TextAnalytics", "S", "")},
		{vnet + "/subnets/served", `{'properties':{'addressPrefix':'10.0.5.0/24','serviceEndpoints':[{'service':'Microsoft.CognitiveServices'}]}}`},
	} {
		s = must(t, s, r.id, r.body)
	}
	return s
}

func TestModelAccountRules(t *testing.T) {
	t.Parallel()
	fresh := aiAt + "new"
	openAI := func(props string) string { return modelAccount("OpenAI", "S0", props) }
	rules := func(acls string) string {
		return openAI(`'customSubDomainName':'onedoor-new','networkAcls':{` + acls + `}`)
	}
	filter := func(edit string) string {
		return `{'properties':{'contentFilters':[{'name':'Hate','source':'Prompt','enabled':true,'severityThreshold':'Low'}` + edit + `]}}`
	}
	policy, deployment := syncAcc+"/raiPolicies/new", syncAcc+"/deployments/new"
	link := func(account string) string {
		return `{'location':'swedencentral','properties':{'subnet':{'id':'$vnet/subnets/endpoints'},'privateLinkServiceConnections':[{'name':'c','properties':{'privateLinkServiceId':'` + account + `','groupIds':['account']}}]}}`
	}
	for name, c := range map[string]writeCase{
		"A461 unknown kind":               {reason: "the kind exists", id: fresh, body: modelAccount("OpenAi", "S0", ""), want: InvalidAPISetID, text: "AIServices"},
		"A461 no kind":                    {reason: "an account has one", id: fresh, body: `{'location':'swedencentral','sku':{'name':'S0'},'properties':{}}`, want: InvalidAPISetID},
		"A461 wrong SKU":                  {reason: "OpenAI is S0", id: fresh, body: modelAccount("OpenAI", "F0", ""), want: InvalidSkuID},
		"A461 OpenAI":                     {reason: "neighbour", id: fresh, body: openAI("")},
		"A461 AIServices":                 {reason: "neighbour", id: fresh, body: modelAccount("AIServices", "S0", "")},
		"A461 another kind":               {reason: "chosen once", id: syncAcc, body: modelAccount("AIServices", "S0", `'customSubDomainName':'onedoor-sync'`), want: BadRequest},
		"A462 underscore":                 {reason: "a host name", id: fresh, body: openAI(`'customSubDomainName':'one_door'`), want: BadRequest},
		"A462 hyphen at the end":          {reason: "a host name", id: fresh, body: openAI(`'customSubDomainName':'one-'`), want: BadRequest},
		"A462 hyphen inside":              {reason: "neighbour", id: fresh, body: openAI(`'customSubDomainName':'one-door'`)},
		"A462 another subdomain":          {reason: "set once", id: syncAcc, body: openAI(`'customSubDomainName':'onedoor-other'`), want: BadRequest, text: "onedoor-sync"},
		"A462 first subdomain later":      {reason: "neighbour", id: aiAt + "text", body: modelAccount("TextAnalytics", "S", `'customSubDomainName':'onedoor-text'`)},
		"A463 subdomain of another":       {reason: "there once in the world, in any case", id: fresh, body: openAI(`'customSubDomainName':'OneDoor-Sync'`), want: CustomDomainInUse, text: syncAcc},
		"A463 subdomain of a stranger":    {reason: "there once in the world", id: fresh, body: openAI(`'customSubDomainName':'taken'`), want: CustomDomainInUse},
		"A463 own subdomain":              {reason: "neighbour", id: syncAcc, body: openAI(`'customSubDomainName':'onedoor-sync','publicNetworkAccess':'Disabled'`)},
		"A464 rules without a subdomain":  {reason: "they hold at the host name", id: fresh, body: openAI(`'networkAcls':{'defaultAction':'Deny'}`), want: BadRequest, text: "customSubDomainName"},
		"A464 allow without a subdomain":  {reason: "neighbour", id: fresh, body: openAI(`'networkAcls':{'defaultAction':'Allow'}`)},
		"A464 rules with a subdomain":     {reason: "neighbour", id: fresh, body: rules(`'defaultAction':'Deny','bypass':'None'`)},
		"A464 private address":            {reason: "public ones", id: fresh, body: rules(`'defaultAction':'Deny','ipRules':[{'value':'10.0.0.1'}]`), want: BadRequest},
		"A464 public block":               {reason: "neighbour", id: fresh, body: rules(`'defaultAction':'Deny','ipRules':[{'value':'203.0.113.0/30'}]`)},
		"A464 101 addresses":              {reason: "100 at most", id: fresh, body: rules(`'defaultAction':'Deny','ipRules':[` + strings.TrimSuffix(strings.Repeat(`{'value':'203.0.113.7'},`, 101), ",") + `]`), want: BadRequest, text: "101"},
		"A464 100 addresses":              {reason: "neighbour", id: fresh, body: rules(`'defaultAction':'Deny','ipRules':[` + strings.TrimSuffix(strings.Repeat(`{'value':'203.0.113.7'},`, 100), ",") + `]`)},
		"A464 subnet without endpoint":    {reason: "the subnet knows the service", id: fresh, body: rules(`'virtualNetworkRules':[{'id':'$vnet/subnets/a'}]`), want: BadRequest, text: "SubnetsHaveNoServiceEndpointsConfigured"},
		"A464 endpoint not asked for":     {reason: "neighbour", id: fresh, body: rules(`'virtualNetworkRules':[{'id':'$vnet/subnets/a','ignoreMissingVnetServiceEndpoint':true}]`)},
		"A464 subnet with endpoint":       {reason: "neighbour", id: fresh, body: rules(`'virtualNetworkRules':[{'id':'$vnet/subnets/served'}]`)},
		"A464 subnet missing":             {reason: "it exists", id: fresh, body: rules(`'virtualNetworkRules':[{'id':'$vnet/subnets/nope'}]`), want: InvalidResourceReference},
		"A465 restore of nothing":         {reason: "there is none", id: fresh, body: openAI(`'restore':true`), want: BadRequest, text: "leave restore out"},
		"A469 account with deployments":   {reason: "nested resources", method: Delete, id: syncAcc, want: CannotDeleteResource, text: "Cannot delete resource while nested resources exist"},
		"A469 empty account":              {reason: "neighbour", method: Delete, id: aiAt + "text"},
		"A469 group with deployments":     {reason: "neighbour: a group takes all", method: Delete, id: rg},
		"A471 in text analytics":          {reason: "two kinds have models", id: aiAt + "text/deployments/new", body: modelDeployment("GlobalStandard", 1, "gpt-4o", ""), want: BadRequest, text: "TextAnalytics"},
		"A471 unknown SKU":                {reason: "from a list", id: deployment, body: modelDeployment("GlobalStandart", 1, "gpt-4o", ""), want: InvalidResourceProperties, text: "use GlobalStandard"},
		"A471 no capacity":                {reason: "said, not guessed", id: deployment, body: `{'sku':{'name':'GlobalStandard'},'properties':{'model':{'format':'OpenAI','name':'gpt-4o'}}}`, want: InvalidResourceProperties, text: "capacity"},
		"A471 capacity 0":                 {reason: "1 at least", id: deployment, body: modelDeployment("GlobalStandard", 0, "gpt-4o", ""), want: InvalidResourceProperties},
		"A471 capacity 1":                 {reason: "neighbour", id: deployment, body: modelDeployment("GlobalStandard", 1, "gpt-4o", "")},
		"A472 unknown model":              {reason: "a model of OpenAI", id: deployment, body: modelDeployment("GlobalStandard", 1, "llama-3", ""), want: ModelNotSupported},
		"A472 typo":                       {reason: "the nearest is named", id: deployment, body: modelDeployment("GlobalStandard", 1, "txt-embedding-3-small", ""), want: ModelNotSupported, text: "text-embedding-3-small"},
		"A472 newer than the list":        {reason: "neighbour", id: deployment, body: modelDeployment("GlobalStandard", 1, "gpt-6", "")},
		"A472 another maker":              {reason: "neighbour", id: deployment, body: strings.Replace(modelDeployment("GlobalStandard", 1, "Mistral-Large", ""), "'OpenAI'", "'Mistral AI'", 1)},
		"A472 no version at all":          {reason: "a date or a number", id: deployment, body: strings.Replace(modelDeployment("GlobalStandard", 1, "gpt-4o", ""), "'gpt-4o'", "'gpt-4o','version':'latest'", 1), want: ModelNotSupported},
		"A472 plausible version":          {reason: "neighbour", id: deployment, body: strings.Replace(modelDeployment("GlobalStandard", 1, "gpt-4o", ""), "'gpt-4o'", "'gpt-4o','version':'2026-01-01'", 1)},
		"A472 named version":              {reason: "neighbour", id: deployment, body: strings.Replace(modelDeployment("GlobalStandard", 1, "gpt-4", ""), "'gpt-4'", "'gpt-4','version':'turbo-2024-04-09'", 1)},
		"A473 batch of embeddings":        {reason: "batch serves some models", id: deployment, body: modelDeployment("GlobalBatch", 1, "text-embedding-3-small", ""), want: InvalidResourceProperties, text: "The specified SKU 'GlobalBatch'"},
		"A473 batch in a data zone":       {reason: "neighbour", id: deployment, body: modelDeployment("DataZoneBatch", 1, "gpt-4o", "")},
		"A476 filter missing":             {reason: "it exists", id: deployment, body: modelDeployment("GlobalStandard", 1, "gpt-4o", `,'raiPolicyName':'nope'`), want: InvalidResourceProperties, text: "nope"},
		"A476 filter of another account":  {reason: "of the same account", id: batchAcc + "/deployments/new", body: modelDeployment("GlobalBatch", 1, "gpt-4o", `,'raiPolicyName':'strict'`), want: InvalidResourceProperties},
		"A476 own filter":                 {reason: "neighbour", id: deployment, body: modelDeployment("GlobalStandard", 1, "gpt-4o", `,'raiPolicyName':'strict'`)},
		"A476 Microsoft's filter":         {reason: "neighbour", id: deployment, body: modelDeployment("GlobalStandard", 1, "gpt-4o", `,'raiPolicyName':'Microsoft.Default'`)},
		"A477 another model":              {reason: "chosen once", id: syncAcc + "/deployments/chat", body: modelDeployment("GlobalStandard", 10, "gpt-4.1", ""), want: InvalidResourceProperties, text: "properties.model.name"},
		"A477 another SKU":                {reason: "chosen once", id: syncAcc + "/deployments/chat", body: modelDeployment("GlobalBatch", 10, "gpt-4o", ""), want: InvalidResourceProperties, text: "sku.name"},
		"A477 more capacity":              {reason: "neighbour", id: syncAcc + "/deployments/chat", body: modelDeployment("GlobalStandard", 20, "gpt-4o", "")},
		"A479 Microsoft's name":           {reason: "theirs", id: syncAcc + "/raiPolicies/Microsoft.Mine", body: filter(""), want: BadRequest},
		"A479 base missing":               {reason: "it exists", id: policy, body: `{'properties':{'basePolicyName':'nope'}}`, want: BadRequest},
		"A479 base of one's own":          {reason: "neighbour", id: policy, body: `{'properties':{'basePolicyName':'strict'}}`},
		"A480 unknown filter":             {reason: "a known one", id: policy, body: filter(`,{'name':'Violance','source':'Prompt','enabled':true}`), want: BadRequest, text: "use Violence"},
		"A480 filter twice":               {reason: "once for each source", id: policy, body: filter(`,{'name':'hate','source':'Prompt','enabled':true,'severityThreshold':'High'}`), want: BadRequest},
		"A480 other source":               {reason: "neighbour", id: policy, body: filter(`,{'name':'Hate','source':'Completion','enabled':true,'severityThreshold':'High'}`)},
		"A480 harm without threshold":     {reason: "it has one", id: policy, body: filter(`,{'name':'Violence','source':'Prompt','enabled':true}`), want: BadRequest, text: "severityThreshold"},
		"A480 jailbreak":                  {reason: "neighbour: no harm, no threshold", id: policy, body: filter(`,{'name':'Jailbreak','source':'Prompt','enabled':true,'blocking':true}`)},
		"A480 without a source":           {reason: "it has one", id: policy, body: filter(`,{'name':'Jailbreak','enabled':true}`), want: BadRequest, text: "Prompt or Completion"},
		"A482 filter in use":              {reason: "a deployment names it", method: Delete, id: syncAcc + "/raiPolicies/strict", want: CannotDeleteResource, text: "deployments/chat"},
		"A482 filter of nobody":           {reason: "neighbour", method: Delete, id: syncAcc + "/raiPolicies/spare"},
		"A483 endpoint without subdomain": {reason: "the address stands for a host name", id: net + "privateEndpoints/new", body: link(aiAt + "text"), want: BadRequest, text: "customSubDomainName"},
		"A483 endpoint":                   {reason: "neighbour", id: net + "privateEndpoints/new", body: link(batchAcc)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Seed(models(t), Resource{ID: strings.Replace(aiAt, "/rg/", "/hub/", 1) + "x", Body: map[string]any{"properties": map[string]any{"customSubDomainName": "taken"}}})
			c.run(t, s, c.id, c.body)
		})
	}
}

// One write at a time on an account and what is in it (A460); endpoints do not
// lead to an account that is busy, and keep it busy while they are made (A466,
// A484).
func TestModelAccountIsSerial(t *testing.T) {
	t.Parallel()
	s := models(t)
	code := func(s State, op Op) Code {
		t.Helper()
		_, a := Apply(s, op)
		if a.Error == nil {
			return ""
		}
		return a.Error.Code
	}
	chat := Op{Method: Put, ID: syncAcc + "/deployments/chat", Body: j(t, modelDeployment("GlobalStandard", 20, "gpt-4o", ""))}
	endpoint := Op{Method: Put, ID: net + "privateEndpoints/new", Body: j(t, `{'location':'swedencentral','properties':{'subnet':{'id':'$vnet/subnets/endpoints'},'privateLinkServiceConnections':[{'name':'c','properties':{'privateLinkServiceId':'`+syncAcc+`','groupIds':['account']}}]}}`)}
	others := map[string]Op{
		"second deployment": {Method: Put, ID: syncAcc + "/deployments/new", Body: j(t, modelDeployment("GlobalStandard", 1, "gpt-4.1", ""))},
		"deletion":          {Method: Delete, ID: syncAcc + "/raiPolicies/strict"},
		"RAI policy":        {Method: Put, ID: syncAcc + "/raiPolicies/new", Body: j(t, `{'properties':{}}`)},
		"account":           {Method: Put, ID: syncAcc, Body: j(t, modelAccount("OpenAI", "S0", ""))},
	}
	writing, a := Apply(s, chat)
	if a.Error != nil || a.Operation == nil {
		t.Fatalf("deployment: %v", a.Error)
	}
	for name, op := range others {
		if got := code(writing, op); got != RequestConflict {
			t.Errorf("%s beside a deployment: %q, want %s", name, got, RequestConflict)
		}
	}
	if got := code(writing, Op{Method: Put, ID: batchAcc + "/deployments/new", Body: others["second deployment"].Body}); got != "" {
		t.Errorf("deployment in another account: %s", got)
	}
	if got := code(writing, endpoint); got != AccountProvisioningInvalid {
		t.Errorf("endpoint beside a deployment: %q, want %s", got, AccountProvisioningInvalid)
	}
	if got := code(Settle(writing), endpoint); got != "" {
		t.Errorf("endpoint after it: %s", got)
	}
	linking, _ := Apply(s, endpoint)
	for _, name := range []string{"second deployment", "RAI policy", "account"} {
		if got := code(linking, others[name]); got != RequestConflict {
			t.Errorf("%s beside an endpoint: %q, want %s", name, got, RequestConflict)
		}
		if got := code(Settle(linking), others[name]); got != "" {
			t.Errorf("%s after it: %s", name, got)
		}
	}
	making, _ := Apply(s, Op{Method: Put, ID: aiAt + "new", Body: j(t, modelAccount("OpenAI", "S0", ""))})
	if got := code(making, Op{Method: Put, ID: aiAt + "new/deployments/d", Body: others["second deployment"].Body}); got != AccountProvisioningInvalid {
		t.Errorf("deployment in an account that is being made: %q, want %s", got, AccountProvisioningInvalid)
	}
}

// A deleted account keeps its name in its place and its subdomain in the world
// for 48 hours; restore brings it back, purge frees both (A463, A465).
func TestModelAccountIsSoftDeleted(t *testing.T) {
	t.Parallel()
	body := modelAccount("OpenAI", "S0", `'customSubDomainName':'onedoor-gone','publicNetworkAccess':'Disabled'`)
	s := must(t, models(t), aiAt+"gone", body)
	internalID := shown(t, s, aiAt+"gone", "properties.internalId")
	s, a := Apply(s, Op{Method: Delete, ID: aiAt + "gone", Instant: true})
	if a.Error != nil {
		t.Fatal(a.Error)
	}
	again := writeCase{reason: "the name is kept", want: FlagMustBeSetForRestore, text: "restore"}
	again.run(t, s, aiAt+"gone", body)
	writeCase{reason: "the subdomain is kept", want: CustomDomainInUse}.run(t, s, aiAt+"heir", body)
	writeCase{reason: "neighbour: another place and host name"}.run(t, s, aiAt+"gone", `{'location':'westeurope','kind':'OpenAI','sku':{'name':'S0'},'properties':{}}`)
	restored := must(t, s, aiAt+"gone", modelAccount("OpenAI", "S0", `'restore':true`))
	for path, want := range map[string]any{"properties.publicNetworkAccess": "Disabled", "properties.customSubDomainName": "onedoor-gone", "properties.internalId": internalID, "properties.restore": nil} {
		if got := shown(t, restored, aiAt+"gone", path); got != want {
			t.Errorf("restored: %s = %v, want %v", path, got, want)
		}
	}
	purged, err := Purge(s, aiAt+"gone")
	if err != nil {
		t.Fatal(err)
	}
	fresh := must(t, purged, aiAt+"gone", body)
	if got := shown(t, fresh, aiAt+"gone", "properties.internalId"); got == internalID {
		t.Error("an account made after a purge is the old one")
	}
	early, late := Advance(s, s.Now+47*time.Hour), Advance(s, s.Now+48*time.Hour)
	again.run(t, early, aiAt+"gone", body)
	writeCase{reason: "neighbour: 48 hours later"}.run(t, late, aiAt+"gone", body)
}

// Quotas count what is there: accounts of a region (A470), Standard deployments
// of an account (A475), and capacity of a subscription, region, SKU and model,
// if there is a quota (A474).
func TestModelQuotas(t *testing.T) {
	t.Parallel()
	s := models(t)
	full := s.clone()
	for i := range maxAccounts - 3 {
		id := fmt.Sprintf("%sa%d", aiAt, i)
		full.Resources[Key(id)] = &Resource{ID: id, Type: "Microsoft.CognitiveServices/accounts", Provisioning: Succeeded, Body: map[string]any{"location": "swedencentral"}}
	}
	writeCase{reason: "30 in a region", want: QuotaExceeded, text: "31"}.run(t, full, aiAt+"new", modelAccount("OpenAI", "S0", ""))
	writeCase{reason: "neighbour: another region"}.run(t, full, aiAt+"new", strings.Replace(modelAccount("OpenAI", "S0", ""), "swedencentral", "westeurope", 1))
	writeCase{reason: "neighbour: an update"}.run(t, full, syncAcc, modelAccount("OpenAI", "S0", ""))

	for i := range maxStandard {
		s = must(t, s, fmt.Sprintf("%s/deployments/d%d", syncAcc, i), modelDeployment("Standard", 1, "gpt-4o", ""))
	}
	writeCase{reason: "32 for an account", want: QuotaExceeded, text: "33"}.run(t, s, syncAcc+"/deployments/new", modelDeployment("Standard", 1, "gpt-4o", ""))
	writeCase{reason: "neighbour: another SKU"}.run(t, s, syncAcc+"/deployments/new", modelDeployment("GlobalStandard", 1, "gpt-4o", ""))

	writeCase{reason: "neighbour: no quota is known"}.run(t, s, batchAcc+"/deployments/new", modelDeployment("GlobalBatch", 1000, "gpt-4o", ""))
	s.ModelQuota = map[string]float64{"swedencentral/OpenAI.GlobalBatch.gpt-4o": 100}
	writeCase{reason: "50 are in use", want: InsufficientQuota, text: "50 are in use"}.run(t, s, batchAcc+"/deployments/new", modelDeployment("GlobalBatch", 51, "gpt-4o", ""))
	writeCase{reason: "other accounts count", want: InsufficientQuota}.run(t, s, syncAcc+"/deployments/new", modelDeployment("GlobalBatch", 51, "gpt-4o", ""))
	writeCase{reason: "neighbour: what is left"}.run(t, s, batchAcc+"/deployments/new", modelDeployment("GlobalBatch", 50, "gpt-4o", ""))
	writeCase{reason: "neighbour: the deployment's own share is not counted twice"}.run(t, s, batchAcc+"/deployments/jobs", modelDeployment("GlobalBatch", 100, "gpt-4o", ""))
	writeCase{reason: "neighbour: another model"}.run(t, s, batchAcc+"/deployments/new", modelDeployment("GlobalBatch", 1000, "gpt-4.1", ""))
}

// Accounts, deployments and RAI policies answer with addresses and defaults
// (A467, A478), filters in the service's order (A481), and what they answer can
// be written back; a write that leaves the subdomain out keeps it (A462).
func TestModelAnswers(t *testing.T) {
	t.Parallel()
	s := must(t, models(t), aiAt+"ai", modelAccount("AIServices", "S0", `'customSubDomainName':'onedoor-ai'`))
	s = must(t, s, syncAcc+"/raiPolicies/mixed", `{'properties':{'contentFilters':[{'name':'Profanity','source':'Prompt','enabled':true},{'name':'hate','source':'Completion','enabled':false},{'name':'Hate','source':'Prompt','enabled':false}]}}`)
	for id, want := range map[string]map[string]any{
		syncAcc: {
			"properties.endpoint": "https://onedoor-sync.openai.azure.com/", "properties.publicNetworkAccess": "Enabled", "properties.disableLocalAuth": false,
			"properties.networkAcls.defaultAction": "Allow", "properties.provisioningState": Succeeded,
		},
		aiAt + "text": {"properties.endpoint": "https://swedencentral.api.cognitive.microsoft.com/"},
		aiAt + "ai":   {"properties.endpoint": "https://onedoor-ai.cognitiveservices.azure.com/", "properties.endpoints.AI Foundry API": "https://onedoor-ai.services.ai.azure.com/"},
		batchAcc + "/deployments/jobs": {
			"properties.versionUpgradeOption": "OnceNewDefaultVersionAvailable", "properties.raiPolicyName": "Microsoft.DefaultV2", "properties.currentCapacity": 50.0,
			"properties.model.version": "2024-11-20", "properties.capabilities.chatCompletion": "true", "properties.rateLimits": nil,
		},
		syncAcc + "/raiPolicies/mixed": {"properties.mode": "Default", "properties.type": "UserManaged"},
	} {
		for _, path := range sortedKeys(want) {
			if got := shown(t, s, id, path); fmt.Sprint(got) != fmt.Sprint(want[path]) {
				t.Errorf("%s: %s = %v, want %v", id, path, got, want[path])
			}
		}
	}
	if limits := (value{shown(t, s, syncAcc+"/deployments/chat", "properties.rateLimits")}).list(); len(limits) != 1 || limits[0].get("count").v != 10000.0 {
		t.Errorf("limits of a deployment of 10 units: %v", limits)
	}
	var order []string
	for _, filter := range (value{shown(t, s, syncAcc+"/raiPolicies/mixed", "properties.contentFilters")}).list() {
		order = append(order, filter.get("name").text()+"/"+filter.get("source").text())
	}
	if got := strings.Join(order, " "); got != "Hate/Prompt hate/Completion Profanity/Prompt" {
		t.Errorf("filters come as %s", got)
	}
	kept := must(t, s, syncAcc, modelAccount("OpenAI", "S0", ""))
	if got := shown(t, kept, syncAcc, "properties.customSubDomainName"); got != "onedoor-sync" {
		t.Errorf("subdomain after a write without it: %v", got)
	}
	writeBack(t, s, "/providers/Microsoft.CognitiveServices/")
}

// Keys are answered by an action, unless they are turned off (A468).
func TestModelAccountKeys(t *testing.T) {
	t.Parallel()
	s := models(t)
	a := Act(s, syncAcc+"/listKeys")
	if a.Status != http.StatusOK || len(value{a.Body["key1"]}.text()) != 32 || a.Body["key1"] == a.Body["key2"] {
		t.Errorf("keys: %d %v", a.Status, a.Body)
	}
	for path, want := range map[string]Code{batchAcc + "/listKeys": BadRequest, aiAt + "nope/listKeys": ResourceNotFound, syncAcc + "/regenerateKey": MethodNotAllowed} {
		if a := Act(s, path); a.Error == nil || a.Error.Code != want {
			t.Errorf("%s: %v, want %s", path, a.Error, want)
		}
	}
}
