package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"onedoor/internal/policypack"
	"onedoor/policies/internal/azure"
)

// Whether services may be reached from the internet.
const (
	private = "private"
	public  = "public"
)

// settings are what the rules must be told. In patterns * stands for any text;
// the case of letters does not matter.
type settings struct {
	Exposure      string   `json:"exposure"`      // private, or public: then rules that demand a private service do not apply where Entra alone opens it and, if its tier knows address ranges, these are named
	Models        []string `json:"models"`        // approved models, as name or name@version
	Registries    []string `json:"registries"`    // approved registries, or their repositories, of images
	Charts        []string `json:"charts"`        // approved Helm charts, as name@version
	Issuers       []string `json:"issuers"`       // approved issuers of federated credentials beside the stack's own clusters, written out
	RetentionDays int      `json:"retentionDays"` // longest life of prompts and results
	KeptPrefixes  []string `json:"keptPrefixes"`  // blob prefixes that hold neither prompts nor results
	PromptAPIs    []string `json:"promptApis"`    // ids of APIs whose tenants agreed to the logging of prompts
	Patches       []string `json:"patches"`       // paths that patches may change
	GPUDigests    bool     `json:"gpuDigests"`    // images that use GPUs are named by their digest; without it a version will do
	DNSByPolicy   bool     `json:"dnsByPolicy"`   // Azure Policy registers private endpoints, not the stack

	Subjects map[string][]string `json:"subjects"` // by identity: the only subjects that may act as it, written out; defaults that are not named stay
}

// controlPlane is the control plane's service account.
const controlPlane = "system:serviceaccount:onedoor-batch:control-plane"

func defaults() *settings {
	return &settings{
		Exposure:      private,
		Models:        []string{"gpt-4.1*", "gpt-4o*", "gpt-5*", "o3*", "o4*", "text-embedding-3*"},
		Registries:    []string{"cr*.azurecr.io/*", "mcr.microsoft.com/*"},
		Charts:        []string{"kuberay-operator@1.6.1"},
		RetentionDays: 30,
		KeptPrefixes:  []string{"evidence/*", "weights/*"},
		Patches: []string{
			"properties.workloadAutoScalerProfile.keda.enabled",
			"properties.minCount", "properties.maxCount", "properties.orchestratorVersion", "properties.nodeLabels.*", "properties.tags.*", // of the cluster's first pool
			"apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.annotations.pulumi.com/*", "spec.template.metadata.annotations.*", // of a Kubernetes object: a restart
		},
		Subjects: map[string][]string{
			"id-*-control-plane": {controlPlane}, "id-*-control-plane-*": {controlPlane},
			"id-*-gateway": {}, "id-*-gateway-*": {}, // it stands outside of clusters
		},
		GPUDigests: true,
		PromptAPIs: []string{"openai-logged"}, // which answers only tenants that agreed
	}
}

func (s *settings) rule() policypack.Rule {
	list := map[string]any{"type": "array", "items": map[string]any{"type": "string", "minLength": 1}}
	return policypack.Rule{
		ID: "SET-02", Severity: policypack.High,
		Title:     "Every rule of the pack is on",
		Rationale: "A rule that is switched off leaves no trace in a review; a waiver has an owner, a reason and an end.",
		Remedy:    "Set the rule to advisory, or waive single cases.",
		Controls:  []string{"MCSB PV-2"},
		Types:     []string{azure.PulumiStack},
		Resource:  policypack.AllRulesOn,
		Schema: map[string]any{
			"exposure": map[string]any{"type": "string", "enum": []any{private, public}},
			"models":   list, "registries": list, "charts": list, "issuers": list, "keptPrefixes": list, "promptApis": list, "patches": list,
			"subjects":      map[string]any{"type": "object", "additionalProperties": list},
			"retentionDays": map[string]any{"type": "integer", "minimum": 1, "maximum": 730},
			"dnsByPolicy":   map[string]any{"type": "boolean"},
			"gpuDigests":    map[string]any{"type": "boolean"},
		},
		Configure: s.decode,
	}
}

func (s *settings) decode(raw []byte) error {
	fresh := defaults()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(fresh); err != nil {
		return err
	}
	var wrong []error
	if fresh.Exposure != private && fresh.Exposure != public {
		wrong = append(wrong, fmt.Errorf("exposure: got %q, want %s or %s", fresh.Exposure, private, public))
	}
	for _, issuer := range fresh.Issuers {
		if strings.Contains(issuer, "*") || !strings.HasPrefix(issuer, "https://") {
			wrong = append(wrong, fmt.Errorf("issuers: got %q, want an address written out, as https://<region>.oic.prod-aks.azure.com/<tenant>/<cluster>/: what a pattern leaves open, clusters of others have too", issuer))
		}
	}
	if fresh.RetentionDays < 1 || fresh.RetentionDays > 730 {
		wrong = append(wrong, fmt.Errorf("retentionDays: got %d, want 1..730", fresh.RetentionDays))
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	*s = *fresh
	return nil
}

// like tells whether one of the patterns is like text. Other than in file
// names, * crosses "/".
func like(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return expression(pattern).MatchString(text) })
}

// expression is a pattern as a regular expression. Few patterns meet many texts.
func expression(pattern string) *regexp.Regexp {
	if known, ok := expressions.Load(pattern); ok {
		return known.(*regexp.Regexp)
	}
	made := regexp.MustCompile("(?is)^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
	expressions.Store(pattern, made)
	return made
}

var expressions sync.Map // by pattern

// excused tells whether a rule that demands a private service may let a public
// one be: the exposure is public, Entra alone opens the service, and its address
// ranges are named where its tier knows any. It says so in the case.
func (s *settings) excused(c *policypack.Case, entraOnly, rangesNamedOrImpossible bool) bool {
	if s.Exposure == public && entraOnly && rangesNamedOrImpossible {
		c.NotApplicable("the exposure of this stack is public, Entra alone opens the service, and address ranges are named or its tier has none")
		return true
	}
	return false
}
