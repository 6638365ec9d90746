package rules

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
)

// The types by which other resources can be declared without a type of their own,
// with the inputs that hold what they declare, and those that hold a link to it.
// https://www.pulumi.com/registry/packages/azure-native/api-docs/resources/
var containers = map[string]struct{ bodies, links []string }{
	"azure-native:resources:Resource":                         {[]string{"resourceProviderNamespace", "parentResourcePath", "resourceType", "resourceId"}, nil},
	"azure-native:resources:Deployment":                       {template, templateLinks},
	"azure-native:resources:DeploymentAtScope":                {template, templateLinks},
	"azure-native:resources:DeploymentAtSubscriptionScope":    {template, templateLinks},
	"azure-native:resources:DeploymentAtManagementGroupScope": {template, templateLinks},
	"azure-native:resources:DeploymentAtTenantScope":          {template, templateLinks},
	"azure-native:resources:DeploymentStackAtResourceGroup":   {[]string{"template"}, []string{"templateLink"}},
	"azure-native:resources:DeploymentStackAtSubscription":    {[]string{"template"}, []string{"templateLink"}},
	"azure-native:resources:DeploymentStackAtManagementGroup": {[]string{"template"}, []string{"templateLink"}},
	"azure-native:resources:AzureCliScript":                   {[]string{"scriptContent", "arguments"}, []string{"primaryScriptUri", "supportingScriptUris"}},
	"azure-native:resources:AzurePowerShellScript":            {[]string{"scriptContent", "arguments"}, []string{"primaryScriptUri", "supportingScriptUris"}},
}

var (
	template      = []string{"properties.template"}
	templateLinks = []string{"properties.templateLink"}
)

// guarded finds the kinds of resources that rules of the packs are about, and what
// makes resources in its turn from where it cannot be seen.
var guarded = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`microsoft\.(cognitiveservices|apimanagement|machinelearningservices|containerservice)`,
	`microsoft\.network/+(networksecuritygroups|privateendpoints|virtualnetworks)`,
	`federatedidentitycredentials`,
	`\brole(assignments|definitions|assignmentschedule|eligibilityschedule)`, // also below the type of what they are for
	`microsoft\.resources/+deployment\w*(/|$)`,                               // as a resource without a type; inside a template its own template is seen
	`\b(templatelink|primaryscripturi)\b`,
	`\baz[\s\\]+(cognitiveservices|apim|role|identity|ml|aks|network|deployment|stack|resource|rest)\b`,
	`\b(new|set|add|update|invoke)-az(cognitiveservices|apimanagement|role|federatedidentity|ml|aks|privateendpoint|network|virtualnetwork|deployment|resource|rest)`,
}, "|"))

// unread are the types by which the same is declared without a rule that reads it.
// "*" stands for any text.
var unread = []string{
	// Other providers of Azure.
	"azure:*", "azapi:*", "azurerm:*",
	// Roles that their holder takes when he wants them.
	"azure-native:authorization:Pim*",
	// Models in accounts that a workspace is connected to, or in none of ours.
	"azure-native:machinelearningservices:ConnectionDeployment",
	"azure-native:machinelearningservices:EndpointDeployment",
	"azure-native:machinelearningservices:ServerlessEndpoint",
	// The consent to an endpoint that somebody else declares.
	"azure-native:cognitiveservices:PrivateEndpointConnection",
	// Routes of the gateway.
	"azure-native:apimanagement:Workspace*",
	"azure-native:apimanagement:GraphQLApiResolver*",
}

// hiddenWays are the rules of ways round all other rules.
func hiddenWays() []policypack.Rule {
	types := slices.Clone(unread)
	for typ := range containers {
		types = append(types, typ)
	}
	slices.Sort(types)
	return []policypack.Rule{{
		ID: "BAT-14", Severity: policypack.Critical,
		Title:     "Models, roles and the gateway are declared by types that rules read",
		Rationale: "A template, a script, a resource without a type, another provider or a second type for the same makes what no rule looks at.",
		Remedy:    "Declare the resource with the type of azure-native that rules read.",
		Controls:  []string{"MCSB PV-2", "MCSB AM-2"},
		Sources:   []string{"https://www.pulumi.com/registry/packages/azure-native/api-docs/resources/deployment/"},
		Types:     types,
		Resource: func(c *policypack.Case) {
			const expected = "nothing of models, roles, federated credentials, the gateway, clusters or networks"
			inside, known := containers[c.Type]
			if !known {
				c.Failf("", "of a type that no rule reads", "the type of azure-native that rules read")
				return
			}
			for _, link := range inside.links {
				if c.At(link).State() != propvalue.Absent {
					c.Failf(link, "a link", expected+", and not a link, behind which that can change")
				}
			}
			for _, body := range inside.bodies {
				if part, unknown := c.At(body).Unknown(); unknown {
					c.Undecided(part, expected)
				}
			}
			if found := guarded.FindString(contents(c, inside.bodies)); found != "" {
				if slices.ContainsFunc(inside.bodies, func(body string) bool { return c.At(body).HoldsSecret() }) {
					found = propvalue.ShownSecret
				}
				c.Failf(strings.Join(inside.bodies, ", "), found, expected)
			}
		},
	}}
}

// contents are inputs as one text, in which kinds of resources are found whether they
// are one text or several.
func contents(c *policypack.Case, paths []string) string {
	var parts []string
	for _, path := range paths {
		v := c.At(path)
		if text, state := v.Text(); state == propvalue.Known {
			parts = append(parts, text)
			continue
		}
		encoded, err := json.Marshal(v.Plain(nil))
		if err != nil || v.State() == propvalue.Absent { // NaN and infinities are no resources
			continue
		}
		parts = append(parts, lines.Replace(string(encoded)))
	}
	return strings.Join(parts, "/")
}

// lines undoes how JSON writes the end of a line, or the first word of a script's line
// would be no word.
var lines = strings.NewReplacer(`\n`, " ", `\r`, " ", `\t`, " ")
