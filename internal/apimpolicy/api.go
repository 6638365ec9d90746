package apimpolicy

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"onedoor/internal/routing"
)

// TenantHeader is where a worker says for which tenant it calls, and where every
// answer says for which tenant it was. From anybody else it is dropped.
const TenantHeader = "x-onedoor-tenant"

// KeyName is the header, and the query parameter, that carries a tenant's key:
// the one that Azure's clients send.
const KeyName = "api-key"

// The doors that a call can have come through, as the token metric calls them.
const (
	DoorGateway = "gateway" // a tenant called
	DoorQueue   = "queue"   // a worker did, for a tenant
)

// MetricNamespace is that of the token metrics.
const MetricNamespace = "onedoor"

// The codes of refusals, in the answer's error.code.
const (
	CodeBatch      = "batch_not_on_gateway" // asynchronous work has a door of its own
	CodeTenant     = "tenant_unknown"
	CodeLogging    = "logging_not_agreed"
	CodeBody       = "body_not_json"
	CodeTool       = "tool_not_offered"
	CodeModel      = "model_not_found"
	CodePlan       = "model_not_in_plan"
	CodeResidency  = "model_not_in_residency"
	CodeBusy       = "all_deployments_busy"
	CodeDeployment = "deployment_unavailable"
)

// forwardSeconds is how long one deployment may take to begin its answer. Azure
// promises nothing beyond 240.
// https://learn.microsoft.com/azure/api-management/forward-request-policy
const forwardSeconds = 240

// retryAfterSeconds is what a caller is told to wait when no deployment took the
// call and the last one did not say for how long.
const retryAfterSeconds = 10

// clientHeaders never reach a back end. The first two are keys of the gateway.
// With the fourth and fifth a caller could name another deployment of the account to spill
// over to, or to make images with, of another residency.
// https://learn.microsoft.com/azure/ai-foundry/openai/how-to/spillover-traffic-management
var clientHeaders = []string{KeyName, "Ocp-Apim-Subscription-Key", TenantHeader, "x-ms-oai-image-generation-deployment", "x-ms-spillover-deployment", "Cookie"}

// backendHeaders tell which deployment answered, where, and how much it has
// left. Callers do not get to see them.
var backendHeaders = []string{
	"apim-request-id", "azureml-model-session", "retry-after-ms", "Server", "x-ms-deployment-name", "x-ms-region",
	"x-ms-spillover-error", "x-ms-spillover-from-deployment", "x-ratelimit-limit-requests", "x-ratelimit-limit-tokens",
	"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests", "x-ratelimit-reset-tokens",
}

// API is the policy of the API at APIPath, or of that at LoggedPath.
func (g Gateway) API(logged bool) Document {
	name := APIPath
	if logged {
		name = LoggedPath
	}
	inbound := el("inbound").with(el("base"))
	inbound.with(g.tenant(logged)...)
	inbound.with(g.request()...)
	inbound.with(route()...)
	inbound.with(limit()...)
	inbound.with(g.servingToken()...)
	root := el("policies").with(inbound, g.backend(), outbound(), onError())
	return Document{Name: name, Scope: APIScope, Streams: true, Text: root.String()}
}

// productPrefix keeps the products of plans apart from "starter" and "unlimited",
// which Azure makes in every new service.
// https://github.com/hashicorp/terraform-provider-azurerm/issues/4121
const productPrefix = "plan-"

// ProductID is the id of a plan's product.
func ProductID(plan string) string { return productPrefix + plan }

// Product is the policy of a plan's product. It runs before the API's, and only
// for callers with a key of the product.
func Product(p Plan) Document {
	return Document{Name: ProductID(p.Name), Scope: ProductScope, Streams: true, Text: el("policies").with(
		el("inbound").with(el("base"), setVariable("tenant", "@(context.Subscription.Id)"), tokenLimitOf(p)),
		el("backend").with(el("base")),
		el("outbound").with(el("base")),
		el("on-error").with(el("base")),
	).String()}
}

// tenant finds out who calls. A key names the tenant by its subscription's id,
// which nobody can change, and must be one of the tenant's plan: a key of another scope would go past the
// plan's limits. Without a key the caller has a token, which names an
// application.
func (g Gateway) tenant(logged bool) []*Node {
	token := `((Jwt)context.Variables["token"])`
	nodes := []*Node{
		include(FragmentTenants),
		choose(
			when(`context.Subscription != null`, setVariable("tenant", "@(context.Subscription.Id)"), setVariable("door", DoorGateway)),
			otherwise(
				g.validateToken(),
				// The claim has the one name in tokens of version 2, the other in those of version 1.
				setVariable("application", `@(`+token+`.Claims.GetValueOrDefault("azp", `+token+`.Claims.GetValueOrDefault("appid", "")))`),
				include(FragmentWorkers),
				choose(
					when(`Regex.IsMatch(`+variable("application")+`, "^[0-9a-f-]{36}\\z") && `+on("workers")+`.Contains(";" + `+variable("application")+` + ";")`,
						setVariable("tenant", `@(context.Request.Headers.GetValueOrDefault("`+TenantHeader+`", ""))`), setVariable("door", DoorQueue)),
					otherwise(
						setVariable("tenant", lookUp("applications", "application", `^[0-9a-f-]{36}\\z`)), setVariable("door", DoorGateway)),
				),
			),
		),
		setVariable("record", lookUp("tenants", "tenant", `^[a-z0-9][a-z0-9-]*\\z`)),
		choose(when(variable("record")+` == "" || (context.Subscription != null && (context.Product == null || context.Product.Id != "`+productPrefix+`" + `+field("record", 0)+`))`,
			refuse(403, "Forbidden", CodeTenant, "No tenant of this gateway has this key or application."))),
		setVariable("plan", "@("+field("record", 0)+")"),
		setVariable("residency", "@("+field("record", 1)+")"),
	}
	if logged {
		nodes = append(nodes, choose(when(field("record", 2)+` != "logged"`,
			refuse(403, "Forbidden", CodeLogging, "Prompts are logged here, which this tenant has not agreed to. Leave \"logged\" out of the URL."))))
	}
	return nodes
}

// validateToken checks signature, issuer, audience and times of the caller's
// token. Both versions of tokens are of the same issuer under two names.
// https://learn.microsoft.com/azure/api-management/validate-jwt-policy
func (g Gateway) validateToken() *Node {
	return el("validate-jwt", "header-name", "Authorization", "require-scheme", "Bearer", "require-expiration-time", "true", "require-signed-tokens", "true",
		"failed-validation-httpcode", "401", "failed-validation-error-message", "A key or an Entra token of this gateway is needed.",
		"output-token-variable-name", "token").with(
		el("openid-config", "url", "https://login.microsoftonline.com/"+g.Directory+"/v2.0/.well-known/openid-configuration"),
		el("audiences").with(el("audience").text(g.Audience)),
		el("issuers").with(
			el("issuer").text("https://login.microsoftonline.com/"+g.Directory+"/v2.0"),
			el("issuer").text("https://sts.windows.net/"+g.Directory+"/"),
		),
	)
}

// request refuses what is not a synchronous call, whichever operation led here:
// an operation that somebody adds by hand forwards nothing. What remains is
// brought into one form.
func (g Gateway) request() []*Node {
	asynchronous := refuse(403, "Forbidden", CodeBatch,
		"This gateway serves synchronous calls only. Submit batch jobs and other asynchronous work at "+g.ControlPlane+".")
	paths := choose(when(isOperation(models), listModels()))
	for _, path := range []string{chat, completions, embeddings, responses} {
		paths.with(when(isOperation(path), setVariable("path", path)))
	}
	paths.with(otherwise(asynchronous))
	return []*Node{
		include(FragmentRoutes),
		setVariable("granted", "@("+entry("grants", on("plan"))+")"),
		paths,
		setVariable("body", body),
		choose(
			when(variable("body")+` == ""`, refuse(400, "Bad Request", CodeBody, "The body must be a JSON object of this operation.")),
			when(`(bool?)JObject.Parse(`+variable("body")+`)["background"] == true`, asynchronous),
		),
		setVariable("tool", foreignTool),
		choose(when(variable("tool")+` != ""`,
			refuse(403, "Forbidden", CodeTool, "Tools of the service are not offered here, since they leave the model: only tools of type function and custom, which the caller runs."))),
		setVariable("alias", `@((string)JObject.Parse(`+variable("body")+`)["model"] ?? "")`),
		// Parameters are dropped, a key among them.
		el("rewrite-uri", "template", "@("+variable("path")+")", "copy-unmatched-params", "false"),
	}
}

// Newtonsoft.Json takes a text of a date and a time for a date, and writes it in another
// form and zone: the model would get a text that nobody sent. Expressions cannot tell it
// not to. So body puts a mark between such a text and the quote before it, be that one of
// a quotation, and the back end's body has it taken out. It is taken out before such
// texts only: a member whose name a caller has begun with it must not come out as one
// that the checks would have refused. The mark is a noncharacter: Unicode keeps it for
// uses like this, and out of texts. Aliases have neither colon nor slash, so none has it.
// https://www.newtonsoft.com/json/help/html/DatesInJSON.htm
// https://www.unicode.org/faq/private_use.html#noncharacters
const (
	date = `([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:|[\\\\]?/Date)` // as one begins
	mark = `\uFDD0`
)

// body reads the request: "" when it is not what it should be. The alias of the
// dated shape joins the body, where that of the v1 shape is. A streamed chat is
// made to end with its usage, or its tokens could only be guessed. Nothing is
// stored, as responses are unless told otherwise: nobody can fetch it through
// this gateway, and the next call may go to another account.
const body = `@{ try { ` +
	`var body = JObject.Parse(Regex.Replace(context.Request.Body.As<string>(preserveContent: true), "\"` + date + `", "\"` + mark + `$1")); ` +
	`if (context.Request.MatchedParameters.ContainsKey("` + deployment + `")) { body["model"] = context.Request.MatchedParameters["` + deployment + `"]; } ` +
	`if ((string)context.Variables["path"] == "` + chat + `" && (bool?)body["stream"] == true) { ` +
	`var options = body["stream_options"] as JObject ?? new JObject(); options["include_usage"] = true; body["stream_options"] = options; } ` +
	`if ((string)context.Variables["path"] == "` + responses + `" || (bool?)body["store"] == true) { body["store"] = false; } ` +
	// These throw when they are of another type, or too large.
	`var model = (string)body["model"]; var background = (bool?)body["background"]; ` +
	`var most = (long?)body["max_completion_tokens"]; var older = (long?)body["max_tokens"]; var output = (long?)body["max_output_tokens"]; ` +
	`return body.ToString(Newtonsoft.Json.Formatting.None); ` +
	`} catch { return ""; } }`

// foreignTool is the first thing in the request that the service itself would
// run, "" for none: search, code, pictures, or whatever server the caller names.
// It would go past the walls and the tenant's residency, unmetered. Tools that the
// caller runs are of the two kinds that stay.
// https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses
// https://learn.microsoft.com/azure/ai-foundry/openai/references/on-your-data
const foreignTool = `@{ try { var body = JObject.Parse((string)context.Variables["body"]); ` +
	`if (body["data_sources"] != null) { return "data_sources"; } ` +
	`if (body["web_search_options"] != null) { return "web_search_options"; } ` +
	`foreach (var tool in body["tools"] as JArray ?? new JArray()) { ` +
	`var kind = (string)tool["type"]; if (kind != "function" && kind != "custom") { return kind ?? "none"; } } ` +
	`return ""; } catch { return "malformed"; } }`

// listModels answers with the aliases of the tenant's plan, in the shape that
// OpenAI's clients read. When a model was made is nobody's business here.
func listModels() *Node {
	const rest = `\", \"object\": \"model\", \"created\": 0, \"owned_by\": \"` + MetricNamespace + `\"}`
	return el("return-response").with(
		el("set-status", "code", "200", "reason", "OK"),
		el("set-header", "name", "Content-Type", "exists-action", "override").with(el("value").text("application/json")),
		el("set-body").text(`@("{\"object\": \"list\", \"data\": [{\"id\": \"" + `+on("granted")+`.Replace(",", "`+rest+`, {\"id\": \"") + "`+rest+` ] }")`),
	)
}

// outputLimits are the members of a request that say how long its answer may be,
// by path; the first is set where none is there.
var outputLimits = []struct {
	path    string
	members []string
}{{chat, []string{"max_completion_tokens", "max_tokens"}}, {completions, []string{"max_tokens"}}, {responses, []string{"max_output_tokens"}}}

// capOutput holds answers to the alias's most tokens, where it has such a limit.
func capOutput() []*Node {
	byPath := el("choose")
	for _, limit := range outputLimits {
		var lower, none []string
		for _, member := range limit.members {
			wanted := `(long?)body["` + member + `"]`
			lower = append(lower, `if (`+wanted+` > most) { body["`+member+`"] = most; } `)
			none = append(none, wanted+" == null")
		}
		byPath.with(when(variable("most")+` != "" && `+variable("path")+` == "`+limit.path+`"`, setVariable("body",
			`@{ var body = JObject.Parse(`+variable("body")+`); var most = int.Parse(`+variable("most")+`); `+strings.Join(lower, "")+
				`if (`+strings.Join(none, " && ")+`) { body["`+limit.members[0]+`"] = most; } return body.ToString(Newtonsoft.Json.Formatting.None); }`)))
	}
	return []*Node{setVariable("most", "@("+entry("caps", literal("alias"))+")"), byPath}
}

// route finds the deployments that may serve the alias, in order.
func route() []*Node {
	nodes := []*Node{
		choose(
			when(`!Regex.IsMatch(`+variable("alias")+`, "^[A-Za-z0-9][A-Za-z0-9._-]*\\z") || !`+on("routes")+`.Contains(";" + `+variable("alias")+` + "/")`,
				refuse(400, "Bad Request", CodeModel, "This gateway serves no model of this name.")),
			when(`!("," + `+variable("granted")+` + ",").Contains("," + `+variable("alias")+` + ",")`,
				refuse(403, "Forbidden", CodePlan, "The plan of this tenant does not include this model.")),
		),
		setVariable("targets", "@("+entry("routes", literal("alias")+` + "/" + `+variable("residency"))+")"),
		choose(when(variable("targets")+` == ""`,
			refuse(403, "Forbidden", CodeResidency, "No deployment of this model keeps to the residency of this tenant."))),
		setVariable("hops", `@(`+on("targets")+`.Split('|').Length)`),
	}
	return append(nodes, capOutput()...)
}

// limit applies the plan's limits to callers without a key, counts tokens, and
// drops what back ends must not see.
func limit() []*Node {
	nodes := []*Node{
		choose(when(`context.Subscription == null`, include(FragmentLimits))),
		metered(func(family string) *Node {
			return el(family+"-emit-token-metric", "namespace", MetricNamespace).with(
				el("dimension", "name", "tenant", "value", "@("+variable("tenant")+")"),
				el("dimension", "name", "alias", "value", "@("+variable("alias")+")"),
				el("dimension", "name", "door", "value", "@("+variable("door")+")"),
			)
		}),
	}
	for _, header := range clientHeaders {
		nodes = append(nodes, el("set-header", "name", header, "exists-action", "delete"))
	}
	return append(nodes, include(FragmentModelsToken))
}

// servingToken gets a token for models served in the cluster, where one of them may
// be tried.
func (g Gateway) servingToken() []*Node {
	if !g.ServesOwn() {
		return nil
	}
	return []*Node{choose(when(on("targets")+`.Contains(",`+string(routing.Ray)+`,")`, include(FragmentServingToken)))}
}

// hopping is the variable that counts the tries.
const hopping = `context.Variables.GetValueOrDefault<int>("hop", 0)`

// backend tries one deployment after another, each once, until one neither fails
// nor has too much to do. It needs no pool: a breaker of a pool does not save
// the call that trips it. No answer at all counts as a failure.
func (g Gateway) backend() *Node {
	most := 1
	for _, a := range g.Aliases {
		most = max(most, len(a.Targets))
	}
	target := func(i int) string { return field("target", i) }
	authorize := func(kind routing.Kind, token string) *Node {
		return when(target(1)+` == "`+string(kind)+`"`,
			el("set-header", "name", "Authorization", "exists-action", "override").with(el("value").text(`@("Bearer " + `+variable(token)+`)`)))
	}
	authorization := choose(authorize(routing.Azure, "models-token"))
	if g.ServesOwn() {
		authorization.with(authorize(routing.Ray, "serving-token"))
	}
	// The back end adds its own key, if it has one.
	authorization.with(otherwise(el("set-header", "name", "Authorization", "exists-action", "delete")))
	return el("backend").with(
		el("retry",
			"condition", `@(`+hopping+` < context.Variables.GetValueOrDefault<int>("hops", 0) && (context.Response == null || context.Response.StatusCode == 429 || context.Response.StatusCode >= 500))`,
			"count", strconv.Itoa(max(1, most-1)), "interval", "1", "first-fast-retry", "true").with(
			setVariable("hop", `@(`+hopping+` + 1)`),
			setVariable("target", `@(`+on("targets")+`.Split('|')[`+hopping+` - 1])`),
			el("set-backend-service", "backend-id", "@("+target(0)+")"),
			el("set-body").text(`@{ var body = JObject.Parse(`+variable("body")+`); body["model"] = `+target(2)+`; return Regex.Replace(body.ToString(Newtonsoft.Json.Formatting.None), "\"`+mark+date+`", "\"$1"); }`),
			authorization,
			el("forward-request", "timeout", strconv.Itoa(forwardSeconds), "buffer-request-body", "true", "buffer-response", "false"),
		),
	)
}

// outbound lets answers through, streams included, without what they say of the
// back end. When no deployment took the call, the caller is told to come back.
// 401, 403 and 404 are mistakes of the platform, not of the caller, and their
// texts name the account.
func outbound() *Node {
	section := el("outbound").with(el("base"), choose(
		when(`context.Response.StatusCode == 429 || context.Response.StatusCode >= 500`, busy(`@(context.Response.Headers.GetValueOrDefault("Retry-After", "`+strconv.Itoa(retryAfterSeconds)+`"))`)),
		when(`context.Response.StatusCode == 401 || context.Response.StatusCode == 403 || context.Response.StatusCode == 404`,
			refuse(502, "Bad Gateway", CodeDeployment, "The model cannot be reached at the moment.")),
	))
	for _, header := range backendHeaders {
		section.with(el("set-header", "name", header, "exists-action", "delete"))
	}
	return section.with(tells())
}

// tells names the tenant in an answer, as far as it is known: the gateway's log
// keeps this header, and knows the tenant of a call with a token by nothing else.
func tells() *Node {
	return el("set-header", "name", TenantHeader, "exists-action", "override").with(el("value").text(`@(context.Variables.GetValueOrDefault<string>("tenant", ""))`))
}

// onError is for deployments that did not answer at all. What limits and the
// check of tokens answer stays as it is.
func onError() *Node {
	return el("on-error").with(el("base"), tells(), choose(when(`context.LastError.Source == "forward-request"`, busy(strconv.Itoa(retryAfterSeconds)))))
}

// busy tells the caller to come back.
func busy(retryAfter string) *Node {
	n := refuse(429, "Too Many Requests", CodeBusy, "Every deployment of this model has too much to do. Try again later.")
	last := len(n.Children) - 1
	header := el("set-header", "name", "Retry-After", "exists-action", "override").with(el("value").text(retryAfter))
	n.Children = append(n.Children[:last:last], header, n.Children[last])
	return n
}

// refuse answers with an error in the shape that OpenAI's clients read.
func refuse(status int, reason, code, message string) *Node {
	text, err := json.Marshal(message)
	if err != nil { // strings always can
		panic(err)
	}
	return el("return-response").with(
		el("set-status", "code", strconv.Itoa(status), "reason", reason),
		el("set-header", "name", "Content-Type", "exists-action", "override").with(el("value").text("application/json")),
		tells(),
		// Two closing brackets in a row could be read as the end of a named value.
		el("set-body").text(fmt.Sprintf(`{"error": {"type": "gateway_error", "code": %q, "param": null, "message": %s} }`, code, text)),
	)
}

// variable is the value of a variable that holds a string.
func variable(name string) string { return `(string)context.Variables["` + name + `"]` }

// on is the same where a member follows: a cast binds less than a dot.
func on(name string) string { return "(" + variable(name) + ")" }

// field is a part of a variable that is cut at commas.
func field(name string, i int) string { return on(name) + `.Split(',')[` + strconv.Itoa(i) + `]` }

// entry is what a table has for a word, "" for none. The word is an expression,
// and what it yields becomes a part of a pattern: it must be known to hold nothing
// that means something there.
func entry(table, word string) string {
	return `Regex.Match(` + variable(table) + `, ";" + ` + word + ` + "=([^;]*);").Groups[1].Value`
}

// literal is the name in a variable as a part of a pattern, where a dot is a dot.
func literal(name string) string { return on(name) + `.Replace(".", "[.]")` }

// lookUp finds the record of the word that variable key holds in a table: "" for
// none. The word comes from outside, so it must match pattern first.
func lookUp(table, key, pattern string) string {
	return `@(Regex.IsMatch(` + variable(key) + `, "` + pattern + `") ? ` + entry(table, variable(key)) + ` : "")`
}

func include(fragment string) *Node { return el("include-fragment", "fragment-id", fragment) }

func choose(children ...*Node) *Node { return el("choose").with(children...) }

func when(condition string, children ...*Node) *Node {
	return el("when", "condition", "@("+condition+")").with(children...)
}

func otherwise(children ...*Node) *Node { return el("otherwise").with(children...) }
