package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/policies/internal/azure"
)

// settings say what the doors are called. Names are patterns in which * stands
// for any text; the case of letters does not matter, as in Azure.
type settings struct {
	BatchGroups         []string `json:"batchGroups"`         // resource groups that hold batch accounts, and nothing else does
	BatchSubnets        []string `json:"batchSubnets"`        // subnets for private endpoints of batch accounts
	ModelSubnets        []string `json:"modelSubnets"`        // subnets for private endpoints of synchronous accounts
	ControlPlaneSubnets []string `json:"controlPlaneSubnets"` // subnets of the nodes that reach the batch account
	GatewaySubnets      []string `json:"gatewaySubnets"`      // subnets from which the gateway calls models
	ControlPlane        []string `json:"controlPlane"`        // identities that submit batch jobs
	Gateway             []string `json:"gateway"`             // identities that call models
	JobContainers       []string `json:"jobContainers"`       // blob containers that hold input and output of jobs
	ControlPlaneAPIs    []string `json:"controlPlaneApis"`    // ids of APIs of the gateway that lead to the control plane
	BatchNamespaces     []string `json:"batchNamespaces"`     // Kubernetes namespaces of the control plane, written out
	ServingNamespaces   []string `json:"servingNamespaces"`   // Kubernetes namespaces of Ray, written out, beside those that the stack puts it into
	EdgeNamespaces      []string `json:"edgeNamespaces"`      // Kubernetes namespaces of the authenticated edge before Ray, written out
	OperatorNamespaces  []string `json:"operatorNamespaces"`  // Kubernetes namespaces of Ray's operator, written out
	BatchTaint          string   `json:"batchTaint"`          // key of the taint of the nodes that reach the batch account
	Residency           string   `json:"residency"`           // where batch jobs may be processed: regional, dataZone or global
}

// defaults are the names that this project gives.
func defaults() *settings {
	return &settings{
		BatchGroups:  []string{"rg-*-batch-door", "rg-*-batch-door-*"},
		BatchSubnets: []string{"*-endpoints-batch", "*-endpoints-batch-*"}, ModelSubnets: []string{"*-endpoints-models", "*-endpoints-models-*"},
		ControlPlaneSubnets: []string{"*-batch-nodes", "*-batch-nodes-*"}, GatewaySubnets: []string{"*-gateway", "*-gateway-*"},
		ControlPlane: []string{"id-*-control-plane", "id-*-control-plane-*"}, Gateway: []string{"id-*-gateway", "id-*-gateway-*"},
		JobContainers: []string{"batch-input", "batch-output"}, ControlPlaneAPIs: []string{},
		BatchNamespaces: []string{"onedoor-batch"}, ServingNamespaces: []string{"onedoor-serving"},
		EdgeNamespaces: []string{"onedoor-edge"}, OperatorNamespaces: []string{"onedoor-kuberay"}, BatchTaint: "onedoor/batch",
	}
}

// patterns are the settings that are lists of names, by key.
func (s *settings) patterns() map[string]*[]string {
	return map[string]*[]string{
		"batchGroups": &s.BatchGroups, "batchSubnets": &s.BatchSubnets, "modelSubnets": &s.ModelSubnets,
		"controlPlaneSubnets": &s.ControlPlaneSubnets, "gatewaySubnets": &s.GatewaySubnets, "controlPlane": &s.ControlPlane, "gateway": &s.Gateway,
		"jobContainers": &s.JobContainers, "controlPlaneApis": &s.ControlPlaneAPIs, "batchNamespaces": &s.BatchNamespaces, "servingNamespaces": &s.ServingNamespaces,
		"edgeNamespaces": &s.EdgeNamespaces, "operatorNamespaces": &s.OperatorNamespaces,
	}
}

// residencies from the narrowest promise to none.
var residencies = []string{"regional", "dataZone", "global"}

func (s *settings) rule() policypack.Rule {
	schema := map[string]any{
		"batchTaint": map[string]any{"type": "string", "minLength": 1},
		"residency":  map[string]any{"type": "string", "enum": []any{"", residencies[0], residencies[1], residencies[2]}},
	}
	for key := range s.patterns() {
		schema[key] = map[string]any{"type": "array", "items": map[string]any{"type": "string", "minLength": 1}}
	}
	return policypack.Rule{
		ID: "SET-01", Severity: policypack.High,
		Title:     "Every rule of the pack is on",
		Rationale: "A rule that is switched off leaves no trace in a review; a waiver has an owner, a reason and an end.",
		Remedy:    "Set the rule to advisory, or waive single cases.",
		Controls:  []string{"MCSB PV-2"},
		Types:     []string{azure.PulumiStack},
		Resource:  policypack.AllRulesOn,
		Schema:    schema,
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
	lists := fresh.patterns()
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		for _, pattern := range *lists[key] {
			if strings.Trim(pattern, "*?") == "" {
				wrong = append(wrong, fmt.Errorf("%s: got %q, want a name or a part of one: this stands for every name, so the rules would ask nothing", key, pattern))
			}
		}
	}
	if fresh.BatchTaint == "" {
		wrong = append(wrong, errors.New("batchTaint: got nothing, want the key of a taint: without one pods are not told apart"))
	}
	if fresh.Residency != "" && !slices.Contains(residencies, fresh.Residency) {
		wrong = append(wrong, fmt.Errorf("residency: got %q, want %s, or nothing", fresh.Residency, strings.Join(residencies, " or ")))
	}
	if err := errors.Join(wrong...); err != nil {
		return err
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
