package core

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// writeCase is one write to a landscape: refused by a code, or a legal neighbour.
type writeCase struct {
	reason string
	method Method // Put if empty
	id     string
	body   string
	want   Code // "" for a legal neighbour
	text   string
}

func (c writeCase) run(t *testing.T, s State, id, body string) {
	t.Helper()
	op := Op{Method: c.method, ID: id, Instant: true}
	if op.Method == "" {
		op.Method, op.Body = Put, j(t, body)
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
	case a.Error != nil && !(strings.Contains(a.Error.Message, "got ") && strings.Contains(a.Error.Message, "want ") && strings.Contains(a.Error.Message, "fix: ")) && a.Error.Code != InvalidRequestContent && a.Error.Code != InvalidResourceName:
		t.Errorf("%s: message %q has not all of its parts", c.reason, a.Error.Message)
	}
	// With the rules off only types are checked.
	op.TypesOnly = true
	if _, a := Apply(s, op); a.Error != nil && c.want != a.Error.Code {
		t.Errorf("%s: types only: %v", c.reason, a.Error)
	}
}

const (
	busAt = rg + "/providers/Microsoft.ServiceBus/namespaces/"
	std   = busAt + "onedoor-std"
	pre   = busAt + "onedoor-pre"
)

// buses adds namespaces of every tier to the landscape.
func buses(t testing.TB) State {
	t.Helper()
	s := must(t, platform(t), rg+"2", `{'location':'swedencentral'}`)
	for _, r := range []struct{ id, body string }{
		{std, `{'location':'swedencentral','sku':{'name':'Standard','tier':'Standard'}}`},
		{pre, `{'location':'swedencentral','sku':{'name':'Premium','tier':'Premium','capacity':1}}`},
		{busAt + "onedoor-basic", `{'location':'swedencentral','sku':{'name':'Basic'}}`},
		{busAt + "onedoor-parts", `{'location':'swedencentral','sku':{'name':'Premium','capacity':4},'properties':{'premiumMessagingPartitions':4}}`},
		{std + "/queues/jobs", `{'properties':{'requiresDuplicateDetection':true}}`},
		{std + "/queues/relay", `{'properties':{'forwardTo':'jobs'}}`},
		{std + "/queues/wide", `{'properties':{'enablePartitioning':true,'maxSizeInMegabytes':2048}}`},
		{std + "/topics/ingest", `{'properties':{}}`},
		{std + "/topics/ingest/subscriptions/all", `{'properties':{}}`},
		{std + "/topics/ingest/subscriptions/sorted", `{'properties':{'forwardTo':'jobs'}}`},
		{std + "/topics/ingest/subscriptions/sorted/rules/mine", `{'properties':{'filterType':'CorrelationFilter','correlationFilter':{'contentType':'a/b'}}}`},
		{pre + "/queues/jobs", `{'properties':{}}`},
	} {
		s = must(t, s, r.id, r.body)
	}
	return s
}

// Each rule refuses what it must, in the broker's words (A212), and lets its
// legal neighbour pass.
func TestBusRules(t *testing.T) {
	t.Parallel()
	queue, topic, sub2 := std+"/queues/new", std+"/topics/new", "/subscriptions/22222222-2222-2222-2222-222222222222"
	rules := "/networkRuleSets/default"
	namespace := func(sku, props string) string {
		return `{'location':'swedencentral','sku':{` + sku + `},'properties':{` + props + `}}`
	}
	props := func(p string) string { return `{'properties':{` + p + `}}` }
	for name, c := range map[string]writeCase{
		"A200 ends -sb":                    {reason: "Azure keeps it", id: busAt + "onedoor-sb", body: namespace(`'name':'Standard'`, ""), want: BadRequest, text: "-mgmt"},
		"A200 ends -MGMT":                  {reason: "Azure keeps it", id: busAt + "onedoor-MGMT", body: namespace(`'name':'Standard'`, ""), want: BadRequest},
		"A200 ends -sbx":                   {reason: "neighbour", id: busAt + "onedoor-sbx", body: namespace(`'name':'Standard'`, "")},
		"A200 five letters":                {reason: "6..50, type data", id: busAt + "abcde", body: namespace(`'name':'Standard'`, ""), want: InvalidResourceName},
		"A200 six letters":                 {reason: "neighbour", id: busAt + "abcdef", body: namespace(`'name':'Standard'`, "")},
		"A200 begins with a digit":         {reason: "a letter first, type data", id: busAt + "1onedoor", body: namespace(`'name':'Standard'`, ""), want: InvalidResourceName},
		"A201 same name, other group":      {reason: "one in the world", id: strings.Replace(std, "/rg/", "/rg2/", 1), body: namespace(`'name':'Standard'`, ""), want: BadRequest, text: "not available"},
		"A201 same name, seeded elsewhere": {reason: "one in the world", id: busAt + "taken-bus", body: namespace(`'name':'Standard'`, ""), want: BadRequest, text: sub2},
		"A201 again":                       {reason: "neighbour: it is an update", id: std, body: namespace(`'name':'Standard'`, "")},
		"A202 three units":                 {reason: "1, 2, 4, 8, 16", id: busAt + "onedoor-new", body: namespace(`'name':'Premium','capacity':3`, ""), want: BadRequest, text: "8 or 16"},
		"A202 sixteen units":               {reason: "neighbour", id: busAt + "onedoor-new", body: namespace(`'name':'Premium','capacity':16`, "")},
		"A202 one unit for two partitions": {reason: "a multiple of the partitions", id: busAt + "onedoor-new", body: namespace(`'name':'Premium','capacity':1`, `'premiumMessagingPartitions':2`), want: BadRequest},
		"A202 64 units for four":           {reason: "neighbour", id: busAt + "onedoor-new", body: namespace(`'name':'Premium','capacity':64`, `'premiumMessagingPartitions':4`)},
		"A202 update of partitioned":       {reason: "the partitions are known", id: busAt + "onedoor-parts", body: namespace(`'name':'Premium','capacity':2`, ""), want: BadRequest},
		"A203 partitions in Standard":      {reason: "Premium alone", id: busAt + "onedoor-new", body: namespace(`'name':'Standard'`, `'premiumMessagingPartitions':2`), want: BadRequest},
		"A203 three partitions":            {reason: "1, 2 or 4", id: busAt + "onedoor-new", body: namespace(`'name':'Premium','capacity':3`, `'premiumMessagingPartitions':3`), want: BadRequest, text: "1, 2 or 4"},
		"A203 partitions change":           {reason: "set once", id: pre, body: namespace(`'name':'Premium','capacity':2`, `'premiumMessagingPartitions':2`), want: BadRequest, text: "set when it was made"},
		"A203 partitions stay":             {reason: "neighbour", id: pre, body: namespace(`'name':'Premium','capacity':2`, `'premiumMessagingPartitions':1`)},
		"A204 up to Premium":               {reason: "not in place", id: std, body: namespace(`'name':'Premium','capacity':1`, ""), want: BadRequest, text: "migrate"},
		"A204 down from Premium":           {reason: "not in place", id: pre, body: namespace(`'name':'Standard'`, ""), want: BadRequest},
		"A204 up from Basic":               {reason: "neighbour", id: busAt + "onedoor-basic", body: namespace(`'name':'Standard'`, "")},
		"A206 other name":                  {reason: "one rule set, type data", id: std + "/networkRuleSets/mine", body: props(""), want: InvalidResourceName, text: "default"},
		"A207 deny all, open":              {reason: "nobody could get in", id: pre + rules, body: props(`'defaultAction':'Deny','publicNetworkAccess':'Enabled'`), want: InvalidNetworkRuleSetUpdate},
		"A207 deny all, unsaid":            {reason: "the same, in the same write", id: pre + rules, body: props(`'defaultAction':'Deny'`), want: InvalidNetworkRuleSetUpdate, text: "publicNetworkAccess to Disabled"},
		"A207 deny all, closed":            {reason: "neighbour", id: pre + rules, body: props(`'defaultAction':'Deny','publicNetworkAccess':'Disabled'`)},
		"A207 deny but one":                {reason: "neighbour", id: pre + rules, body: props(`'defaultAction':'Deny','ipRules':[{'ipMask':'203.0.113.7'}]`)},
		"A208 network in Standard":         {reason: "Premium alone", id: std + rules, body: props(`'virtualNetworkRules':[{'subnet':{'id':'$vnet/subnets/a'}}]`), want: BadRequest, text: "tier Standard"},
		"A208 network in Premium":          {reason: "neighbour", id: pre + rules, body: props(`'virtualNetworkRules':[{'subnet':{'id':'$vnet/subnets/a'}}]`)},
		"A208 network missing":             {reason: "a reference resolves", id: pre + rules, body: props(`'virtualNetworkRules':[{'subnet':{'id':'$vnet/subnets/nope'}}]`), want: InvalidResourceReference},
		"A208 address in Standard":         {reason: "neighbour: every tier has these", id: std + rules, body: props(`'defaultAction':'Deny','ipRules':[{'ipMask':'203.0.113.0/24'}]`)},
		"A208 IPv6":                        {reason: "IPv4 alone", id: std + rules, body: props(`'ipRules':[{'ipMask':'2001:db8::1'}]`), want: BadRequest, text: "IPv4"},
		"A208 129 addresses":               {reason: "128 at most", id: std + rules, body: props(`'ipRules':[` + strings.TrimSuffix(strings.Repeat(`{'ipMask':'203.0.113.7'},`, 129), ",") + `]`), want: BadRequest, text: "128"},
		"A208 closed Standard":             {reason: "neighbour: Azure lets it be closed", id: std, body: namespace(`'name':'Standard'`, `'publicNetworkAccess':'Disabled'`)},
		"A209 rule set deleted":            {reason: "it exists as long as its namespace", method: Delete, id: std + rules, want: MethodNotAllowed},
		"A209 namespace deleted":           {reason: "neighbour: it goes with it", method: Delete, id: std},
		"A213 colon":                       {reason: "letters, digits, some signs", id: std + "/queues/a:b", body: props(""), want: MessagingGatewayBadRequest, text: "SubCode=40000"},
		"A213 dots":                        {reason: "neighbour", id: std + "/queues/a.b_c-d", body: props("")},
		"A213 ends with a dash":            {reason: "letter or digit at both ends", id: std + "/topics/a-", body: props(""), want: MessagingGatewayBadRequest},
		"A213 subscription with a tilde":   {reason: "fewer signs", id: std + "/topics/ingest/subscriptions/a~b", body: props(""), want: MessagingGatewayBadRequest},
		"A213 rule $Default":               {reason: "neighbour", id: std + "/topics/ingest/subscriptions/all/rules/$Default", body: props(`'filterType':'SqlFilter','sqlFilter':{'sqlExpression':'1=0'}`)},
		"A213 51 letters":                  {reason: "50 at most, type data", id: std + "/topics/ingest/subscriptions/" + strings.Repeat("x", 51), body: props(""), want: InvalidResourceName},
		"A214 topic like a queue":          {reason: "one name, one entity", id: std + "/topics/JOBS", body: props(""), want: MessagingGatewayBadRequest, text: std + "/queues/jobs"},
		"A214 queue like a topic":          {reason: "one name, one entity", id: std + "/queues/ingest", body: props(""), want: MessagingGatewayBadRequest},
		"A214 in another namespace":        {reason: "neighbour", id: pre + "/queues/ingest", body: props("")},
		"A215 topic in Basic":              {reason: "queues alone", id: busAt + "onedoor-basic/topics/a", body: props(""), want: MessagingGatewayBadRequest},
		"A215 sessions in Basic":           {reason: "Standard's", id: busAt + "onedoor-basic/queues/a", body: props(`'requiresSession':true`), want: MessagingGatewayBadRequest, text: "requiresSession"},
		"A215 long life in Basic":          {reason: "14 days", id: busAt + "onedoor-basic/queues/a", body: props(`'defaultMessageTimeToLive':'P15D'`), want: MessagingGatewayBadRequest, text: "P14D"},
		"A215 queue in Basic":              {reason: "neighbour", id: busAt + "onedoor-basic/queues/a", body: props(`'defaultMessageTimeToLive':'P14D','requiresSession':false`)},
		"A216 lock of 301 s":               {reason: "five minutes at most", id: queue, body: props(`'lockDuration':'PT301S'`), want: MessagingGatewayBadRequest, text: "'5' minutes"},
		"A216 lock of nothing":             {reason: "more than nothing", id: queue, body: props(`'lockDuration':'PT0S'`), want: MessagingGatewayBadRequest},
		"A216 lock of five minutes":        {reason: "neighbour", id: queue, body: props(`'lockDuration':'PT5M'`)},
		"A216 lock of a subscription":      {reason: "the same", id: std + "/topics/ingest/subscriptions/new", body: props(`'lockDuration':'PT6M'`), want: MessagingGatewayBadRequest},
		"A217 window of 19 s":              {reason: "20 s at least", id: queue, body: props(`'duplicateDetectionHistoryTimeWindow':'PT19S'`), want: MessagingGatewayBadRequest, text: "PT20S"},
		"A217 window of 8 days":            {reason: "7 days at most", id: topic, body: props(`'duplicateDetectionHistoryTimeWindow':'P8D'`), want: MessagingGatewayBadRequest},
		"A217 window of 7 days":            {reason: "neighbour", id: topic, body: props(`'duplicateDetectionHistoryTimeWindow':'P7D'`)},
		"A218 idle for 4 min":              {reason: "5 min at least", id: queue, body: props(`'autoDeleteOnIdle':'PT4M'`), want: MessagingGatewayBadRequest},
		"A218 idle for 5 min":              {reason: "neighbour", id: queue, body: props(`'autoDeleteOnIdle':'PT5M'`)},
		"A218 idle for ever":               {reason: "neighbour", id: queue, body: props(`'autoDeleteOnIdle':'` + never + `'`)},
		"A218 life of nothing":             {reason: "a second at least", id: queue, body: props(`'defaultMessageTimeToLive':'PT0S'`), want: MessagingGatewayBadRequest},
		"A219 no delivery":                 {reason: "1 at least", id: queue, body: props(`'maxDeliveryCount':0`), want: MessagingGatewayBadRequest},
		"A219 one delivery":                {reason: "neighbour", id: queue, body: props(`'maxDeliveryCount':1`)},
		"A220 6 GB":                        {reason: "from a list", id: queue, body: props(`'maxSizeInMegabytes':6144`), want: MessagingGatewayBadRequest, text: "1024;2048"},
		"A220 10 GB in Standard":           {reason: "a longer list in Premium", id: queue, body: props(`'maxSizeInMegabytes':10240`), want: MessagingGatewayBadRequest},
		"A220 80 GB in Premium":            {reason: "neighbour", id: pre + "/queues/new", body: props(`'maxSizeInMegabytes':81920`)},
		"A220 5 GB":                        {reason: "neighbour", id: topic, body: props(`'maxSizeInMegabytes':5120`)},
		"A221 message of 1 MB in Standard": {reason: "Premium's", id: queue, body: props(`'maxMessageSizeInKilobytes':1024`), want: MessagingGatewayBadRequest, text: "256 KB"},
		"A221 what Standard answers":       {reason: "neighbour", id: queue, body: props(`'maxMessageSizeInKilobytes':256`)},
		"A221 message of 512 KB":           {reason: "1 MB at least in Premium", id: pre + "/queues/new", body: props(`'maxMessageSizeInKilobytes':512`), want: MessagingGatewayBadRequest},
		"A221 message of 100 MB":           {reason: "neighbour", id: pre + "/topics/new", body: props(`'maxMessageSizeInKilobytes':102400`)},
		"A222 express in Premium":          {reason: "not there", id: pre + "/queues/new", body: props(`'enableExpress':true`), want: MessagingGatewayBadRequest},
		"A222 express and duplicates":      {reason: "one of them", id: queue, body: props(`'enableExpress':true,'requiresDuplicateDetection':true`), want: MessagingGatewayBadRequest, text: "DelayedPersistence"},
		"A222 express in Standard":         {reason: "neighbour", id: queue, body: props(`'enableExpress':true`)},
		"A223 duplicates off":              {reason: "set once", id: std + "/queues/jobs", body: props(`'requiresDuplicateDetection':false`), want: MessagingGatewayBadRequest, text: "existing Queue cannot be changed"},
		"A223 duplicates unsaid":           {reason: "neighbour: it stays", id: std + "/queues/jobs", body: props(`'maxDeliveryCount':3`)},
		"A223 sessions on":                 {reason: "set once", id: std + "/topics/ingest/subscriptions/all", body: props(`'requiresSession':true`), want: MessagingGatewayBadRequest, text: "existing Subscription"},
		"A223 partitions on":               {reason: "set once", id: std + "/topics/ingest", body: props(`'enablePartitioning':true`), want: MessagingGatewayBadRequest, text: "Partitioning cannot be changed for Topic"},
		"A224 whole entity in parts":       {reason: "the namespace is partitioned", id: busAt + "onedoor-parts/queues/a", body: props(""), want: MessagingGatewayBadRequest, text: "Non-partitioned"},
		"A224 parts in parts":              {reason: "neighbour", id: busAt + "onedoor-parts/queues/a", body: props(`'enablePartitioning':true`)},
		"A224 parts in a whole":            {reason: "the namespace has one partition", id: pre + "/topics/a", body: props(`'enablePartitioning':true`), want: MessagingGatewayBadRequest},
		"A224 parts in Standard":           {reason: "neighbour: each for itself", id: topic, body: props(`'enablePartitioning':true`)},
		"A225 nowhere":                     {reason: "the destination exists", id: queue, body: props(`'forwardTo':'nope'`), want: MessagingGatewayBadRequest, text: "SubCode=40400"},
		"A225 dead letters nowhere":        {reason: "the same", id: queue, body: props(`'forwardDeadLetteredMessagesTo':'nope'`), want: MessagingGatewayBadRequest, text: "SubCode=40400"},
		"A225 to a queue":                  {reason: "neighbour, in any case", id: std + "/topics/ingest/subscriptions/new", body: props(`'forwardTo':'Jobs'`)},
		"A225 to a topic by URL":           {reason: "neighbour", id: queue, body: props(`'forwardTo':'sb://onedoor-std.servicebus.windows.net/ingest'`)},
		"A225 with sessions":               {reason: "nobody opens them", id: queue, body: props(`'forwardTo':'jobs','requiresSession':true`), want: MessagingGatewayBadRequest, text: "session"},
		"A225 destination deleted":         {reason: "neighbour: Azure lets it go, and dead-letters what comes", method: Delete, id: std + "/queues/jobs"},
		"A226 to itself":                   {reason: "a chain ends", id: queue, body: props(`'forwardTo':'new'`), want: MessagingGatewayBadRequest, text: "leads back"},
		"A226 in a circle":                 {reason: "a chain ends", id: std + "/queues/jobs", body: props(`'forwardTo':'relay'`), want: MessagingGatewayBadRequest, text: "leads back"},
		"A226 a chain":                     {reason: "neighbour", id: queue, body: props(`'forwardTo':'relay'`)},
		"A232 manage alone":                {reason: "with both others", id: std + "/queues/jobs/authorizationRules/a", body: props(`'rights':['Manage']`), want: BadRequest, text: "Send and Listen"},
		"A232 no rights":                   {reason: "one at least", id: std + "/queues/jobs/authorizationRules/a", body: props(`'rights':[]`), want: BadRequest},
		"A232 all":                         {reason: "neighbour", id: std + "/queues/jobs/authorizationRules/a", body: props(`'rights':['Manage','Send','Listen']`)},
		"A232 listen alone":                {reason: "neighbour", id: std + "/queues/jobs/authorizationRules/a", body: props(`'rights':['Listen']`)},
		"A234 queue without namespace":     {reason: "an entity lives in one", id: busAt + "onedoor-none/queues/a", body: props(""), want: ParentResourceNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Seed(buses(t), Resource{ID: sub2 + "/resourceGroups/x/providers/Microsoft.ServiceBus/namespaces/TAKEN-bus"})
			c.run(t, s, c.id, c.body)
		})
	}
}

// Quotas count what is there: twelve authorization rules (A233), and queues and
// topics together, 1,000 for each messaging unit (A227).
func TestBusQuotas(t *testing.T) {
	t.Parallel()
	s := buses(t)
	for i := range 12 {
		s = must(t, s, fmt.Sprintf("%s/queues/jobs/authorizationRules/r%d", std, i), `{'properties':{'rights':['Listen']}}`)
	}
	auth := writeCase{reason: "twelve", want: QuotaExceeded}
	auth.run(t, s, std+"/queues/jobs/authorizationRules/one-more", `{'properties':{'rights':['Listen']}}`)
	writeCase{reason: "neighbour: an update"}.run(t, s, std+"/queues/jobs/authorizationRules/r3", `{'properties':{'rights':['Send']}}`)
	writeCase{reason: "neighbour: another queue"}.run(t, s, std+"/queues/relay/authorizationRules/r", `{'properties':{'rights':['Listen']}}`)

	full := s.clone()
	for i := range 999 { // and jobs
		id := fmt.Sprintf("%s/topics/t%d", pre, i)
		full.Resources[Key(id)] = &Resource{ID: id, Type: "Microsoft.ServiceBus/namespaces/topics", Provisioning: Succeeded}
	}
	writeCase{reason: "1,000 for one unit", want: QuotaExceeded, text: "1000"}.run(t, full, pre+"/queues/new", `{'properties':{}}`)
	writeCase{reason: "neighbour: an update"}.run(t, full, pre+"/queues/jobs", `{'properties':{}}`)
	writeCase{reason: "neighbour: Standard has 10,000"}.run(t, full, std+"/queues/new", `{'properties':{}}`)
	larger := must(t, full, pre, `{'location':'swedencentral','sku':{'name':'Premium','capacity':2}}`)
	writeCase{reason: "neighbour: two units"}.run(t, larger, pre+"/queues/new", `{'properties':{}}`)
}

// shown is what GET answers at a path.
func shown(t *testing.T, s State, id, path string) any {
	t.Helper()
	_, a := Apply(s, Op{Method: Get, ID: id})
	if a.Error != nil {
		t.Fatalf("GET %s: %v", id, a.Error)
	}
	return root(a.Body).get(path).v
}

// Namespaces and entities answer with the service's defaults (A205, A212, A228,
// A229), and what one answers can be written back.
func TestBusAnswers(t *testing.T) {
	t.Parallel()
	s := buses(t)
	s = must(t, s, std+"/queues/jobs/authorizationRules/a", `{'properties':{'rights':['Send','Manage','Listen']}}`)
	for id, want := range map[string]map[string]any{
		std: {
			"properties.status": "Active", "properties.serviceBusEndpoint": "https://onedoor-std.servicebus.windows.net:443/",
			"properties.metricId": "11111111-1111-1111-1111-111111111111:onedoor-std", "properties.publicNetworkAccess": "Enabled",
			"properties.disableLocalAuth": false, "properties.minimumTlsVersion": "1.2", "properties.zoneRedundant": true,
			"properties.premiumMessagingPartitions": 0.0, "sku.capacity": nil, "properties.provisioningState": Succeeded,
		},
		pre:                     {"properties.premiumMessagingPartitions": 1.0, "sku.capacity": 1.0},
		busAt + "onedoor-basic": {"sku.tier": "Basic"},
		pre + "/queues/jobs":    {"properties.maxMessageSizeInKilobytes": 1024.0},
		std + "/queues/relay":   {"properties.forwardTo": "jobs", "properties.requiresDuplicateDetection": false},
		std + "/queues/wide":    {"properties.maxSizeInMegabytes": 32768.0},
		std + "/topics/ingest":  {"properties.subscriptionCount": 2.0, "properties.supportOrdering": true, "properties.maxSizeInMegabytes": 1024.0},
		std + "/queues/jobs": {
			"properties.lockDuration": "PT1M", "properties.maxDeliveryCount": 10.0, "properties.defaultMessageTimeToLive": never, "properties.autoDeleteOnIdle": never,
			"properties.duplicateDetectionHistoryTimeWindow": "PT10M", "properties.maxSizeInMegabytes": 1024.0, "properties.maxMessageSizeInKilobytes": 256.0,
			"properties.requiresDuplicateDetection": true, "properties.requiresSession": false, "properties.enablePartitioning": false, "properties.enableExpress": false,
			"properties.deadLetteringOnMessageExpiration": false, "properties.enableBatchedOperations": true, "properties.status": "Active",
			"properties.messageCount": 0.0, "properties.sizeInBytes": 0.0, "properties.countDetails.deadLetterMessageCount": 0.0,
			"properties.accessedAt": "0001-01-01T00:00:00Z", "properties.provisioningState": nil,
		},
		std + "/topics/ingest/subscriptions/all": {
			"properties.lockDuration": "PT1M", "properties.maxDeliveryCount": 10.0, "properties.deadLetteringOnFilterEvaluationExceptions": true, "properties.isClientAffine": false,
		},
		std + "/networkRuleSets/default":          {"properties.defaultAction": "Allow", "properties.publicNetworkAccess": "Enabled", "properties.trustedServiceAccessEnabled": false},
		std + "/queues/jobs/authorizationRules/a": {"properties.rights": []any{"Listen", "Manage", "Send"}},
	} {
		for _, path := range sortedKeys(want) {
			if got := shown(t, s, id, path); fmt.Sprint(got) != fmt.Sprint(want[path]) {
				t.Errorf("%s: %s = %v, want %v", id, path, got, want[path])
			}
		}
	}
	s = must(t, s, busAt+"onedoor-basic/queues/short", `{'properties':{}}`)
	if got := shown(t, s, busAt+"onedoor-basic/queues/short", "properties.defaultMessageTimeToLive"); got != "P14D" {
		t.Errorf("life in Basic: %v", got)
	}
	kept := must(t, s, std+"/queues/jobs", `{'properties':{}}`)
	if got := shown(t, kept, std+"/queues/jobs", "properties.requiresDuplicateDetection"); got != true {
		t.Errorf("duplicate detection after a write that leaves it out: %v", got)
	}
	units := must(t, s, std, `{'location':'swedencentral','sku':{'name':'Standard','capacity':1}}`)
	if got := shown(t, units, std, "sku.capacity"); got != nil {
		t.Errorf("units of a Standard namespace: %v", got)
	}
	writeBack(t, s, "/providers/Microsoft.ServiceBus/", std+"/queues/wide")
}

// writeBack puts what GET shows of all resources below a provider.
func writeBack(t *testing.T, s State, provider string, except ...string) {
	t.Helper()
	for _, key := range sortedKeys(s.Resources) {
		r := s.Resources[key]
		if !strings.Contains(r.ID, provider) || len(except) > 0 && r.ID == except[0] {
			continue
		}
		if _, a := Apply(s, Op{Method: Put, ID: r.ID, Body: s.Show(r), Instant: true}); a.Error != nil {
			t.Errorf("PUT of GET: %v", a.Error)
		}
	}
}

// Namespace and rule set have one setting of public access: whoever says it
// last sets both, and who leaves it out leaves it (A206).
func TestPublicAccessIsShared(t *testing.T) {
	t.Parallel()
	s, rules := buses(t), pre+"/networkRuleSets/default"
	access := func(s State, want string) {
		t.Helper()
		for _, id := range []string{pre, rules} {
			if got := shown(t, s, id, "properties.publicNetworkAccess"); got != want {
				t.Errorf("%s: %v, want %s", id, got, want)
			}
		}
	}
	access(s, "Enabled")
	namespace := `{'location':'swedencentral','sku':{'name':'Premium','capacity':1},'properties':{%s}}`
	s = must(t, s, pre, fmt.Sprintf(namespace, `'publicNetworkAccess':'Disabled'`))
	access(s, "Disabled")
	s = must(t, s, rules, `{'properties':{'trustedServiceAccessEnabled':true}}`)
	access(s, "Disabled")
	s = must(t, s, pre, fmt.Sprintf(namespace, ``))
	access(s, "Disabled")
	s = must(t, s, rules, `{'properties':{'publicNetworkAccess':'Enabled','trustedServiceAccessEnabled':true}}`)
	access(s, "Enabled")
	s = must(t, s, rules, `{'properties':{'publicNetworkAccess':'Disabled','defaultAction':'Deny'}}`)
	access(s, "Disabled")
	if got := shown(t, s, rules, "properties.defaultAction"); got != "Deny" {
		t.Errorf("default action %v", got)
	}
}

// A subscription is born with a rule that takes everything (A230); the first
// rule of one's own takes its place, and nothing comes back after it (A231).
func TestDefaultRule(t *testing.T) {
	t.Parallel()
	s, rules := buses(t), std+"/topics/ingest/subscriptions/all/rules"
	names := func(s State) string {
		t.Helper()
		_, a := Apply(s, Op{Method: List, ID: rules})
		var out []string
		for _, item := range a.Items {
			out = append(out, value{item["name"]}.text())
		}
		return strings.Join(out, " ")
	}
	if got := names(s); got != "$Default" {
		t.Fatalf("rules at birth: %q", got)
	}
	if got := shown(t, s, rules+"/$Default", "properties.sqlFilter.sqlExpression"); got != "1=1" {
		t.Errorf("it takes %v", got)
	}
	mine := `{'properties':{'filterType':'SqlFilter','sqlFilter':{'sqlExpression':'a=1'}}}`
	one := must(t, s, rules+"/mine", mine)
	if got := names(one); got != "mine" {
		t.Errorf("after the first rule: %q", got)
	}
	if got := shown(t, one, rules+"/mine", "properties.sqlFilter.compatibilityLevel"); got != 20.0 {
		t.Errorf("compatibility level %v", got)
	}
	none, a := Apply(one, Op{Method: Delete, ID: rules + "/mine", Instant: true})
	if a.Error != nil || names(none) != "" {
		t.Errorf("after its deletion: %q, %v", names(none), a.Error)
	}
	updated := must(t, one, std+"/topics/ingest/subscriptions/all", `{'properties':{'maxDeliveryCount':3}}`)
	if got := names(updated); got != "mine" {
		t.Errorf("after an update of the subscription: %q", got)
	}
	// Whoever made $Default his own keeps it beside others.
	own := must(t, must(t, s, rules+"/$Default", mine), rules+"/second", mine)
	if got := names(own); got != "$Default second" {
		t.Errorf("an own $Default: %q", got)
	}
}

// Deleting a namespace takes all that is in it (A234).
func TestNamespaceTakesItsEntitiesAlong(t *testing.T) {
	t.Parallel()
	s, a := Apply(buses(t), Op{Method: Delete, ID: std, Instant: true})
	if a.Error != nil {
		t.Fatal(a.Error)
	}
	if left := s.under(std); len(left) > 0 {
		t.Errorf("left: %s", left[0].ID)
	}
	if _, a := Apply(s, Op{Method: Get, ID: std + "/queues/jobs"}); a.Status != http.StatusNotFound {
		t.Errorf("queue of a deleted namespace: %d", a.Status)
	}
	again := must(t, s, std, `{'location':'swedencentral','sku':{'name':'Standard'}}`)
	if n := len(again.under(std)); n != 1 {
		t.Errorf("a namespace made again has %d children, want its rule set", n)
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"PT1M": 60, "P1DT1H": 25 * 3600, "PT0.5S": 0.5, never: 922337203685.4776, "P2W": 14 * day, "PT0S": 0} {
		if got, ok := span(text); !ok || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "P", "PT", "1M", "PT1D", "P1H", "-PT1M"} {
		if got, ok := span(text); ok {
			t.Errorf("%q: %v, want none", text, got)
		}
	}
}
