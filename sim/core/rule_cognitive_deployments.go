package core

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/az/openai"
)

// deploymentSkus are the SKUs of deployments (A471), the developer tier among
// them.
// https://learn.microsoft.com/azure/ai-foundry/foundry-models/concepts/deployment-types
var deploymentSkus = slices.Sorted(slices.Values(slices.Concat(openai.Names(true), openai.Names(false), []string{"DeveloperTier"})))

// A knownModel is what the service knows of a model of OpenAI.
type knownModel struct {
	// versions, the default one first.
	versions []string
	// ability is what the model answers as a capability.
	ability string
}

const (
	chats  = "chatCompletion"
	embeds = "embeddings"
)

// knownModels may lack new ones; see modelFamilies (A472, A473).
// https://learn.microsoft.com/azure/ai-foundry/foundry-models/concepts/models-sold-directly-by-azure
var knownModels = map[string]knownModel{
	"gpt-35-turbo":           {versions: []string{"0125", "1106"}, ability: chats},
	"gpt-4":                  {versions: []string{"turbo-2024-04-09"}, ability: chats},
	"gpt-4.1":                {versions: []string{"2025-04-14"}, ability: chats},
	"gpt-4.1-mini":           {versions: []string{"2025-04-14"}, ability: chats},
	"gpt-4.1-nano":           {versions: []string{"2025-04-14"}, ability: chats},
	"gpt-4o":                 {versions: []string{"2024-11-20", "2024-08-06", "2024-05-13"}, ability: chats},
	"gpt-4o-mini":            {versions: []string{"2024-07-18"}, ability: chats},
	"gpt-5":                  {versions: []string{"2025-08-07"}, ability: chats},
	"gpt-5-mini":             {versions: []string{"2025-08-07"}, ability: chats},
	"gpt-5-nano":             {versions: []string{"2025-08-07"}, ability: chats},
	"gpt-5.1":                {versions: []string{"2025-11-13"}, ability: chats},
	"o3":                     {versions: []string{"2025-04-16"}, ability: chats},
	"o3-mini":                {versions: []string{"2025-01-31"}, ability: chats},
	"o4-mini":                {versions: []string{"2025-04-16"}, ability: chats},
	"text-embedding-3-large": {versions: []string{"1"}, ability: embeds},
	"text-embedding-3-small": {versions: []string{"1"}, ability: embeds},
	"text-embedding-ada-002": {versions: []string{"2", "1"}, ability: embeds},
}

var (
	// modelFamilies: a name of one of these may be a model newer than the list.
	modelFamilies = regexp.MustCompile(`^(codex|computer-use|dall-e|gpt|model-router|o\d|sora|text-embedding|tts|whisper)(-|\.|$)`)
	// modelVersions: a date, a number, or a name with a date.
	modelVersions = regexp.MustCompile(`^([a-z]+-)?\d{4}-\d{2}-\d{2}$|^\d{1,4}(\.\d)?$`)
)

// deploymentKind: models are deployed in accounts of two kinds (A471).
func deploymentKind(s State, r, _ *Resource) *Error {
	account := s.holder(r.ID)
	if account == nil {
		return nil
	}
	if kind := kindOfAccount(account); kind.known() && kind.text() != "OpenAI" && kind.text() != "AIServices" {
		return refuse(BadRequest, "name", "deployment "+r.ID, "one in an account of kind "+kind.text(), "one in kind OpenAI or AIServices", "make an account of such a kind")
	}
	return nil
}

// deploymentSku: the SKU is one of a list, and says how much (A471): without a
// capacity Azure gives the least, and every larger job fails later.
func deploymentSku(_ State, r, _ *Resource) *Error {
	sku := root(r.Body).get("sku")
	if name := sku.get("name"); !name.unknown() && !slices.Contains(deploymentSkus, name.text()) {
		return refuse(InvalidResourceProperties, "sku.name", "SKU of deployment "+r.ID, strconv.Quote(name.text()), "one of "+strings.Join(deploymentSkus, ", "), "use "+closest(name.text(), deploymentSkus))
	}
	capacity := sku.get("capacity")
	if units, ok := capacity.number(); !capacity.unknown() && (!ok || units < 1) {
		return refuse(InvalidResourceProperties, "sku.capacity", "capacity of deployment "+r.ID, spelt(capacity), "1 or more: thousands of tokens a minute, of queued tokens for a batch SKU, or provisioned units", "set sku.capacity")
	}
	return nil
}

// spelt writes a value for a message.
func spelt(v value) string {
	switch {
	case v.absent():
		return "nothing"
	case v.text() != "":
		return strconv.Quote(v.text())
	}
	return fmt.Sprint(v.v)
}

// deploymentModel: a model of OpenAI is one that there is, in a version that
// looks like one (A472), and batch SKUs offer some of them (A473).
func deploymentModel(_ State, r, _ *Resource) *Error {
	model := r.props("model")
	format, name, version, sku := model.get("format"), model.get("name"), model.get("version"), root(r.Body).get("sku.name")
	for _, field := range []struct {
		name string
		v    value
	}{{"format", format}, {"name", name}} {
		if !field.v.unknown() && field.v.text() == "" {
			return refuse(InvalidResourceProperties, "model."+field.name, field.name+" of the model of deployment "+r.ID, "nothing", "the format and the name of a model, such as OpenAI and gpt-4o", "set it")
		}
	}
	if format.text() != "OpenAI" || !name.known() {
		return nil
	}
	known, listed := knownModels[name.text()]
	if !listed && !modelFamilies.MatchString(name.text()) {
		return refuse(ModelNotSupported, "model.name", "model of deployment "+r.ID, strconv.Quote(name.text()), "a model of OpenAI, nearest is "+closest(name.text(), sortedKeys(knownModels)), "correct it, or add it to knownModels")
	}
	if version.known() && !slices.Contains(known.versions, version.text()) && !modelVersions.MatchString(version.text()) {
		return refuse(ModelNotSupported, "model.version", "version of the model of deployment "+r.ID, strconv.Quote(version.text()), "one as Azure names them, such as 2025-04-14", "correct it")
	}
	if kind, _ := openai.Lookup(sku.text()); kind.Batch && !openai.TakesBatches(name.text()) && (listed || strings.HasPrefix(name.text(), "text-embedding")) {
		return refuse(InvalidResourceProperties, "sku.name", fmt.Sprintf("The specified SKU '%s' of account deployment is not supported by the model '%s': %s", sku.text(), name.text(), r.ID), sku.text(), "a SKU that the model has", "take another model, or another SKU")
	}
	return nil
}

// deploymentFixed: model and SKU of a deployment are chosen once; its version
// and its capacity may change (A477).
func deploymentFixed(_ State, r, old *Resource) *Error {
	if old == nil {
		return nil
	}
	for _, path := range []string{"sku.name", "properties.model.format", "properties.model.name"} {
		was, now := root(old.Body).get(path), root(r.Body).get(path)
		if was.known() && now.known() && was.text() != now.text() {
			return refuse(InvalidResourceProperties, path, path+" of deployment "+r.ID, strconv.Quote(now.text()), strconv.Quote(was.text())+", which it was made with", "replace the deployment")
		}
	}
	return nil
}

// deploymentFilter: the content filter is one of the account, or Microsoft's (A476).
func deploymentFilter(s State, r, _ *Resource) *Error {
	v := r.props("raiPolicyName")
	account, ours := s.Find(topLevel(r.ID))
	if v.text() == "" || microsofts(v.text()) || !ours {
		return nil
	}
	if policy, ok := s.Find(account.ID + "/raiPolicies/" + v.text()); ok && policy.Provisioning != Deleting {
		return nil
	}
	return refuse(InvalidResourceProperties, "raiPolicyName", "content filter of deployment "+r.ID, strconv.Quote(v.text()), "a policy of "+account.ID+", Microsoft.DefaultV2 or Microsoft.Default", "make the policy first and depend on it")
}

// microsofts says whether a content filter is one that every account has.
func microsofts(policy string) bool { return strings.HasPrefix(policy, "Microsoft.") }

// maxStandard is how many Standard deployments an account has (A475).
// https://learn.microsoft.com/azure/ai-services/openai/quotas-limits
const maxStandard = 32

func deploymentCount(s State, r, old *Resource) *Error {
	if old != nil || root(r.Body).get("sku.name").text() != "Standard" {
		return nil
	}
	count := 0
	for _, other := range s.under(topLevel(r.ID)) {
		if isType(other.Type, deploymentType) && root(other.Body).get("sku.name").text() == "Standard" {
			count++
		}
	}
	if count < maxStandard {
		return nil
	}
	return refuse(QuotaExceeded, "sku.name", "deployment "+r.ID, fmt.Sprintf("Standard deployment number %d of its account", count+1), "at most 32", "use another account")
}

// usageName is what Azure counts a deployment's capacity under.
func usageName(deployment *Resource) string {
	return "OpenAI." + root(deployment.Body).get("sku.name").text() + "." + deployment.props("model.name").text()
}

// deploymentQuota: what the deployments of a subscription have together, in one
// region, of one SKU and model, stays within the quota (A474).
func deploymentQuota(s State, r, old *Resource) *Error {
	account := s.holder(r.ID)
	want, ok := root(r.Body).get("sku.capacity").number()
	if account == nil || !ok {
		return nil
	}
	region := Region(root(account.Body).get("location").text())
	limit, limited := s.ModelQuota[region+"/"+usageName(r)]
	if !limited {
		return nil
	}
	used := ModelUnits(s, SubscriptionOf(r.ID), region, usageName(r))
	if old != nil {
		n, _ := root(old.Body).get("sku.capacity").number()
		used -= n
	}
	if used+want <= limit {
		return nil
	}
	return refuse(InsufficientQuota, "sku.capacity", "capacity of deployment "+r.ID, fmt.Sprintf("%v more units of %s in %s, where %v are in use", want, usageName(r), region, used), fmt.Sprintf("at most %v together", limit), "lower the capacity, use another region, or ask for more quota")
}

// completeDeployment answers as the service does (A478).
func completeDeployment(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	setDefault(props, "versionUpgradeOption", "OnceNewDefaultVersionAvailable")
	setDefault(props, "raiPolicyName", "Microsoft.DefaultV2")
	known := knownModels[r.props("model.name").text()]
	if model := object(props, "model"); model != nil && len(known.versions) > 0 {
		setDefault(model, "version", known.versions[0])
	}
	if known.ability != "" {
		props["capabilities"] = map[string]any{known.ability: "true"}
	}
	sku := root(r.Body).get("sku")
	units, ok := sku.get("capacity").number()
	if !ok {
		return
	}
	props["currentCapacity"] = units
	if name := sku.get("name").text(); strings.HasSuffix(name, "Standard") {
		props["rateLimits"] = []any{map[string]any{"key": "token", "renewalPeriod": 60.0, "count": 1000 * units}}
	}
}
