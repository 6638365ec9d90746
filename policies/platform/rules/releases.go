package rules

import (
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
)

// helmRelease is the type of Helm releases.
const helmRelease = "kubernetes:helm.sh:Release"

// releases are the rules of Helm releases.
func releases(s *settings) []policypack.Rule {
	return []policypack.Rule{{
		ID: "POD-04", Severity: policypack.High,
		Title:     "Helm releases are on the list, with their chart and images pinned",
		Rationale: "A chart brings workloads and roles that no rule here sees before they run.",
		Remedy:    "Take a chart of charts in the settings of SET-02 at its version, and set every image's tag in the values.",
		Controls:  []string{"MCSB AM-2", "CIS AKS 5.1.4"},
		Sources:   []string{"https://www.pulumi.com/registry/packages/kubernetes/api-docs/helm/v3/release/"},
		Types:     []string{helmRelease},
		Resource: func(c *policypack.Case) {
			if c.MustBeSet(c.At("version"), "a version") {
				version, _ := c.At("version").Text()
				c.MustText(c.At("chart"), "a chart of the list: "+strings.Join(s.Charts, ", "), func(chart string) bool {
					return like(s.Charts, chart[strings.LastIndex(chart, "/")+1:]+"@"+version)
				})
			}
			values := c.At("values")
			if part, unknown := values.Unknown(); unknown { // it may be, or hold, an image
				c.Undecided(part, "values that are known")
			}
			movingTags(c, values)
		},
	}}
}

// movingTags finds images in values that a registry can change.
func movingTags(c *policypack.Case, v propvalue.Value) {
	if items, state := v.Items(); state == propvalue.Known {
		for _, item := range items {
			movingTags(c, item)
		}
	}
	for key, member := range v.Members() {
		text, state := member.Text()
		switch {
		case key == "tag" && member.State() != propvalue.Absent:
			c.MustText(member, "a version other than latest", func(tag string) bool { return tag != "" && tag != "latest" })
		case key == "image" && state == propvalue.Known && text != "" && v.At("tag").State() == propvalue.Absent:
			c.MustText(member, "a version other than latest, or a digest", fixed)
		default:
			movingTags(c, member)
		}
	}
}
