package core

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	ids       = rg + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"
	worker    = ids + "worker"
	fics      = worker + "/federatedIdentityCredentials/"
	grants    = "/providers/Microsoft.Authorization/roleAssignments/"
	roles     = "/providers/Microsoft.Authorization/roleDefinitions/"
	guid1     = "11111111-aaaa-4bbb-8ccc-dddddddddddd"
	guid2     = "22222222-aaaa-4bbb-8ccc-dddddddddddd"
	guid3     = "33333333-aaaa-4bbb-8ccc-dddddddddddd"
	stranger  = "99999999-aaaa-4bbb-8ccc-dddddddddddd"
	blobRole  = roles + "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
	netRole   = roles + "4d97b98b-1d4f-4787-a291-c67834d212e7"
	vaults    = rg + "/providers/Microsoft.KeyVault/vaults/"
	regs      = rg + "/providers/Microsoft.ContainerRegistry/registries/"
	endpoints = net + "privateEndpoints/"
)

// ruleCase is one write or deletion upon a state.
type ruleCase struct {
	reason string
	method Method // Put if empty
	id     string
	body   string
	before []write // what is there already, besides the landscape
	edit   func(State) State
	want   Code // "" for a legal neighbour
	text   string
}

type write struct{ id, body string }

// try runs each case upon base: the refusal and its legal neighbour.
func try(t *testing.T, base State, cases map[string]ruleCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := base
			for _, w := range c.before {
				s = must(t, s, w.id, w.body)
			}
			if c.edit != nil {
				s = c.edit(s)
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
			case a.Error != nil && (a.Error.Code != c.want || !strings.Contains(a.Error.Message, c.text) || !strings.Contains(a.Error.Message, "fix: ")):
				t.Errorf("%s: %v, want %s with %q and a remedy", c.reason, a.Error, c.want, c.text)
			}
		})
	}
}

// access is the landscape with an identity.
func access(t testing.TB) State {
	t.Helper()
	return must(t, platform(t), worker, `{'location':'Sweden Central'}`)
}

func gone(t testing.TB, s State, id string) State {
	t.Helper()
	next, a := Apply(s, Op{Method: Delete, ID: id, Instant: true})
	if a.Error != nil {
		t.Fatalf("DELETE %s: %v", id, a.Error)
	}
	return next
}

func show(t testing.TB, s State, id string) value {
	t.Helper()
	_, a := Apply(s, Op{Method: Get, ID: id})
	if a.Error != nil {
		t.Fatalf("GET %s: %v", id, a.Error)
	}
	return root(a.Body)
}

func principalOf(t testing.TB, s State) string {
	t.Helper()
	return show(t, s, worker).get("properties.principalId").text()
}

func grant(principal, role string) string {
	return fmt.Sprintf(`{'properties':{'principalId':'%s','principalType':'ServicePrincipal','roleDefinitionId':'%s%s'}}`, principal, sub, role)
}

func credential(issuer, subject string) string {
	return fmt.Sprintf(`{'properties':{'issuer':'%s','subject':'%s','audiences':['api://AzureADTokenExchange']}}`, issuer, subject)
}

func TestIdentityRules(t *testing.T) {
	t.Parallel()
	const issuer, subject = "https://oidc.example/a/", "system:serviceaccount:ns:app"
	twenty := []write{}
	for i := range 20 {
		twenty = append(twenty, write{fmt.Sprintf("%sfic-%02d", fics, i), credential(issuer, fmt.Sprint("s", i))})
	}
	try(t, access(t), map[string]ruleCase{
		"A310 two characters":     {reason: "3 at least", id: ids + "ab", body: `{'location':'swedencentral'}`, want: InvalidResourceName},
		"A310 three characters":   {reason: "neighbour", id: ids + "ab_", body: `{'location':'swedencentral'}`},
		"A310 129 characters":     {reason: "128 at most", id: ids + strings.Repeat("a", 129), body: `{'location':'swedencentral'}`, want: InvalidResourceName},
		"A310 128 characters":     {reason: "neighbour", id: ids + strings.Repeat("a", 128), body: `{'location':'swedencentral'}`},
		"A310 begins with hyphen": {reason: "a letter or digit first", id: ids + "-abc", body: `{'location':'swedencentral'}`, want: InvalidResourceName},
		"A310 no location":        {reason: "identities are regional", id: ids + "abc", body: `{}`, want: InvalidRequestContent, text: "location"},
		"A311 21 credentials":     {reason: "Entra's limit is 20", id: fics + "more", body: credential(issuer, "s99"), before: twenty, want: BadRequest, text: "20"},
		"A311 20 credentials":     {reason: "neighbour", id: fics + "more", body: credential(issuer, "s99"), before: twenty[1:]},
		"A311 same again":         {reason: "an update is none more", id: fics + "fic-00", body: credential(issuer, "s99"), before: twenty},
		"A311 same pair":          {reason: "issuer and subject are unique", id: fics + "second", body: credential(issuer, subject), before: []write{{fics + "first", credential(issuer, subject)}}, want: Conflict},
		"A311 same subject":       {reason: "neighbour", id: fics + "second", body: credential("https://oidc.example/b/", subject), before: []write{{fics + "first", credential(issuer, subject)}}},
		"A312 two audiences":      {reason: "exactly one", id: fics + "fic", body: `{'properties':{'issuer':'https://oidc.example/','subject':'s','audiences':['a','b']}}`, want: BadRequest, text: "audience"},
		"A312 no audience":        {reason: "exactly one", id: fics + "fic", body: `{'properties':{'issuer':'https://oidc.example/','subject':'s','audiences':[]}}`, want: BadRequest},
		"A312 another audience":   {reason: "neighbour", id: fics + "fic", body: `{'properties':{'issuer':'https://oidc.example/','subject':'s','audiences':['a']}}`},
		"A312 http":               {reason: "issuers are https", id: fics + "fic", body: credential("http://oidc.example/", "s"), want: BadRequest, text: "https"},
		"A312 no subject":         {reason: "it names somebody", id: fics + "fic", body: credential(issuer, ""), want: BadRequest},
		"A312 601 characters":     {reason: "600 at most", id: fics + "fic", body: credential(issuer, strings.Repeat("s", 601)), want: BadRequest},
		"A312 600 characters":     {reason: "neighbour", id: fics + "fic", body: credential(issuer, strings.Repeat("s", 600))},
	})
}

// An identity made again under its name is another one, and credentials go with
// their identity (A300).
func TestIdentityIncarnations(t *testing.T) {
	t.Parallel()
	s := must(t, access(t), fics+"fic", credential("https://oidc.example/", "s"))
	was := show(t, s, worker)
	for _, field := range []string{"principalId", "clientId", "tenantId"} {
		if !guidPattern.MatchString(was.get("properties." + field).text()) {
			t.Errorf("%s: got %v, want a GUID", field, was.get("properties."+field))
		}
	}
	s = gone(t, s, worker)
	if _, ok := s.Find(fics + "fic"); ok {
		t.Error("the credential outlived its identity")
	}
	s = must(t, s, worker, `{'location':'swedencentral'}`)
	for _, field := range []string{"principalId", "clientId"} {
		if now := show(t, s, worker).get("properties." + field).text(); now == was.get("properties."+field).text() {
			t.Errorf("%s: both have %s", field, now)
		}
	}
	s = must(t, s, worker, `{'location':'swedencentral','tags':{'a':'b'}}`)
	if now, again := principalOf(t, s), show(t, must(t, s, worker, `{'location':'swedencentral'}`), worker).get("properties.principalId").text(); now != again {
		t.Errorf("an update changed principalId from %s to %s", now, again)
	}
}

// Two writes at once on the credentials of one identity: the second is refused
// by a code that azure-native does not try again (A315).
func TestConcurrentCredentials(t *testing.T) {
	t.Parallel()
	s := must(t, access(t), ids+"other", `{'location':'swedencentral'}`)
	s, a := Apply(s, Op{Method: Put, ID: fics + "one", Body: j(t, credential("https://oidc.example/", "one"))})
	if a.Error != nil || a.Operation == nil {
		t.Fatalf("first: %v", a)
	}
	two := Op{Method: Put, ID: fics + "two", Body: j(t, credential("https://oidc.example/", "two"))}
	if _, a := Apply(s, two); a.Error == nil || a.Error.Code != ConcurrentFederatedWrites || a.Status != http.StatusConflict {
		t.Errorf("second: got %v, want %s", a.Error, ConcurrentFederatedWrites)
	}
	elsewhere := two
	elsewhere.ID = ids + "other/federatedIdentityCredentials/two"
	if _, a := Apply(s, elsewhere); a.Error != nil {
		t.Errorf("another identity: %v", a.Error)
	}
	if _, a := Apply(Settle(s), two); a.Error != nil {
		t.Errorf("after the first: %v", a.Error)
	}
}

func TestRoleAssignmentRules(t *testing.T) {
	t.Parallel()
	s := access(t)
	me := principalOf(t, s)
	custom := fmt.Sprintf(`{'properties':{'roleName':'mine','assignableScopes':['%s'],'permissions':[{'actions':['*/read']}]}}`, rg)
	first := write{rg + grants + guid1, grant(me, blobRole)}
	closed := func(s State) State { s.ClosedTenant = true; return s }
	try(t, s, map[string]ruleCase{
		"A302 no GUID":              {reason: "names are GUIDs", id: rg + grants + "worker-blob", body: grant(me, blobRole), want: InvalidRoleAssignmentID, text: "GUID"},
		"A302 GUID":                 {reason: "neighbour", id: rg + grants + guid1, body: grant(me, blobRole)},
		"A301 scope missing":        {reason: "a scope of ours exists", id: net + "virtualNetworks/nope" + grants + guid1, body: grant(me, netRole), want: ParentResourceNotFound},
		"A301 scope there":          {reason: "neighbour", id: vnet + "/subnets/a" + grants + guid1, body: grant(me, netRole)},
		"A301 scope elsewhere":      {reason: "taken to exist", id: sub + "/resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub" + grants + guid1, body: grant(me, netRole)},
		"A301 subscription":         {reason: "a scope", id: sub + grants + guid1, body: grant(me, netRole)},
		"A303 role missing":         {reason: "it exists", id: rg + grants + guid1, body: grant(me, roles+guid3), want: RoleDefinitionDoesNotExist, text: guid3},
		"A303 no role id":           {reason: "it is an id", id: rg + grants + guid1, body: `{'properties':{'principalId':'` + me + `','roleDefinitionId':'Reader'}}`, want: InvalidRoleDefinitionID},
		"A303 custom role":          {reason: "neighbour", id: rg + grants + guid1, body: grant(me, roles+guid3), before: []write{{rg + roles + guid3, custom}}},
		"A308 outside its scopes":   {reason: "a custom role is granted in its scopes", id: sub + grants + guid1, body: grant(me, roles+guid3), before: []write{{rg + roles + guid3, custom}}, want: BadRequest, text: rg},
		"A308 below its scopes":     {reason: "neighbour", id: vnet + grants + guid1, body: grant(me, roles+guid3), before: []write{{rg + roles + guid3, custom}}},
		"A304 client id":            {reason: "a principal is a GUID", id: rg + grants + guid1, body: grant("worker", blobRole), want: InvalidPrincipalID},
		"A304 as a user":            {reason: "an identity is a service principal", id: rg + grants + guid1, body: strings.Replace(grant(me, blobRole), "ServicePrincipal", "User", 1), want: UnmatchedPrincipalType, text: worker},
		"A304 no type":              {reason: "neighbour", id: rg + grants + guid1, body: strings.Replace(grant(me, blobRole), "'principalType':'ServicePrincipal',", "", 1)},
		"A304 stranger":             {reason: "the directory has others", id: rg + grants + guid1, body: grant(stranger, blobRole)},
		"A304 closed tenant":        {reason: "here it has none", id: rg + grants + guid1, body: grant(stranger, blobRole), edit: closed, want: PrincipalNotFound, text: stranger},
		"A304 closed, known":        {reason: "neighbour", id: rg + grants + guid1, body: grant(me, blobRole), edit: closed},
		"A305 other principal":      {reason: "an assignment is fixed", id: rg + grants + guid1, body: grant(stranger, blobRole), before: []write{first}, want: RoleAssignmentUpdateNotPermitted, text: "principalId"},
		"A305 other role":           {reason: "an assignment is fixed", id: rg + grants + guid1, body: grant(me, netRole), before: []write{first}, want: RoleAssignmentUpdateNotPermitted, text: "roleDefinitionId"},
		"A305 other description":    {reason: "neighbour", id: rg + grants + guid1, body: strings.Replace(grant(strings.ToUpper(me), blobRole), "'principalId'", "'description':'d','principalId'", 1), before: []write{first}},
		"A306 same three":           {reason: "once", id: rg + grants + guid2, body: grant(me, blobRole), before: []write{first}, want: RoleAssignmentExists, text: guid1},
		"A306 same, another form":   {reason: "once, however spelled", id: strings.ToUpper(rg) + grants + guid2, body: grant(strings.ToUpper(me), strings.ToUpper(blobRole)), before: []write{first}, want: RoleAssignmentExists},
		"A306 other role":           {reason: "neighbour", id: rg + grants + guid2, body: grant(me, netRole), before: []write{first}},
		"A306 other scope":          {reason: "neighbour", id: vnet + grants + guid2, body: grant(me, blobRole), before: []write{first}},
		"A306 other principal":      {reason: "neighbour", id: rg + grants + guid2, body: grant(stranger, blobRole), before: []write{first}},
		"A309 no GUID":              {reason: "names are GUIDs", id: rg + roles + "mine", body: custom, want: InvalidRoleDefinitionID},
		"A309 GUID":                 {reason: "neighbour", id: rg + roles + guid3, body: custom},
		"A309 a built-in GUID":      {reason: "taken", id: rg + blobRole, body: custom, want: BadRequest},
		"A309 no role name":         {reason: "people see it", id: rg + roles + guid3, body: strings.Replace(custom, "mine", "", 1), want: BadRequest},
		"A309 same name":            {reason: "unique in the tenant", id: sub + roles + guid2, body: strings.NewReplacer("mine", "Mine", rg, sub).Replace(custom), before: []write{{rg + roles + guid3, custom}}, want: RoleDefinitionWithSameNameExists, text: guid3},
		"A309 a built-in name":      {reason: "unique in the tenant", id: rg + roles + guid3, body: strings.Replace(custom, "mine", "AcrPull", 1), want: RoleDefinitionWithSameNameExists},
		"A309 its own name":         {reason: "neighbour", id: rg + roles + guid3, body: custom, before: []write{{rg + roles + guid3, custom}}},
		"A309 no scope":             {reason: "granted nowhere", id: rg + roles + guid3, body: strings.Replace(custom, "'"+rg+"'", "", 1), want: BadRequest, text: "at least one"},
		"A309 other scope":          {reason: "made where it is assignable", id: sub + roles + guid3, body: custom, want: BadRequest, text: sub},
		"A309 scope below":          {reason: "neighbour", id: vnet + roles + guid3, body: custom},
		"A309 wildcard":             {reason: "no wildcard", id: rg + roles + guid3, body: strings.Replace(custom, "'"+rg+"'", "'"+rg+"','"+sub+"/resourceGroups/*'", 1), want: BadRequest, text: "/*"},
		"A313 no action":            {reason: "Provider/type/verb", id: rg + roles + guid3, body: strings.Replace(custom, "*/read", "read", 1), want: InvalidActionOrNotAction},
		"A313 unknown provider":     {reason: "a known one", id: rg + roles + guid3, body: strings.Replace(custom, "*/read", "Microsoft.Storag/accounts/read", 1), want: InvalidActionOrNotAction, text: "Microsoft.Storage"},
		"A313 known provider":       {reason: "neighbour", id: rg + roles + guid3, body: strings.Replace(custom, "*/read", "Microsoft.CognitiveServices/accounts/OpenAI/deployments/chat/completions/action", 1)},
		"A313 data action":          {reason: "data actions too", id: rg + roles + guid3, body: strings.Replace(custom, "'actions'", "'dataActions':['files/write'],'actions'", 1), want: InvalidActionOrNotAction},
		"A314 assigned":             {reason: "a role in use stays", method: Delete, id: rg + roles + guid3, before: []write{{rg + roles + guid3, custom}, {vnet + grants + guid1, grant(me, roles+guid3)}}, want: RoleDefinitionHasAssignments, text: guid1},
		"A314 idle":                 {reason: "neighbour", method: Delete, id: rg + roles + guid3, before: []write{{rg + roles + guid3, custom}}},
		"A314 all go together":      {reason: "neighbour", method: Delete, id: rg, before: []write{{rg + roles + guid3, custom}, {vnet + grants + guid1, grant(me, roles+guid3)}}},
		"A301 scope as GUID only":   {reason: "a management group is a scope", id: "/providers/Microsoft.Management/managementGroups/mg" + grants + guid1, body: grant(me, netRole)},
		"A303 tenant form of an id": {reason: "neighbour", id: rg + grants + guid1, body: strings.Replace(grant(me, blobRole), sub, "", 1)},
	})
}

// Azure shows scope, role and who wrote it (A307). Assignments go with their
// scope and stay when their principal goes (A316).
func TestRoleAssignmentAnswers(t *testing.T) {
	t.Parallel()
	s := access(t)
	me := principalOf(t, s)
	s = must(t, s, vnet+grants+guid1, strings.NewReplacer(sub, "", "'principalType':'ServicePrincipal',", "").Replace(grant(me, netRole)))
	a := show(t, s, vnet+grants+guid1)
	for path, want := range map[string]string{
		"properties.scope": vnet, "properties.roleDefinitionId": sub + netRole, "properties.principalType": "ServicePrincipal",
		"properties.principalId": me, "properties.createdOn": made, "name": guid1, "type": "Microsoft.Authorization/roleAssignments",
	} {
		if got := a.get(path).text(); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	if !a.get("properties.provisioningState").absent() {
		t.Error("an assignment has no provisioningState")
	}
	s = must(t, s, rg+grants+guid2, grant(me, netRole))
	s = gone(t, s, worker)
	if _, ok := s.Find(vnet + grants + guid1); !ok {
		t.Error("the assignment went with its principal")
	}
	s = gone(t, s, vnet)
	if _, ok := s.Find(vnet + grants + guid1); ok {
		t.Error("the assignment outlived its scope")
	}
	if _, ok := s.Find(rg + grants + guid2); !ok {
		t.Error("the assignment at the group went with the network")
	}
}

// A system-assigned identity and a cluster's kubelet are principals as well, and
// an assignment does not wait for its scope to settle, only to be there (A301,
// A304).
func TestAssignmentsAreAttached(t *testing.T) {
	t.Parallel()
	s := access(t)
	me := principalOf(t, s)
	s = must(t, s, rg+"/providers/Microsoft.CognitiveServices/accounts/models", `{'location':'swedencentral','kind':'OpenAI','sku':{'name':'S0'},'identity':{'type':'SystemAssigned'},'properties':{}}`)
	own := show(t, s, rg+"/providers/Microsoft.CognitiveServices/accounts/models").get("identity.principalId").text()
	if owner, ok := s.principal(own); !ok || Name(owner.ID) != "models" {
		t.Errorf("principal %s of the account is unknown", own)
	}
	s, _ = Apply(s, Op{Method: Put, ID: vnet, Body: j(t, `{'location':'swedencentral','tags':{'a':'b'},'properties':{'addressSpace':{'addressPrefixes':['10.0.0.0/16']}}}`)})
	op := Op{Method: Put, ID: vnet + grants + guid1, Body: j(t, grant(me, netRole))}
	if _, a := Apply(s, op); a.Error != nil {
		t.Errorf("while the scope is being updated: %v", a.Error)
	}
	if _, a := Apply(s, Op{Method: Put, ID: vnet + "/subnets/new", Body: j(t, `{'properties':{'addressPrefix':'10.0.9.0/24'}}`)}); a.Error == nil {
		t.Error("a subnet was accepted while its network is being updated")
	}
	fresh, _ := Apply(s, Op{Method: Put, ID: net + "virtualNetworks/fresh", Body: j(t, `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.9.0.0/16']}}}`)})
	op.ID = net + "virtualNetworks/fresh" + grants + guid1
	if _, a := Apply(fresh, op); a.Error == nil || a.Error.Code != ReferencedResourceNotProvisioned {
		t.Errorf("while the scope is being made: got %v", a.Error)
	}
}

const vaultBody = `{'location':'swedencentral','properties':{'tenantId':'` + guid1 + `','sku':{'family':'A','name':'standard'},'enableRbacAuthorization':true`

func vault(edits string) string {
	if edits != "" {
		edits = "," + edits
	}
	return vaultBody + edits + `}}`
}

func TestVaultRules(t *testing.T) {
	t.Parallel()
	elsewhere := rg + "2/providers/Microsoft.KeyVault/vaults/"
	base := must(t, platform(t), rg+"2", `{'location':'swedencentral'}`)
	there := []write{{vaults + "kv-1", vault(`'softDeleteRetentionInDays':7`)}}
	safe := []write{{vaults + "kv-1", vault(`'softDeleteRetentionInDays':7,'enablePurgeProtection':true`)}}
	deleted := func(s State) State { return gone(t, s, vaults+"kv-1") }
	after := func(d time.Duration) func(State) State {
		return func(s State) State { return Advance(deleted(s), s.Now+d) }
	}
	try(t, base, map[string]ruleCase{
		"A320 two hyphens":        {reason: "never two in a row", id: vaults + "kv--1", body: vault(""), want: VaultNameNotValid},
		"A320 one hyphen":         {reason: "neighbour", id: vaults + "kv-1", body: vault("")},
		"A320 begins with digit":  {reason: "a letter first", id: vaults + "1kv", body: vault(""), want: VaultNameNotValid},
		"A320 ends with hyphen":   {reason: "no hyphen at the end", id: vaults + "kv-", body: vault(""), want: VaultNameNotValid},
		"A320 25 characters":      {reason: "24 at most", id: vaults + strings.Repeat("a", 25), body: vault(""), want: InvalidResourceName},
		"A320 24 characters":      {reason: "neighbour", id: vaults + strings.Repeat("a", 24), body: vault("")},
		"A321 same name":          {reason: "unique in the world", id: elsewhere + "KV-1", body: vault(""), before: there, want: VaultAlreadyExists, text: vaults + "kv-1"},
		"A321 other name":         {reason: "neighbour", id: elsewhere + "kv-2", body: vault(""), before: there},
		"A322 deleted":            {reason: "the name stays taken", id: vaults + "kv-1", body: vault(""), before: there, edit: deleted, want: ConflictError, text: "exists in deleted state"},
		"A322 deleted, protected": {reason: "the message says how long", id: vaults + "kv-1", body: vault(""), before: safe, edit: after(48 * time.Hour), want: ConflictError, text: "5 more days"},
		"A322 elsewhere":          {reason: "everywhere", id: elsewhere + "kv-1", body: vault(""), before: there, edit: deleted, want: ConflictError},
		"A322 in time":            {reason: "until its retention is over", id: vaults + "kv-1", body: vault(""), before: there, edit: after(7*24*time.Hour - 1), want: ConflictError},
		"A322 over":               {reason: "neighbour", id: vaults + "kv-1", body: vault(""), before: there, edit: after(7 * 24 * time.Hour)},
		"A322 recover elsewhere":  {reason: "where it was", id: elsewhere + "kv-1", body: vault(`'createMode':'recover'`), before: there, edit: deleted, want: ConflictError},
		"A322 recovered":          {reason: "neighbour", id: vaults + "kv-1", body: vault(`'createMode':'recover'`), before: there, edit: deleted},
		"A323 6 days":             {reason: "7..90", id: vaults + "kv-1", body: vault(`'softDeleteRetentionInDays':6`), want: InvalidRequestContent},
		"A323 91 days":            {reason: "7..90", id: vaults + "kv-1", body: vault(`'softDeleteRetentionInDays':91`), want: InvalidRequestContent},
		"A323 90 days":            {reason: "neighbour", id: vaults + "kv-1", body: vault(`'softDeleteRetentionInDays':90`)},
		"A323 changed":            {reason: "set once", id: vaults + "kv-1", body: vault(`'softDeleteRetentionInDays':8`), before: there, want: BadRequest, text: "can't be modified"},
		"A323 default changed":    {reason: "90 was set too", id: vaults + "kv-1", body: vault(`'softDeleteRetentionInDays':8`), before: []write{{vaults + "kv-1", vault("")}}, want: BadRequest},
		"A323 kept":               {reason: "neighbour", id: vaults + "kv-1", body: vault(`'softDeleteRetentionInDays':7`), before: there},
		"A323 left out":           {reason: "neighbour", id: vaults + "kv-1", body: vault(""), before: there},
		"A324 false":              {reason: "Azure takes no false", id: vaults + "kv-1", body: vault(`'enablePurgeProtection':false`), want: BadRequest},
		"A324 turned off":         {reason: "irreversible", id: vaults + "kv-1", body: vault(`'enablePurgeProtection':false`), before: safe, want: BadRequest},
		"A324 turned on":          {reason: "neighbour", id: vaults + "kv-1", body: vault(`'enablePurgeProtection':true`), before: there},
		"A325 no soft delete":     {reason: "every vault has it", id: vaults + "kv-1", body: vault(`'enableSoftDelete':false`), want: BadRequest},
		"A325 soft delete":        {reason: "neighbour", id: vaults + "kv-1", body: vault(`'enableSoftDelete':true`)},
		"A326 no access":          {reason: "roles or policies", id: vaults + "kv-1", body: strings.Replace(vault(""), "'enableRbacAuthorization':true", "'enableRbacAuthorization':false", 1), want: BadRequest, text: "accessPolicies"},
		"A326 policies":           {reason: "neighbour", id: vaults + "kv-1", body: strings.Replace(vault(""), "'enableRbacAuthorization':true", "'accessPolicies':[]", 1)},
		"A326 update":             {reason: "neighbour", id: vaults + "kv-1", body: strings.Replace(vault(""), "'enableRbacAuthorization':true", "'enableRbacAuthorization':false", 1), before: there},
		"A328 deleted secret":     {reason: "its name stays taken", id: vaults + "kv-1/secrets/s", body: `{'properties':{'value':'v'}}`, before: append(there, write{vaults + "kv-1/secrets/s", `{'properties':{'value':'v'}}`}), edit: func(s State) State { return gone(t, s, vaults+"kv-1/secrets/s") }, want: Conflict},
		"A328 another secret":     {reason: "neighbour", id: vaults + "kv-1/secrets/t", body: `{'properties':{'value':'v'}}`, before: append(there, write{vaults + "kv-1/secrets/s", `{'properties':{'value':'v'}}`}), edit: func(s State) State { return gone(t, s, vaults+"kv-1/secrets/s") }},
		"A320 no GUID":            {reason: "a tenant is a GUID", id: vaults + "kv-1", body: strings.Replace(vault(""), guid1, "contoso", 1), want: InvalidRequestContent},
	})
}

// A recovered vault is the one it was, with its secrets, and one made anew has
// none of them; purging frees the name, purge protection forbids it (A322, A327).
func TestVaultRecoveryAndPurge(t *testing.T) {
	t.Parallel()
	s := must(t, platform(t), vaults+"kv-1", vault(`'softDeleteRetentionInDays':30,'networkAcls':{'defaultAction':'Deny'}`))
	v := show(t, s, vaults+"kv-1").get("properties")
	for path, want := range map[string]any{
		"vaultUri": "https://kv-1.vault.azure.net/", "enabledForDeployment": false, "enabledForDiskEncryption": false, "enabledForTemplateDeployment": false,
		"enableSoftDelete": true, "publicNetworkAccess": "Enabled", "softDeleteRetentionInDays": 30.0, "networkAcls.bypass": "AzureServices", "networkAcls.defaultAction": "Deny",
	} {
		if got := v.get(path).v; got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	kept := must(t, must(t, s, vaults+"kv-1", vault(`'enablePurgeProtection':true`)), vaults+"kv-1", vault(`'createMode':'default'`))
	for path, want := range map[string]any{"softDeleteRetentionInDays": 30.0, "enablePurgeProtection": true, "createMode": nil} {
		if got := show(t, kept, vaults+"kv-1").get("properties." + path).v; got != want {
			t.Errorf("after a PUT without it, %s: got %v, want %v", path, got, want)
		}
	}
	s = must(t, s, vaults+"kv-1/secrets/s", `{'properties':{'value':'v'}}`)
	s = must(t, s, vaults+"kv-1/secrets/old", `{'properties':{'value':'v'}}`)
	s = Advance(gone(t, s, vaults+"kv-1/secrets/old"), time.Hour)
	dead := gone(t, s, vaults+"kv-1")
	back := must(t, dead, vaults+"kv-1", vault(`'createMode':'recover'`))
	if got := show(t, back, vaults+"kv-1").get("properties.softDeleteRetentionInDays").v; got != 30.0 {
		t.Errorf("recovered with a retention of %v", got)
	}
	if _, ok := back.Find(vaults + "kv-1/secrets/s"); !ok {
		t.Error("the secret did not come back")
	}
	if _, ok := back.Find(vaults + "kv-1/secrets/old"); ok {
		t.Error("a secret deleted before its vault came back with it")
	}
	free, err := Purge(dead, vaults+"kv-1")
	if err != nil {
		t.Fatal(err)
	}
	fresh := must(t, free, vaults+"kv-1", vault(""))
	if _, ok := fresh.Find(vaults + "kv-1/secrets/s"); ok || len(fresh.SoftDeleted) != 0 {
		t.Error("a new vault has the secrets of the old one")
	}
	late := must(t, Advance(dead, dead.Now+31*24*time.Hour), vaults+"kv-1", vault(""))
	if len(late.SoftDeleted) != 0 {
		t.Error("a new vault keeps the deleted secrets of one that is over")
	}
	if _, err := Purge(s, vaults+"kv-1"); err == nil || err.Code != NotFound {
		t.Errorf("purge of a live vault: %v", err)
	}
	safe := gone(t, must(t, platform(t), vaults+"kv-1", vault(`'enablePurgeProtection':true`)), vaults+"kv-1")
	if _, err := Purge(safe, vaults+"kv-1"); err == nil || err.Code != MethodNotAllowed {
		t.Errorf("purge with purge protection: %v", err)
	}
}

func registry(sku, edits string) string {
	return `{'location':'swedencentral','sku':{'name':'` + sku + `'},'properties':{` + edits + `}}`
}

func TestRegistryRules(t *testing.T) {
	t.Parallel()
	base := must(t, platform(t), rg+"2", `{'location':'swedencentral'}`)
	there := []write{{regs + "images", registry("Premium", `'zoneRedundancy':'Enabled'`)}}
	connected := append(there, write{endpoints + "pe", endpoint(regs+"images", "registry")})
	cached := append(there, write{regs + "images/cacheRules/first", `{'properties':{'sourceRepository':'docker.io/library/a','targetRepository':'a'}}`})
	cases := map[string]ruleCase{
		"A330 four characters":  {reason: "5 at least", id: regs + "imag", body: registry("Basic", ""), want: InvalidResourceName},
		"A330 hyphen":           {reason: "letters and digits", id: regs + "my-images", body: registry("Basic", ""), want: InvalidResourceName},
		"A330 five":             {reason: "neighbour", id: regs + "imagE", body: registry("Basic", "")},
		"A330 same name":        {reason: "unique in the world", id: rg + "2/providers/Microsoft.ContainerRegistry/registries/Images", body: registry("Basic", ""), before: there, want: AlreadyInUse},
		"A330 other name":       {reason: "neighbour", id: rg + "2/providers/Microsoft.ContainerRegistry/registries/images2", body: registry("Basic", ""), before: there},
		"A331 closed":           {reason: "Premium only", id: regs + "other", body: registry("Standard", `'publicNetworkAccess':'Disabled'`), want: DisablingPublicAccess},
		"A331 closed, Premium":  {reason: "neighbour", id: regs + "other", body: registry("Premium", `'publicNetworkAccess':'Disabled'`)},
		"A331 classic":          {reason: "retired", id: regs + "other", body: registry("Classic", ""), want: BadRequest},
		"A332 export off":       {reason: "Premium only", id: regs + "other", body: registry("Basic", `'policies':{'exportPolicy':{'status':'disabled'}}`), want: BadRequest, text: "exportPolicy"},
		"A332 down":             {reason: "neighbour: in place", id: regs + "images", body: registry("Basic", `'zoneRedundancy':'Disabled'`), before: []write{{regs + "images", registry("Premium", "")}}},
		"A332 up":               {reason: "neighbour: in place", id: regs + "images", body: registry("Premium", ""), before: []write{{regs + "images", registry("Basic", "")}}},
		"A332 down, connected":  {reason: "endpoints need Premium", id: regs + "images", body: registry("Basic", ""), before: connected, want: BadRequest, text: endpoints + "pe"},
		"A333 export off, open": {reason: "images leave in public", id: regs + "other", body: registry("Premium", `'policies':{'exportPolicy':{'status':'disabled'}}`), want: BadRequest},
		"A333 closed":           {reason: "neighbour", id: regs + "other", body: registry("Premium", `'publicNetworkAccess':'Disabled','policies':{'exportPolicy':{'status':'disabled'}}`)},
		"A334 zones change":     {reason: "chosen once", id: regs + "images", body: registry("Premium", `'zoneRedundancy':'Disabled'`), before: there, want: PropertyChangeNotAllowed},
		"A334 zones kept":       {reason: "neighbour", id: regs + "images", body: registry("Premium", `'zoneRedundancy':'Enabled'`), before: there},
		"A334 zones left out":   {reason: "neighbour", id: regs + "images", body: registry("Premium", ""), before: there},
		"A336 same target":      {reason: "a target of its own", id: regs + "images/cacheRules/second", body: `{'properties':{'sourceRepository':'docker.io/library/b','targetRepository':'A'}}`, before: cached, want: Conflict},
		"A336 no source":        {reason: "it comes from somewhere", id: regs + "images/cacheRules/second", body: `{'properties':{'targetRepository':'b'}}`, before: cached, want: BadRequest},
		"A336 other target":     {reason: "neighbour", id: regs + "images/cacheRules/second", body: `{'properties':{'sourceRepository':'docker.io/library/b','targetRepository':'b'}}`, before: cached},
	}
	for name, edit := range map[string]string{
		"networkRuleSet": `'networkRuleSet':{'defaultAction':'Deny'}`, "dataEndpointEnabled": `'dataEndpointEnabled':true`, "zoneRedundancy": `'zoneRedundancy':'Enabled'`,
		"retentionPolicy": `'policies':{'retentionPolicy':{'status':'enabled'}}`, "trustPolicy": `'policies':{'trustPolicy':{'status':'enabled'}}`,
		"quarantinePolicy": `'policies':{'quarantinePolicy':{'status':'enabled'}}`, "encryption": `'encryption':{'status':'enabled'}`,
	} {
		code := BadRequest
		if name == "networkRuleSet" {
			code = NetworkRuleNotSupported
		}
		cases["A332 "+name] = ruleCase{reason: "Premium only", id: regs + "other", body: registry("Standard", edit), want: code, text: name}
		cases["A332 "+name+", Premium"] = ruleCase{reason: "neighbour", id: regs + "other", body: registry("Premium", edit)}
	}
	try(t, base, cases)
}

// What a registry answers (A335).
func TestRegistryAnswers(t *testing.T) {
	t.Parallel()
	s := must(t, platform(t), regs+"Images", registry("Premium", `'dataEndpointEnabled':true`))
	r := show(t, s, regs+"Images")
	for path, want := range map[string]any{
		"sku.tier": "Premium", "properties.loginServer": "images.azurecr.io", "properties.adminUserEnabled": false, "properties.publicNetworkAccess": "Enabled",
		"properties.networkRuleBypassOptions": "AzureServices", "properties.zoneRedundancy": "Disabled", "properties.networkRuleSet.defaultAction": "Allow",
		"properties.encryption.status": "disabled", "properties.policies.exportPolicy.status": "enabled", "properties.policies.retentionPolicy.days": 7.0,
	} {
		if got := r.get(path).v; got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	if hosts := r.get("properties.dataEndpointHostNames").texts(); len(hosts) != 1 || hosts[0] != "images.swedencentral.data.azurecr.io" {
		t.Errorf("data endpoints: %v", hosts)
	}
	zoned := must(t, must(t, s, regs+"zoned", registry("Premium", `'zoneRedundancy':'Enabled'`)), regs+"zoned", registry("Premium", ""))
	if got := show(t, zoned, regs+"zoned").get("properties.zoneRedundancy").text(); got != "Enabled" {
		t.Errorf("a PUT without it set zone redundancy to %s", got)
	}
	if b := show(t, must(t, s, regs+"plain", registry("Basic", "")), regs+"plain"); !b.get("properties.networkRuleSet").absent() || len(b.get("properties.dataEndpointHostNames").list()) != 0 {
		t.Error("a Basic registry shows network rules or data endpoints")
	}
}

func endpoint(target, group string) string {
	return endpointIn("endpoints", target, group)
}

func endpointIn(subnet, target, group string) string {
	return `{'location':'swedencentral','properties':{'subnet':{'id':'$vnet/subnets/` + subnet + `'},'privateLinkServiceConnections':[{'name':'c','properties':{'privateLinkServiceId':'` + target + `','groupIds':['` + group + `']}}]}}`
}

func zoneGroup(zones ...string) string {
	var configs []string
	for i, zone := range zones {
		configs = append(configs, fmt.Sprintf(`{'name':'z%d','properties':{'privateDnsZoneId':'%s'}}`, i, net+"privateDnsZones/"+zone))
	}
	return `{'properties':{'privateDnsZoneConfigs':[` + strings.Join(configs, ",") + `]}}`
}

const (
	bus     = rg + "/providers/Microsoft.ServiceBus/namespaces/"
	storage = rg + "/providers/Microsoft.Storage/storageAccounts/"
	vaultDN = "privatelink.vaultcore.azure.net"
	imageDN = "privatelink.azurecr.io"
)

// linked is the landscape with targets and zones.
func linked(t testing.TB) State {
	t.Helper()
	s := platform(t)
	for _, w := range []write{
		{vaults + "kv-1", vault("")},
		{vaults + "kv-2", vault("")},
		{regs + "images", registry("Premium", "")},
		{regs + "plain", registry("Standard", "")},
		{net + "privateDnsZones/" + vaultDN, `{'location':'global'}`},
		{net + "privateDnsZones/" + imageDN, `{'location':'global'}`},
		{vnet + "/subnets/tiny", `{'properties':{'addressPrefix':'10.0.4.0/29'}}`},
		{vnet + "/subnets/web", `{'properties':{'addressPrefix':'10.0.7.0/24','delegations':[{'name':'d','properties':{'serviceName':'Microsoft.Web/serverFarms'}}]}}`},
	} {
		s = must(t, s, w.id, w.body)
	}
	hub := sub + "/resourceGroups/hub/providers/"
	return Seed(s,
		Resource{ID: hub + "Microsoft.ServiceBus/namespaces/standard", Body: map[string]any{"location": "swedencentral", "sku": map[string]any{"name": "Standard"}}},
		Resource{ID: hub + "Microsoft.ServiceBus/namespaces/premium", Body: map[string]any{"location": "swedencentral", "sku": map[string]any{"name": "Premium"}}})
}

func TestEndpointRules(t *testing.T) {
	t.Parallel()
	hub := sub + "/resourceGroups/hub/providers/"
	pe := []write{{endpoints + "pe", endpoint(vaults+"kv-1", "vault")}}
	grouped := append(pe, write{endpoints + "pe/privateDnsZoneGroups/default", zoneGroup(vaultDN)})
	full := []write{{endpoints + "one", endpointIn("tiny", regs+"images", "registry")}}
	static := func(ip string) string {
		return strings.Replace(endpoint(vaults+"kv-2", "vault"), "'subnet'", `'ipConfigurations':[{'name':'i','properties':{'groupId':'vault','memberName':'default','privateIPAddress':'`+ip+`'}}],'subnet'`, 1)
	}
	cases := map[string]ruleCase{
		"A340 no name":            {reason: "a connection has one", id: endpoints + "new", body: strings.Replace(endpoint(vaults+"kv-1", "vault"), "'name':'c',", "", 1), want: InvalidRequestFormat},
		"A340 target missing":     {reason: "a target of ours exists", id: endpoints + "new", body: endpoint(vaults+"nope", "vault"), want: InvalidResourceReference},
		"A340 target elsewhere":   {reason: "taken to exist", id: endpoints + "new", body: endpoint(hub+"Microsoft.KeyVault/vaults/nope", "vault")},
		"A340 no group":           {reason: "a part of the target", id: endpoints + "new", body: strings.Replace(endpoint(vaults+"kv-1", "vault"), "'vault'", "", 1), want: MissingLinkParameter},
		"A340 case of a group id": {reason: "neighbour", id: endpoints + "new", body: endpoint(vaults+"kv-1", "Vault")},
		"A341 standard registry":  {reason: "Premium only", id: endpoints + "new", body: endpoint(regs+"plain", "registry"), want: BadRequest, text: "Premium"},
		"A341 premium registry":   {reason: "neighbour", id: endpoints + "new", body: endpoint(regs+"images", "registry")},
		"A341 standard namespace": {reason: "Premium only", id: endpoints + "new", body: endpoint(hub+"Microsoft.ServiceBus/namespaces/standard", "namespace"), want: BadRequest, text: "Standard"},
		"A341 premium namespace":  {reason: "neighbour", id: endpoints + "new", body: endpoint(hub+"Microsoft.ServiceBus/namespaces/premium", "namespace")},
		"A342 delegated subnet":   {reason: "its service owns it", id: endpoints + "new", body: endpointIn("web", vaults+"kv-1", "vault"), want: DelegatedSubnet, text: "Microsoft.Web/serverFarms"},
		"A342 moved":              {reason: "it stays in its subnet", id: endpoints + "pe", body: endpointIn("a", vaults+"kv-1", "vault"), before: pe, want: PropertyChangeNotAllowed},
		"A342 updated":            {reason: "neighbour", id: endpoints + "pe", body: endpoint(vaults+"kv-1", "vault"), before: pe},
		"A343 full":               {reason: "three addresses, two of them taken", id: endpoints + "new", body: endpointIn("tiny", regs+"images", "registry"), before: full, want: SubnetIsFull, text: "hold 2 addresses"},
		"A343 one left":           {reason: "neighbour", id: endpoints + "new", body: endpointIn("tiny", vaults+"kv-1", "vault"), before: full},
		"A343 full, updated":      {reason: "it has its addresses", id: endpoints + "one", body: endpointIn("tiny", regs+"images", "registry"), before: append(full, write{endpoints + "two", endpointIn("tiny", vaults+"kv-1", "vault")})},
		"A343 kept by Azure":      {reason: "the first four", id: endpoints + "new", body: static("10.0.2.3"), before: pe, want: PrivateIPNotInSubnet},
		"A343 broadcast":          {reason: "the last one", id: endpoints + "new", body: static("10.0.2.255"), before: pe, want: PrivateIPNotInSubnet},
		"A343 outside":            {reason: "in the subnet", id: endpoints + "new", body: static("10.0.3.9"), before: pe, want: PrivateIPNotInSubnet},
		"A343 in use":             {reason: "once", id: endpoints + "new", body: static("10.0.2.4"), before: pe, want: PrivateIPInUse, text: endpoints + "pe"},
		"A343 chosen":             {reason: "neighbour", id: endpoints + "new", body: static("10.0.2.254"), before: pe},
		"A346 second group":       {reason: "one for each endpoint", id: endpoints + "pe/privateDnsZoneGroups/second", body: zoneGroup(vaultDN), before: grouped, want: BadRequest},
		"A346 same group":         {reason: "neighbour", id: endpoints + "pe/privateDnsZoneGroups/default", body: zoneGroup(vaultDN), before: grouped},
		"A346 no zone":            {reason: "one at least", id: endpoints + "pe/privateDnsZoneGroups/default", body: zoneGroup(), before: pe, want: BadRequest},
		"A346 zone missing":       {reason: "a zone of ours exists", id: endpoints + "pe/privateDnsZoneGroups/default", body: zoneGroup("privatelink.nope.net"), before: pe, want: InvalidResourceReference},
		"A346 five zones":         {reason: "neighbour", id: endpoints + "pe/privateDnsZoneGroups/default", body: zoneGroup(vaultDN, imageDN, "corp.internal", "lab.internal", vaultDN), before: pe},
		"A346 six zones":          {reason: "five at most", id: endpoints + "pe/privateDnsZoneGroups/default", body: zoneGroup(vaultDN, imageDN, "corp.internal", "lab.internal", vaultDN, imageDN), before: pe, want: BadRequest, text: "6"},
		"A346 same name":          {reason: "names differ", id: endpoints + "pe/privateDnsZoneGroups/default", body: strings.Replace(zoneGroup(vaultDN, imageDN), "'z1'", "'Z0'", 1), before: pe, want: BadRequest},
		"A346 zone without id":    {reason: "a zone has an id", id: endpoints + "pe/privateDnsZoneGroups/default", body: `{'properties':{'privateDnsZoneConfigs':[{'name':'z'}]}}`, before: pe, want: BadRequest},
		"A349 no address":         {reason: "one at least", id: net + "privateDnsZones/corp.internal/A/door", body: `{'properties':{'ttl':300}}`, want: BadRequest, text: "aRecords"},
		"A349 IPv6":               {reason: "A is for IPv4", id: net + "privateDnsZones/corp.internal/A/door", body: `{'properties':{'ttl':300,'aRecords':[{'ipv4Address':'fd00::1'}]}}`, want: BadRequest, text: "fd00::1"},
		"A349 twice":              {reason: "once each", id: net + "privateDnsZones/corp.internal/A/door", body: `{'properties':{'ttl':300,'aRecords':[{'ipv4Address':'10.0.0.4'},{'ipv4Address':'10.0.0.4'}]}}`, want: BadRequest, text: "once"},
		"A349 no ttl":             {reason: "it has one", id: net + "privateDnsZones/corp.internal/A/door", body: `{'properties':{'aRecords':[{'ipv4Address':'10.0.0.4'}]}}`, want: BadRequest, text: "ttl"},
		"A349 name":               {reason: "labels", id: net + "privateDnsZones/corp.internal/A/door_.", body: `{'properties':{'ttl':300,'aRecords':[{'ipv4Address':'10.0.0.4'}]}}`, want: BadRequest, text: "relative"},
		"A349 two addresses":      {reason: "neighbour", id: net + "privateDnsZones/corp.internal/A/door", body: `{'properties':{'ttl':300,'aRecords':[{'ipv4Address':'10.0.0.4'},{'ipv4Address':'10.0.0.5'}]}}`},
		"A349 wildcard":           {reason: "neighbour", id: net + "privateDnsZones/corp.internal/A/*.door", body: `{'properties':{'ttl':1,'aRecords':[{'ipv4Address':'10.0.0.4'}]}}`},
		"A347 other zone":         {reason: "accepted, as in Azure", id: endpoints + "pe/privateDnsZoneGroups/default", body: zoneGroup(imageDN), before: pe},
		"A347 zone with records":  {reason: "records do not hold a zone", method: Delete, id: net + "privateDnsZones/" + vaultDN, before: grouped},
		"A027 endpoint in it":     {reason: "a subnet with an endpoint stays", method: Delete, id: vnet + "/subnets/endpoints", before: pe, want: InUseSubnet},
		"A027 nothing in it":      {reason: "neighbour", method: Delete, id: vnet + "/subnets/endpoints"},
	}
	for typ, groups := range map[string]string{
		"Microsoft.Storage/storageAccounts": "blob table queue file dfs web", "Microsoft.KeyVault/vaults": "vault", "Microsoft.ContainerRegistry/registries": "registry",
		"Microsoft.ServiceBus/namespaces": "namespace", "Microsoft.CognitiveServices/accounts": "account", "Microsoft.ApiManagement/service": "Gateway",
		"Microsoft.ContainerService/managedClusters": "management",
	} {
		for group := range strings.FieldsSeq(groups) {
			cases["A340 "+group+" of "+typ] = ruleCase{reason: "neighbour", id: endpoints + "new", body: endpoint(hub+typ+"/x", group)}
		}
		cases["A340 wrong group of "+typ] = ruleCase{reason: "a part that there is", id: endpoints + "new", body: endpoint(hub+typ+"/x", "sites"), want: BadRequest, text: strings.Fields(groups)[0]}
	}
	try(t, linked(t), cases)
}

// Addresses are the lowest free ones, stay with their endpoint and come free
// with it; names and records lead to them (A343, A344, A345, A347).
func TestEndpointAnswers(t *testing.T) {
	t.Parallel()
	s := linked(t)
	s = must(t, s, endpoints+"kv1", endpoint(vaults+"kv-1", "vault"))
	s = must(t, s, endpoints+"images", endpoint(regs+"images", "registry"))
	s = must(t, s, endpoints+"kv2", endpoint(vaults+"kv-2", "vault"))
	addresses := func(s State, name string) string {
		var out []string
		for _, c := range show(t, s, endpoints+name).get("properties.customDnsConfigs").list() {
			out = append(out, c.get("fqdn").text()+"="+strings.Join(c.get("ipAddresses").texts(), "+"))
		}
		return strings.Join(out, " ")
	}
	check := func(s State, name, want string) {
		t.Helper()
		if got := addresses(s, name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	check(s, "kv1", "kv-1.vault.azure.net=10.0.2.4")
	check(s, "images", "images.swedencentral.data.azurecr.io=10.0.2.5 images.azurecr.io=10.0.2.6")
	check(s, "kv2", "kv-2.vault.azure.net=10.0.2.7")
	freed := must(t, gone(t, s, endpoints+"kv1"), endpoints+"kv2", strings.Replace(endpoint(vaults+"kv-2", "vault"), "{'location'", "{'tags':{'a':'b'},'location'", 1))
	check(freed, "kv2", "kv-2.vault.azure.net=10.0.2.7")
	check(must(t, freed, endpoints+"again", endpoint(vaults+"kv-1", "vault")), "again", "kv-1.vault.azure.net=10.0.2.4")

	e := show(t, s, endpoints+"kv1")
	if got := first(e.get("properties.privateLinkServiceConnections")).get("properties.privateLinkServiceConnectionState.status").text(); got != "Approved" {
		t.Errorf("connection: %q", got)
	}
	if got := first(e.get("properties.networkInterfaces")).get("id").text(); !isType(TypeOf(got), "microsoft.network/networkinterfaces") {
		t.Errorf("interface: %q", got)
	}
	for _, target := range []string{vaults + "kv-1", regs + "images"} {
		list := show(t, s, target).get("properties.privateEndpointConnections").list()
		if len(list) != 1 || list[0].get("properties.privateLinkServiceConnectionState.status").text() != "Approved" {
			t.Errorf("%s shows the connections %v", target, list)
		}
	}

	group, record := endpoints+"images/privateDnsZoneGroups/default", net+"privateDnsZones/"+imageDN+"/A/"
	s = must(t, s, group, zoneGroup(imageDN, vaultDN))
	for name, ip := range map[string]string{"images": "10.0.2.6", "images.swedencentral.data": "10.0.2.5"} {
		if got := first(show(t, s, record+name).get("properties.aRecords")).get("ipv4Address").text(); got != ip {
			t.Errorf("record %s: got %q, want %s", name, got, ip)
		}
	}
	configs := show(t, s, group).get("properties.privateDnsZoneConfigs").list()
	if n, wrong := len(configs[0].get("properties.recordSets").list()), len(configs[1].get("properties.recordSets").list()); n != 2 || wrong != 0 {
		t.Errorf("the zones have %d and %d records, want 2 and 0", n, wrong)
	}
	if n := show(t, s, net+"privateDnsZones/"+imageDN).get("properties.numberOfRecordSets").v; n != 3.0 {
		t.Errorf("the zone counts %v record sets, want 3", n)
	}
	moved := must(t, s, group, zoneGroup(vaultDN))
	for reason, s := range map[string]State{"moved away": moved, "group deleted": gone(t, s, group), "endpoint deleted": gone(t, s, endpoints+"images")} {
		if _, ok := s.Find(record + "images"); ok {
			t.Errorf("%s: the record is still there", reason)
		}
	}
	own := must(t, linked(t), record+"images", `{'properties':{'ttl':60,'aRecords':[{'ipv4Address':'192.0.2.1'}]}}`)
	own = must(t, own, endpoints+"images", endpoint(regs+"images", "registry"))
	own = gone(t, must(t, own, group, zoneGroup(imageDN)), group)
	if got := first(show(t, own, record+"images").get("properties.aRecords")).get("ipv4Address").text(); got != "192.0.2.1" {
		t.Errorf("a record of the program is %q now", got)
	}
}

// A role assignment at a zone is no record of it (A347).
func TestZoneCountsItsOwnRecords(t *testing.T) {
	t.Parallel()
	s := access(t)
	zone := net + "privateDnsZones/lab.internal"
	s = must(t, s, zone+grants+guid1, grant(principalOf(t, s), netRole))
	if n := show(t, s, zone).get("properties.numberOfRecordSets").v; n != 1.0 {
		t.Errorf("got %v record sets, want 1", n)
	}
}
