// Package guard holds the Azure Policy definitions that keep the doors apart for
// whoever writes to the subscription by other means than this program. It renders
// them and says where each belongs; a component declares them, and policyrule
// evaluates them.
package guard

import (
	"bytes"
	"encoding/json"
	"fmt"

	"onedoor/internal/az"
)

// Policy is one policy.
type Policy struct {
	Key         string // short, unique, a part of names
	DisplayName string
	Description string
	Message     string // whoever is refused reads it
	Rule        map[string]any
}

// The ARM types that the policies are about.
const (
	accountType    = "Microsoft.CognitiveServices/accounts"
	deploymentType = accountType + "/deployments"
)

// The policies. Names of SKUs for batch jobs end in Batch.
// https://learn.microsoft.com/azure/ai-foundry/foundry-models/concepts/deployment-types
var (
	NoBatch = Policy{
		Key:         "no-batch",
		DisplayName: "No deployments for batch jobs outside the batch group",
		Description: "A batch deployment on an account that serves synchronous calls lets whoever may upload a file there submit jobs past the control plane.",
		Message:     "Batch deployments belong to the account of the batch control plane, in its own resource group.",
		Rule:        deny(isA(deploymentType), field(deploymentType+"/sku.name", "like", "*Batch")),
	}
	OnlyBatch = Policy{
		Key:         "only-batch",
		DisplayName: "Nothing but deployments for batch jobs in the batch group",
		Description: "A synchronous deployment beside the batch account would have the control plane's door for another purpose, past the gateway's limits.",
		Message:     "The batch group holds batch deployments alone; put a synchronous one on an account behind the gateway.",
		Rule:        deny(isA(deploymentType), field(deploymentType+"/sku.name", "notLike", "*Batch")),
	}
	ClosedAccounts = Policy{
		Key:         "closed-accounts",
		DisplayName: "Model accounts take Entra tokens alone, through private endpoints alone",
		Description: "A key has no name and no role, and a public address is a way past every door.",
		Message:     "Set disableLocalAuth to true and publicNetworkAccess to Disabled.",
		Rule: deny(isA(accountType), map[string]any{"anyOf": []any{
			field(accountType+"/disableLocalAuth", "notEquals", true),
			field(accountType+"/publicNetworkAccess", "notEquals", "Disabled"),
		}}),
	}
)

// All are the policies, in the order of their keys.
var All = []Policy{ClosedAccounts, NoBatch, OnlyBatch}

// Mode makes a policy look at all types: Azure leaves out those without tags and
// location, such as deployments, otherwise.
// https://learn.microsoft.com/azure/governance/policy/concepts/definition-structure-basics#mode
const Mode = "All"

// Parameters are those of every policy: an assignment may watch for a while before
// it refuses.
func Parameters() map[string]any {
	return map[string]any{"effect": map[string]any{
		"type": "String", "allowedValues": []any{"Audit", "Deny", "Disabled"}, "defaultValue": "Deny",
		"metadata": map[string]any{"displayName": "Effect", "description": "what happens to a write that breaks the rule"},
	}}
}

// deny refuses what meets all conditions.
func deny(conditions ...any) map[string]any {
	return map[string]any{
		"if":   map[string]any{"allOf": conditions},
		"then": map[string]any{"effect": "[parameters('effect')]"},
	}
}

func isA(armType string) map[string]any { return field("type", "equals", armType) }

func field(name, operator string, value any) map[string]any {
	return map[string]any{"field": name, operator: value}
}

// definitionName and assignmentName are Azure's limits.
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftauthorization
var (
	definitionName = az.Rule{Prefix: "policy", Max: 64}
	assignmentName = az.Rule{Prefix: "assign", Max: 64}
)

// DefinitionName is the policy's name in Azure. It carries the stack: several may
// share a subscription.
func (p Policy) DefinitionName(scope az.Scope) string { return scope.Name(definitionName, p.Key) }

// DefinitionID is the id of the policy's definition.
func (p Policy) DefinitionID(scope az.Scope) string {
	return fmt.Sprintf("/subscriptions/%s/providers/Microsoft.Authorization/policyDefinitions/%s", scope.SubscriptionID, p.DefinitionName(scope))
}

// AssignmentName is the name of the policy's assignment at a place.
func (p Policy) AssignmentName(scope az.Scope, place string) string {
	return scope.Name(assignmentName, p.Key, place)
}

// Assignment is a policy at a scope.
type Assignment struct {
	Policy    Policy
	Place     string // what Scope is called, a part of names
	Name      string
	Scope     string   // id of a resource group or a subscription
	NotScopes []string // ids below Scope that it leaves out
}

// Groups are the stack's resource groups by id.
type Groups struct{ Platform, BatchDoor string }

// Assignments are the policies where they belong: at the stack's own groups, and
// at the subscription where batchGroups, every batch group in it, are given.
func Assignments(scope az.Scope, groups Groups, batchGroups []string) []Assignment {
	at := func(p Policy, place, id string, not []string) Assignment {
		return Assignment{Policy: p, Place: place, Name: p.AssignmentName(scope, place), Scope: id, NotScopes: not}
	}
	out := []Assignment{
		at(ClosedAccounts, "batch-door", groups.BatchDoor, nil),
		at(ClosedAccounts, "platform", groups.Platform, nil),
		at(NoBatch, "platform", groups.Platform, nil),
		at(OnlyBatch, "batch-door", groups.BatchDoor, nil),
	}
	if len(batchGroups) > 0 {
		out = append(out, at(NoBatch, "subscription", "/subscriptions/"+scope.SubscriptionID, batchGroups))
	}
	return out
}

// JSON renders the definitions and assignments for whoever may assign policies
// where this program may not, as the bodies of the requests that make them.
func JSON(scope az.Scope, groups Groups, batchGroups []string) ([]byte, error) {
	type document struct {
		ID         string         `json:"id"`
		Properties map[string]any `json:"properties"`
	}
	var all []document
	for _, p := range All {
		all = append(all, document{p.DefinitionID(scope), map[string]any{
			"displayName": p.DisplayName, "description": p.Description, "mode": Mode, "policyType": "Custom",
			"parameters": Parameters(), "policyRule": p.Rule,
		}})
	}
	for _, a := range Assignments(scope, groups, batchGroups) {
		properties := map[string]any{
			"displayName": a.Policy.DisplayName, "policyDefinitionId": a.Policy.DefinitionID(scope), "enforcementMode": "Default",
			"nonComplianceMessages": []any{map[string]any{"message": a.Policy.Message}},
		}
		if len(a.NotScopes) > 0 {
			properties["notScopes"] = a.NotScopes
		}
		all = append(all, document{a.Scope + "/providers/Microsoft.Authorization/policyAssignments/" + a.Name, properties})
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(all); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
