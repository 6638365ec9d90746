package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/policies/internal/azure"
)

// settings say what the doors are called. Names are patterns in which * stands
// for any text; the case of letters does not matter, as in Azure.
type settings struct {
	BatchGroups      []string `json:"batchGroups"`      // resource groups that hold batch accounts, and nothing else does
	BatchSubnets     []string `json:"batchSubnets"`     // subnets for private endpoints of batch accounts
	ControlPlane     []string `json:"controlPlane"`     // identities that submit batch jobs
	Gateway          []string `json:"gateway"`          // identities that call models
	JobContainers    []string `json:"jobContainers"`    // blob containers that hold input and output of jobs
	ControlPlaneAPIs []string `json:"controlPlaneApis"` // ids of APIs of the gateway that lead to the control plane
	Residency        string   `json:"residency"`        // where batch jobs may be processed: regional, dataZone or global
}

// defaults are the names that this project gives.
func defaults() *settings {
	return &settings{
		BatchGroups: []string{"rg-*-batch-door", "rg-*-batch-door-*"}, BatchSubnets: []string{"*-endpoints-batch", "*-endpoints-batch-*"},
		ControlPlane: []string{"id-*-control-plane", "id-*-control-plane-*"}, Gateway: []string{"id-*-gateway", "id-*-gateway-*"},
		JobContainers: []string{"batch-input", "batch-output"}, ControlPlaneAPIs: []string{}, Residency: "",
	}
}

// residencies from the narrowest promise to none.
var residencies = []string{"regional", "dataZone", "global"}

func (s *settings) rule() policypack.Rule {
	list := map[string]any{"type": "array", "items": map[string]any{"type": "string", "minLength": 1}}
	return policypack.Rule{
		ID: "SET-01", Severity: policypack.High,
		Title:     "Every rule of the pack is on",
		Rationale: "A rule that is switched off leaves no trace in a review; a waiver has an owner, a reason and an end.",
		Remedy:    "Set the rule to advisory, or waive single cases.",
		Controls:  []string{"MCSB PV-2"},
		Types:     []string{azure.PulumiStack},
		Resource:  policypack.AllRulesOn,
		Schema: map[string]any{
			"batchGroups": list, "batchSubnets": list, "controlPlane": list, "gateway": list, "jobContainers": list, "controlPlaneApis": list,
			"residency": map[string]any{"type": "string", "enum": []any{"", residencies[0], residencies[1], residencies[2]}},
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
	for key, patterns := range map[string][]string{
		"batchGroups": fresh.BatchGroups, "batchSubnets": fresh.BatchSubnets, "controlPlane": fresh.ControlPlane,
		"gateway": fresh.Gateway, "jobContainers": fresh.JobContainers, "controlPlaneApis": fresh.ControlPlaneAPIs,
	} {
		for _, pattern := range patterns {
			if strings.Trim(pattern, "*") == "" {
				return fmt.Errorf("%s: %q stands for every name, so the rules would ask nothing", key, pattern)
			}
		}
	}
	*s = *fresh
	return nil
}

// like tells whether one of the patterns is like name.
func like(patterns []string, name string) bool {
	for _, pattern := range patterns {
		if ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name)); err == nil && ok {
			return true
		}
	}
	return false
}
