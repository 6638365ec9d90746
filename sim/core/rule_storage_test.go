package core

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	accounts = rg + "/providers/Microsoft.Storage/storageAccounts/"
	stone    = accounts + "stone"
	lake     = accounts + "lake1"
	open     = accounts + "open1"
)

// stores adds accounts to the landscape: a plain one, a data lake, one that lets
// containers be public, and one for each other kind.
func stores(t testing.TB) State {
	t.Helper()
	s := must(t, platform(t), rg+"2", `{'location':'swedencentral'}`)
	for _, r := range []struct{ id, body string }{
		{vnet + "/subnets/served", `{'properties':{'addressPrefix':'10.0.3.0/24','serviceEndpoints':[{'service':'Microsoft.Storage'}]}}`},
		{stone, account("StorageV2", "Standard_ZRS", "")},
		{lake, account("StorageV2", "Standard_LRS", `'isHnsEnabled':true,'encryption':{'requireInfrastructureEncryption':true}`)},
		{open, account("StorageV2", "Standard_LRS", `'isHnsEnabled':false,'allowBlobPublicAccess':true,'largeFileSharesState':'Enabled','dnsEndpointType':'Standard'`)},
		{accounts + "old1", account("Storage", "Standard_LRS", "")},
		{accounts + "fast1", account("BlockBlobStorage", "Premium_LRS", "")},
		{accounts + "files1", account("FileStorage", "Premium_LRS", "")},
		{accounts + "worm1", account("StorageV2", "Standard_LRS", worm("Unlocked", 10))},
		{stone + "/blobServices/default/containers/payloads", `{'properties':{}}`},
		{stone + "/blobServices/default/containers/worm", `{'properties':{'immutableStorageWithVersioning':{'enabled':true}}}`},
	} {
		s = must(t, s, r.id, r.body)
	}
	return must(t, s, accounts+"worm1", account("StorageV2", "Standard_LRS", worm("Locked", 10)))
}

func account(kind, sku, props string) string {
	return `{'location':'swedencentral','kind':'` + kind + `','sku':{'name':'` + sku + `'},'properties':{` + props + `}}`
}

func worm(state string, days int) string {
	return fmt.Sprintf(`'immutableStorageWithVersioning':{'enabled':true,'immutabilityPolicy':{'state':'%s','immutabilityPeriodSinceCreationInDays':%d,'allowProtectedAppendWrites':false}}`, state, days)
}

// lifecycle is a policy of one rule; edit changes the rule.
func lifecycle(rules ...string) string {
	return `{'properties':{'policy':{'rules':[` + strings.Join(rules, ",") + `]}}}`
}

func expire(name, filters, actions string) string {
	return `{'name':'` + name + `','type':'Lifecycle','definition':{'filters':{` + filters + `},'actions':{` + actions + `}}}`
}

func many(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = expire(fmt.Sprint("rule", i), blocks, removal)
	}
	return out
}

const (
	blocks  = `'blobTypes':['blockBlob']`
	removal = `'baseBlob':{'delete':{'daysAfterModificationGreaterThan':7}}`
)

func TestStorageRules(t *testing.T) {
	t.Parallel()
	sub2, fresh := "/subscriptions/22222222-2222-2222-2222-222222222222", accounts+"fresh1"
	blobs, policy := "/blobServices/default", stone+"/managementPolicies/default"
	box := stone + blobs + "/containers/"
	v2 := func(props string) string { return account("StorageV2", "Standard_LRS", props) }
	props := func(p string) string { return `{'properties':{` + p + `}}` }
	kept := func(days int) string { return fmt.Sprintf(`'deleteRetentionPolicy':{'enabled':true,'days':%d}`, days) }
	for name, c := range map[string]writeCase{
		"A240 other group":                {reason: "one in the world", id: strings.Replace(stone, "/rg/", "/rg2/", 1), body: v2(""), want: StorageAccountInOtherGroup, text: stone},
		"A240 other subscription":         {reason: "one in the world", id: accounts + "taken1", body: v2(""), want: StorageAccountAlreadyTaken, text: sub2},
		"A240 again":                      {reason: "neighbour: it is an update", id: open, body: v2("")},
		"A240 capital":                    {reason: "lower case and digits, type data", id: accounts + "Fresh", body: v2(""), want: InvalidResourceName},
		"A240 25 letters":                 {reason: "24 at most, type data", id: accounts + strings.Repeat("a", 25), body: v2(""), want: InvalidResourceName},
		"A240 24 letters":                 {reason: "neighbour", id: accounts + strings.Repeat("a", 24), body: v2("")},
		"A241 blocks on Standard":         {reason: "a kind has its skus", id: fresh, body: account("BlockBlobStorage", "Standard_LRS", ""), want: InvalidValuesForRequest, text: "Premium_ZRS"},
		"A241 V2 on Premium_ZRS":          {reason: "a kind has its skus", id: fresh, body: account("StorageV2", "Premium_ZRS", ""), want: InvalidValuesForRequest},
		"A241 blobs on Premium":           {reason: "a kind has its skus", id: fresh, body: account("BlobStorage", "Premium_LRS", ""), want: InvalidValuesForRequest},
		"A241 V1 on Standard_ZRS":         {reason: "neighbour", id: fresh, body: account("Storage", "Standard_ZRS", "")},
		"A241 V2 on Premium_LRS":          {reason: "neighbour", id: fresh, body: account("StorageV2", "Premium_LRS", "")},
		"A241 files on Premium_ZRS":       {reason: "neighbour", id: fresh, body: account("FileStorage", "Premium_ZRS", "")},
		"A242 tree on Premium V2":         {reason: "Standard, or blocks", id: fresh, body: account("StorageV2", "Premium_LRS", `'isHnsEnabled':true`), want: InvalidRequestProperty, text: "'True' is not allowed for property isHnsEnabled"},
		"A242 tree on blocks":             {reason: "neighbour", id: fresh, body: account("BlockBlobStorage", "Premium_LRS", `'isHnsEnabled':true`)},
		"A242 SFTP on a flat account":     {reason: "it needs a tree", id: fresh, body: v2(`'isSftpEnabled':true`), want: InvalidRequestProperty},
		"A242 SFTP on a tree":             {reason: "neighbour", id: fresh, body: v2(`'isSftpEnabled':true,'isHnsEnabled':true`)},
		"A242 SFTP on a tree later":       {reason: "neighbour", id: lake, body: v2(`'isSftpEnabled':true`)},
		"A243 tree said false later":      {reason: "Azure refuses even that", id: stone, body: account("StorageV2", "Standard_ZRS", `'isHnsEnabled':false`), want: AccountPropertyNotUpdated, text: "nothing said of it"},
		"A243 tree said false from birth": {reason: "neighbour", id: open, body: v2(`'isHnsEnabled':false,'allowBlobPublicAccess':true`)},
		"A243 tree on later":              {reason: "set once", id: open, body: v2(`'isHnsEnabled':true`), want: AccountPropertyNotUpdated},
		"A243 tree off":                   {reason: "set once", id: lake, body: v2(`'isHnsEnabled':false`), want: AccountPropertyNotUpdated},
		"A243 tree left out":              {reason: "neighbour: it stays", id: lake, body: v2("")},
		"A243 double encryption later":    {reason: "set once", id: stone, body: account("StorageV2", "Standard_ZRS", `'encryption':{'requireInfrastructureEncryption':false}`), want: AccountPropertyNotUpdated},
		"A243 double encryption kept":     {reason: "neighbour", id: lake, body: v2(`'isHnsEnabled':true,'encryption':{'requireInfrastructureEncryption':true}`)},
		"A243 kind to blobs":              {reason: "only up", id: stone, body: account("BlobStorage", "Standard_LRS", ""), want: AccountPropertyNotUpdated, text: "kind"},
		"A243 kind up":                    {reason: "neighbour", id: accounts + "old1", body: v2("")},
		"A243 Premium later":              {reason: "performance stays", id: stone, body: account("StorageV2", "Premium_LRS", ""), want: AccountPropertyNotUpdated, text: "performance"},
		"A243 other replication":          {reason: "neighbour", id: open, body: account("StorageV2", "Standard_GRS", `'isHnsEnabled':false`)},
		"A243 large shares off":           {reason: "they stay", id: open, body: v2(`'largeFileSharesState':'Disabled'`), want: AccountPropertyNotUpdated},
		"A243 other endpoints":            {reason: "set once", id: open, body: v2(`'dnsEndpointType':'AzureDnsZone'`), want: AccountPropertyNotUpdated, text: "dnsEndpointType"},
		"A243 same endpoints":             {reason: "neighbour", id: open, body: v2(`'dnsEndpointType':'Standard'`)},
		"A244 born locked":                {reason: "unlocked at first", id: fresh, body: v2(worm("Locked", 10)), want: AccountPropertyNotUpdated},
		"A244 born unlocked":              {reason: "neighbour", id: fresh, body: v2(worm("Unlocked", 10))},
		"A244 later":                      {reason: "set once", id: stone, body: account("StorageV2", "Standard_ZRS", worm("Unlocked", 10)), want: AccountPropertyNotUpdated},
		"A244 unlocked again":             {reason: "a lock stays", id: accounts + "worm1", body: v2(worm("Unlocked", 10)), want: AccountPropertyNotUpdated, text: "never opens"},
		"A244 shorter":                    {reason: "it only grows", id: accounts + "worm1", body: v2(worm("Locked", 9)), want: AccountPropertyNotUpdated, text: "9 days"},
		"A244 longer":                     {reason: "neighbour", id: accounts + "worm1", body: v2(worm("Locked", 11))},
		"A244 appends":                    {reason: "frozen", id: accounts + "worm1", body: v2(strings.Replace(worm("Locked", 10), "false", "true", 1)), want: AccountPropertyNotUpdated, text: "allowProtectedAppendWrites"},
		"A245 subnet without endpoint":    {reason: "the subnet knows the service", id: stone, body: account("StorageV2", "Standard_ZRS", `'networkAcls':{'defaultAction':'Deny','virtualNetworkRules':[{'id':'$vnet/subnets/a'}]}`), want: NetworkAclsValidationFailure, text: "SubnetsHaveNoServiceEndpointsConfigured"},
		"A245 subnet with endpoint":       {reason: "neighbour", id: stone, body: account("StorageV2", "Standard_ZRS", `'networkAcls':{'defaultAction':'Deny','virtualNetworkRules':[{'id':'$vnet/subnets/served'}]}`)},
		"A246 private address":            {reason: "public ones", id: stone, body: account("StorageV2", "Standard_ZRS", `'networkAcls':{'defaultAction':'Deny','ipRules':[{'value':'10.0.0.1'}]}`), want: InvalidValuesForRequest},
		"A246 /32":                        {reason: "no mask for one address", id: stone, body: account("StorageV2", "Standard_ZRS", `'networkAcls':{'defaultAction':'Deny','ipRules':[{'value':'203.0.113.7/32'}]}`), want: InvalidValuesForRequest, text: "/30"},
		"A246 addresses":                  {reason: "neighbour", id: stone, body: account("StorageV2", "Standard_ZRS", `'networkAcls':{'defaultAction':'Deny','ipRules':[{'value':'203.0.113.7'},{'value':'203.0.113.0/30'}]}`)},
		"A209 blob service deleted":       {reason: "it exists as long as its account", method: Delete, id: stone + blobs, want: MethodNotAllowed},
		"A209 table service deleted":      {reason: "it exists as long as its account", method: Delete, id: stone + "/tableServices/default", want: MethodNotAllowed},
		"A209 account deleted":            {reason: "neighbour: they go with it", method: Delete, id: stone},
		"A248 blob service, other name":   {reason: "one service, type data", id: stone + "/blobServices/mine", body: props(""), want: InvalidResourceName, text: "default"},
		"A248 blobs of files":             {reason: "a kind has its services", id: accounts + "files1" + blobs, body: props(""), want: OperationNotAllowedOnKind},
		"A248 tables of blocks":           {reason: "a kind has its services", id: accounts + "fast1/tableServices/default", body: props(""), want: OperationNotAllowedOnKind},
		"A248 blobs of blocks":            {reason: "neighbour", id: accounts + "fast1" + blobs, body: props("")},
		"A250 versions in a tree":         {reason: "there are none", id: lake + blobs, body: props(`'isVersioningEnabled':true`), want: ContainerOperationFailure},
		"A250 soft delete in a tree":      {reason: "neighbour", id: lake + blobs, body: props(`'isVersioningEnabled':false,` + kept(7))},
		"A250 versions":                   {reason: "neighbour", id: stone + blobs, body: props(`'isVersioningEnabled':true`)},
		"A251 restore without versions":   {reason: "it is made of them", id: stone + blobs, body: props(`'restorePolicy':{'enabled':true,'days':6},'changeFeed':{'enabled':true},` + kept(7)), want: ContainerOperationFailure, text: "isVersioningEnabled"},
		"A251 restore without feed":       {reason: "it is made of it", id: stone + blobs, body: props(`'restorePolicy':{'enabled':true,'days':6},'isVersioningEnabled':true,` + kept(7)), want: ContainerOperationFailure, text: "changeFeed"},
		"A251 restore without soft":       {reason: "it is made of it", id: stone + blobs, body: props(`'restorePolicy':{'enabled':true,'days':6},'isVersioningEnabled':true,'changeFeed':{'enabled':true}`), want: ContainerOperationFailure, text: "deleteRetentionPolicy"},
		"A251 restore as long as soft":    {reason: "less far", id: stone + blobs, body: props(`'restorePolicy':{'enabled':true,'days':7},'isVersioningEnabled':true,'changeFeed':{'enabled':true},` + kept(7)), want: ContainerOperationFailure, text: "longer than Point In Time"},
		"A251 restore of no days":         {reason: "how far back", id: stone + blobs, body: props(`'restorePolicy':{'enabled':true},'isVersioningEnabled':true,'changeFeed':{'enabled':true},` + kept(7)), want: ContainerOperationFailure, text: "no days"},
		"A251 restore":                    {reason: "neighbour", id: stone + blobs, body: props(`'restorePolicy':{'enabled':true,'days':6},'isVersioningEnabled':true,'changeFeed':{'enabled':true},` + kept(7))},
		"A251 366 days":                   {reason: "a year at most, type data", id: stone + blobs, body: props(kept(366)), want: InvalidRequestContent},
		"A255 public container":           {reason: "the account forbids it", id: box + "web", body: props(`'publicAccess':'Blob'`), want: PublicAccessNotPermitted},
		"A255 public where it may be":     {reason: "neighbour", id: open + blobs + "/containers/web", body: props(`'publicAccess':'Blob'`)},
		"A255 private":                    {reason: "neighbour", id: box + "web", body: props(`'publicAccess':'None'`)},
		"A256 immutability later":         {reason: "set once", id: box + "payloads", body: props(`'immutableStorageWithVersioning':{'enabled':true}`), want: ContainerOperationFailure},
		"A256 immutability off":           {reason: "set once", id: box + "worm", body: props(`'immutableStorageWithVersioning':{'enabled':false}`), want: ContainerOperationFailure},
		"A256 immutability left out":      {reason: "neighbour: it stays", id: box + "worm", body: props("")},
		"A242 NFS on a flat account":      {reason: "it needs a tree", id: fresh, body: v2(`'isNfsV3Enabled':true`), want: InvalidRequestProperty},
		"A256 other scope":                {reason: "set once", id: box + "payloads", body: props(`'defaultEncryptionScope':'mine'`), want: ContainerOperationFailure},
		"A258 two letters":                {reason: "3..63, type data", id: box + "ab", body: props(""), want: InvalidResourceName},
		"A258 two dashes":                 {reason: "one at a time, type data", id: box + "a--b", body: props(""), want: InvalidResourceName},
		"A258 dashes":                     {reason: "neighbour", id: box + "a-b-c", body: props("")},
		"A260 other name":                 {reason: "no address", id: stone + "/managementPolicies/mine", body: lifecycle(expire("a", blocks, removal)), want: HTTPResourceNotFound, text: "default"},
		"A261 two of one name":            {reason: "names are unique", id: policy, body: lifecycle(expire("a", blocks, removal), expire("A", blocks, removal)), want: InvalidRequestProperty, text: "two of the name"},
		"A261 two names":                  {reason: "neighbour", id: policy, body: lifecycle(expire("a", blocks, removal), expire("b", blocks, removal))},
		"A261 page blobs":                 {reason: "block and append", id: policy, body: lifecycle(expire("a", `'blobTypes':['pageBlob']`, removal)), want: InvalidRequestProperty},
		"A261 no blob types":              {reason: "one at least", id: policy, body: lifecycle(expire("a", `'blobTypes':[]`, removal)), want: InvalidRequestProperty},
		"A261 cool append blobs":          {reason: "these are only deleted", id: policy, body: lifecycle(expire("a", `'blobTypes':['blockBlob','appendBlob']`, `'baseBlob':{'tierToCool':{'daysAfterModificationGreaterThan':7}}`)), want: InvalidRequestProperty, text: "append"},
		"A261 delete append blobs":        {reason: "neighbour", id: policy, body: lifecycle(expire("a", `'blobTypes':['appendBlob']`, removal))},
		"A261 no action":                  {reason: "one at least", id: policy, body: lifecycle(expire("a", blocks, "")), want: InvalidRequestProperty, text: "no action"},
		"A261 versions alone":             {reason: "neighbour", id: policy, body: lifecycle(expire("a", blocks, `'version':{'delete':{'daysAfterCreationGreaterThan':1}}`))},
		"A261 eleven prefixes":            {reason: "ten at most", id: policy, body: lifecycle(expire("a", blocks+`,'prefixMatch':['a1','a2','a3','a4','a5','a6','a7','a8','a9','b1','b2']`, removal)), want: InvalidRequestProperty},
		"A261 eleven index matches":       {reason: "ten at most", id: policy, body: lifecycle(expire("a", blocks+`,'blobIndexMatch':[`+strings.TrimSuffix(strings.Repeat(`{'name':'a','op':'==','value':'b'},`, 11), ",")+`]`, removal)), want: InvalidRequestProperty},
		"A261 101 rules":                  {reason: "100 at most", id: policy, body: lifecycle(many(101)...), want: InvalidRequestProperty},
		"A261 100 rules":                  {reason: "neighbour", id: policy, body: lifecycle(many(100)...)},
		"A261 index by >":                 {reason: "== alone", id: policy, body: lifecycle(expire("a", blocks+`,'blobIndexMatch':[{'name':'a','op':'>','value':'b'}]`, removal)), want: InvalidRequestProperty},
		"A261 index by ==":                {reason: "neighbour", id: policy, body: lifecycle(expire("a", blocks+`,'blobIndexMatch':[{'name':'a','op':'==','value':'b'}]`, removal))},
		"A261 cool after a tier":          {reason: "archive alone", id: policy, body: lifecycle(expire("a", blocks, `'baseBlob':{'tierToCool':{'daysAfterModificationGreaterThan':7,'daysAfterLastTierChangeGreaterThan':7}}`)), want: InvalidRequestProperty},
		"A261 archive after a tier":       {reason: "neighbour", id: policy, body: lifecycle(expire("a", blocks, `'baseBlob':{'tierToArchive':{'daysAfterModificationGreaterThan':7,'daysAfterLastTierChangeGreaterThan':7}}`))},
		"A261 hot again alone":            {reason: "from cool by access", id: policy, body: lifecycle(expire("a", blocks, `'baseBlob':{'enableAutoTierToHotFromCool':true,'delete':{'daysAfterModificationGreaterThan':7}}`)), want: InvalidRequestProperty},
		"A261 minus one day":              {reason: "0 at least, type data", id: policy, body: lifecycle(expire("a", blocks, `'baseBlob':{'delete':{'daysAfterModificationGreaterThan':-1}}`)), want: InvalidRequestContent},
		"A262 no such container":          {reason: "Azure accepts it", id: policy, body: lifecycle(expire("a", blocks+`,'prefixMatch':['nope/']`, removal))},
		"A263 access untracked":           {reason: "tracking first", id: policy, body: lifecycle(expire("a", blocks, `'baseBlob':{'delete':{'daysAfterLastAccessTimeGreaterThan':7}}`)), want: MissingLastAccessTracking},
		"A264 tables":                     {reason: "the service's own", id: stone + "/tableServices/default/tables/Tables", body: props(""), want: InvalidResourceName},
		"A264 ledger":                     {reason: "neighbour", id: stone + "/tableServices/default/tables/ledger", body: props("")},
		"A264 dash":                       {reason: "letters and digits, type data", id: stone + "/tableServices/default/tables/a-b-c", body: props(""), want: InvalidResourceName},
		"A265 container without account":  {reason: "it lives in one", id: accounts + "none1" + blobs + "/containers/abc", body: props(""), want: ParentResourceNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Seed(stores(t), Resource{ID: sub2 + "/resourceGroups/x/providers/Microsoft.Storage/storageAccounts/taken1"})
			c.run(t, s, c.id, c.body)
		})
	}
}

// What is tracked can be acted on (A263), and a restore policy is taken back
// before the days of deleted blobs go down (A252).
func TestBlobServiceSettings(t *testing.T) {
	t.Parallel()
	s, blobs := stores(t), stone+"/blobServices/default"
	s = must(t, s, blobs, `{'properties':{'lastAccessTimeTrackingPolicy':{'enable':true}}}`)
	ruleOf := lifecycle(expire("a", blocks, `'baseBlob':{'enableAutoTierToHotFromCool':true,'tierToCool':{'daysAfterLastAccessTimeGreaterThan':7}}`))
	writeCase{reason: "neighbour: it is tracked"}.run(t, s, stone+"/managementPolicies/default", ruleOf)

	body := `{'properties':{'restorePolicy':{'enabled':%v,'days':6},'isVersioningEnabled':true,'changeFeed':{'enabled':true},'deleteRetentionPolicy':{'enabled':true,'days':%d}}}`
	s = must(t, s, blobs, fmt.Sprintf(body, true, 12))
	writeCase{reason: "the policy is still in force", want: ContainerOperationFailure, text: "still in force"}.run(t, s, blobs, fmt.Sprintf(body, false, 5))
	s = must(t, s, blobs, fmt.Sprintf(body, false, 12))
	writeCase{reason: "neighbour: the second of two writes"}.run(t, s, blobs, fmt.Sprintf(body, false, 5))
}

// Accounts and what is in them answer with the service's defaults (A247, A248,
// A253, A257), and what one answers can be written back.
func TestStorageAnswers(t *testing.T) {
	t.Parallel()
	s, box := stores(t), stone+"/blobServices/default/containers/"
	s = must(t, s, stone+"/managementPolicies/default", lifecycle(expire("a", blocks, removal)))
	s = must(t, s, stone+"/tableServices/default/tables/ledger", `{'properties':{}}`)
	s = must(t, s, open, account("StorageV2", "Standard_LRS", `'networkAcls':{'defaultAction':'Deny','virtualNetworkRules':[{'id':'$vnet/subnets/served'}]}`))
	for id, want := range map[string]map[string]any{
		stone: {
			"properties.primaryEndpoints.blob": "https://stone.blob.core.windows.net/", "properties.primaryEndpoints.dfs": "https://stone.dfs.core.windows.net/",
			"properties.primaryEndpoints.web": "https://stone.z1.web.core.windows.net/", "properties.statusOfPrimary": "available", "sku.tier": "Standard",
			"properties.accessTier": "Hot", "properties.supportsHttpsTrafficOnly": true, "properties.allowBlobPublicAccess": false, "properties.minimumTlsVersion": "TLS1_0",
			"properties.networkAcls.defaultAction": "Allow", "properties.networkAcls.bypass": "AzureServices", "properties.encryption.keySource": "Microsoft.Storage",
			"properties.encryption.services.blob.enabled": true, "properties.isHnsEnabled": nil, "properties.provisioningState": Succeeded,
		},
		lake:                {"properties.isHnsEnabled": true},
		open:                {"properties.networkAcls.defaultAction": "Deny", "properties.isHnsEnabled": false, "properties.largeFileSharesState": "Enabled"},
		accounts + "files1": {"properties.primaryEndpoints.blob": nil, "properties.primaryEndpoints.file": "https://files1.file.core.windows.net/", "properties.accessTier": nil, "sku.tier": "Premium"},
		accounts + "old1":   {"properties.primaryEndpoints.dfs": nil},
		box + "payloads": {
			"properties.publicAccess": "None", "properties.hasImmutabilityPolicy": false, "properties.hasLegalHold": false, "properties.leaseState": "Available", "properties.leaseStatus": "Unlocked",
			"properties.defaultEncryptionScope": "$account-encryption-key", "properties.denyEncryptionScopeOverride": false, "properties.immutableStorageWithVersioning.enabled": false, "properties.provisioningState": nil,
		},
		box + "worm":                                   {"properties.immutableStorageWithVersioning.enabled": true},
		stone + "/blobServices/default":                {"properties.deleteRetentionPolicy.enabled": false, "sku.name": "Standard_ZRS", "properties.cors.corsRules": []any{}},
		stone + "/tableServices/default":               {"properties.cors.corsRules": []any{}},
		stone + "/tableServices/default/tables/ledger": {"properties.tableName": "ledger"},
		accounts + "fast1/blobServices/default":        {"sku.tier": "Premium"},
	} {
		for _, path := range sortedKeys(want) {
			if got := shown(t, s, id, path); fmt.Sprint(got) != fmt.Sprint(want[path]) {
				t.Errorf("%s: %s = %v, want %v", id, path, got, want[path])
			}
		}
	}
	again := must(t, s, box+"worm", `{'properties':{}}`)
	if got := shown(t, again, box+"worm", "properties.immutableStorageWithVersioning.enabled"); got != true {
		t.Errorf("immutability after a write that leaves it out: %v", got)
	}
	nets := value{shown(t, s, open, "properties.networkAcls.virtualNetworkRules")}.list()
	if len(nets) != 1 || nets[0].get("state").text() != Succeeded || nets[0].get("action").text() != "Allow" {
		t.Errorf("network rules: %v", nets)
	}
	rules := value{shown(t, s, stone+"/managementPolicies/default", "properties.policy.rules")}.list()
	if len(rules) != 1 || !rules[0].get("enabled").flag() {
		t.Errorf("policy rules: %v", rules)
	}
	if _, a := Apply(s, Op{Method: Get, ID: accounts + "files1/blobServices/default"}); a.Status != http.StatusNotFound {
		t.Errorf("blob service of a file account: %d", a.Status)
	}
	writeBack(t, s, "/providers/Microsoft.Storage/")
}

// A container's deletion is answered before it is done, so its name is taken for
// half a minute (A254); an account takes all with it, and the next one of its
// name knows nothing of it (A265).
func TestContainerNameIsTakenForAWhile(t *testing.T) {
	t.Parallel()
	box := stone + "/blobServices/default/containers/payloads"
	s, a := Apply(stores(t), Op{Method: Delete, ID: box, Instant: true})
	if a.Error != nil {
		t.Fatal(a.Error)
	}
	writeCase{reason: "being deleted", want: ContainerOperationFailure, text: "being deleted"}.run(t, s, box, `{'properties':{}}`)
	writeCase{reason: "still", want: ContainerOperationFailure}.run(t, Advance(s, s.Now+29*time.Second), box, `{'properties':{}}`)
	writeCase{reason: "neighbour: half a minute later"}.run(t, Advance(s, s.Now+30*time.Second), box, `{'properties':{}}`)

	s, a = Apply(s, Op{Method: Delete, ID: stone, Instant: true})
	if a.Error != nil || len(s.under(stone)) > 0 {
		t.Fatalf("deletion of the account: %v, %d left", a.Error, len(s.under(stone)))
	}
	s = must(t, s, stone, account("StorageV2", "Standard_ZRS", ""))
	writeCase{reason: "neighbour: another account"}.run(t, s, box, `{'properties':{}}`)
}
