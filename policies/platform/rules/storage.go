package rules

import (
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// storage are the rules of storage accounts.
func storage(s *settings) []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "ST-01", Severity: policypack.Critical,
			Title:     "Storage takes no keys and shows nothing to strangers",
			Rationale: "Keys and anonymous reads expose prompts and answers; Azure allows keys unless told otherwise.",
			Remedy:    "Set allowSharedKeyAccess and allowBlobPublicAccess to false, and give identities a role.",
			Controls:  []string{"MCSB IM-1", "MCSB NS-2", "Azure Policy 8c6a50c6-9ffd-4ae7-986f-5fa6111f9a54", "Azure Policy 4fa4b6c0-31ca-4c0d-b10d-24b96f62a751", "Checkov CKV_AZURE_59", "Checkov CKV_AZURE_190"},
			Sources:   []string{"https://learn.microsoft.com/azure/storage/common/shared-key-authorization-prevent"},
			Types:     []string{azure.Storage},
			Resource: func(c *policypack.Case) {
				c.Must(c.At("allowSharedKeyAccess"), false)
				c.Must(c.At("allowBlobPublicAccess"), false)
			},
		},
		{
			ID: "ST-02", Severity: policypack.High,
			Title:     "Storage is reached through the network alone, over https with TLS 1.2 or later",
			Rationale: "Prompts and results must not cross the internet.",
			Remedy:    `Set publicNetworkAccess "Disabled", minimumTlsVersion "TLS1_2" and enableHttpsTrafficOnly true.`,
			Controls:  []string{"MCSB NS-2", "MCSB DP-3", "CIS Azure 4.1", "CIS Azure 4.7", "CIS Azure 4.15", "Azure Policy b2982f36-99f2-4db5-8eff-283140c09693", "Azure Policy fe83a0eb-a853-422d-aac2-1bffd182c5d0", "Azure Policy 404c3081-a854-4457-ae30-26a93ef643f9"},
			Sources:   []string{"https://learn.microsoft.com/azure/storage/common/storage-network-security"},
			Types:     []string{azure.Storage},
			Resource: func(c *policypack.Case) {
				c.Must(c.At("minimumTlsVersion"), "TLS1_2", "TLS1_3")
				c.MustIfSet(c.At("enableHttpsTrafficOnly"), true) // Azure's default since 2019
				keys, state := c.At("allowSharedKeyAccess").Bool()
				action, _ := c.At("networkRuleSet.defaultAction").Text()
				if !closed(c) && s.excused(c, state == propvalue.Known && !keys, strings.EqualFold(action, "Deny")) {
					return
				}
				c.Must(c.At("publicNetworkAccess"), "Disabled")
			},
		},
		{
			ID: "ST-03", Severity: policypack.Medium,
			Title:     "Prompts and results are deleted on time",
			Rationale: "What is not kept cannot be lost or asked for.",
			Remedy:    "Cover every container with a lifecycle rule that deletes blobs, and their versions, after the days that retentionDays of SET-02 allows; soft delete keeps them for its own days more.",
			Controls:  []string{"MCSB DP-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/storage/blobs/lifecycle-management-overview"},
			Types:     []string{azure.Lifecycle, azure.BlobContainer},
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				if c.Type == azure.Lifecycle {
					s.deletesOnTime(c)
					return
				}
				s.isEmptied(st, c)
			},
		},
	}
}

// closed tells whether public access is known to be off.
func closed(c *policypack.Case) bool {
	access, state := c.At("publicNetworkAccess").Text()
	return state == propvalue.Known && strings.EqualFold(access, "Disabled")
}
