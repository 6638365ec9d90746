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
	"azure-native:resources:AzureCliScript":                   {[]string{"scriptContent", "arguments"}, []string{"primaryScriptUri", "supportingScriptUris"}},
	"azure-native:resources:AzurePowerShellScript":            {[]string{"scriptContent", "arguments"}, []string{"primaryScriptUri", "supportingScriptUris"}},
}

var (
	template      = []string{"properties.template"}
	templateLinks = []string{"properties.templateLink"}
)

// guarded are the kinds of resources that the rules of this pack are about.
var guarded = regexp.MustCompile(`(?i)microsoft\.(cognitiveservices|apimanagement)|microsoft\.authorization/+role(assignments|definitions)|\baz (cognitiveservices|apim|role)\b`)

// classic are the types of the other provider of Azure for the same resources.
var classic = []string{"azure:cognitive/*", "azure:apimanagement/*", "azure:authorization/*"}

// hiddenWays are the rules of ways round all other rules.
func hiddenWays() []policypack.Rule {
	types := slices.Clone(classic)
	for typ := range containers {
		types = append(types, typ)
	}
	slices.Sort(types)
	return []policypack.Rule{{
		ID: "BAT-14", Severity: policypack.Critical,
		Title:     "Models, roles and the gateway are declared by types that rules read",
		Rationale: "A template, a script, a resource without a type or another provider makes what no rule looks at.",
		Remedy:    "Declare the resource with its own type of azure-native.",
		Controls:  []string{"MCSB PV-2", "MCSB AM-2"},
		Sources:   []string{"https://www.pulumi.com/registry/packages/azure-native/api-docs/resources/deployment/"},
		Types:     types,
		Resource: func(c *policypack.Case) {
			const expected = "nothing of models, roles or the gateway"
			inside, known := containers[c.Type]
			if !known {
				c.Failf("", "a type of another provider of Azure", "the type of azure-native")
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
		parts = append(parts, string(encoded))
	}
	return strings.Join(parts, "/")
}
