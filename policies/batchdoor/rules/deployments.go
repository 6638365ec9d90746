package rules

import (
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

const batchDocs = "https://learn.microsoft.com/azure/ai-services/openai/how-to/batch"

// deployments are the rules of model accounts and their deployments.
func deployments(s *settings) []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "BAT-01", Severity: policypack.Critical,
			Title:     "A batch SKU stands only in the control plane's account",
			Rationale: "A batch deployment elsewhere is a second door: it evades the queue, the budget and the audit.",
			Remedy:    "Move the deployment into the batch account, or give it a synchronous SKU.",
			Controls:  []string{"MCSB AM-2", "MCSB AI-1"},
			Sources:   []string{batchDocs},
			Types:     []string{azure.Deployment},
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				batch, known := batchSKU(c)
				switch {
				case !known:
				case !batch:
					c.NotApplicable("the SKU is not a batch SKU")
				default:
					s.inBatchGroup(st, c)
				}
			},
		},
		{
			ID: "BAT-02", Severity: policypack.High,
			Title:     "The batch account holds nothing but batch SKUs",
			Rationale: "Chat and batch share one host and port, so only separate accounts let the network tell them apart.",
			Remedy:    "Move the deployment into a synchronous account.",
			Controls:  []string{"MCSB NS-1", "MCSB AM-2"},
			Sources:   []string{batchDocs},
			Types:     []string{azure.Deployment},
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				group, state := azure.GroupName(st, c.Resource)
				switch {
				case state != propvalue.Known:
					c.Undecided(azure.GroupOf(c.Resource), "a known resource group")
				case !like(s.BatchGroups, group):
					c.NotApplicable("the account is not a batch account")
				default:
					c.MustText(c.At("sku.name"), "a batch SKU, GlobalBatch or DataZoneBatch", isBatchSKU)
				}
			},
		},
		{
			ID: "BAT-08", Severity: policypack.Medium,
			Title:     "The batch account lets no trusted service past its network rules",
			Rationale: "The bypass admits other Azure services that hold a data role, from outside the network.",
			Remedy:    `Set properties.networkAcls.bypass to "None".`,
			Controls:  []string{"MCSB NS-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/ai-services/cognitive-services-virtual-networks"},
			Types:     []string{azure.Account},
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				if s.batchAccount(st, c) {
					c.Must(c.At("properties.networkAcls.bypass"), "None")
				}
			},
		},
		{
			ID: "BAT-09", Severity: policypack.Medium,
			Title:     "Processing outside the region is declared",
			Rationale: "A global batch may be processed in any region of the world; who owns the data must have said yes.",
			Remedy:    `Set residency in the settings of SET-01 to what the owners of the data allow, or take a narrower SKU.`,
			Controls:  []string{"MCSB AI-1"},
			Sources:   []string{"https://learn.microsoft.com/azure/ai-foundry/foundry-models/concepts/deployment-types"},
			Types:     []string{azure.Deployment},
			Resource: func(c *policypack.Case) {
				batch, known := batchSKU(c)
				if !known {
					return
				}
				if !batch {
					c.NotApplicable("the SKU is not a batch SKU")
					return
				}
				sku, _ := c.At("sku.name").Text()
				needs := "global"
				if strings.HasPrefix(strings.ToLower(sku), "datazone") {
					needs = "dataZone"
				}
				if slices.Index(residencies, s.Residency) < slices.Index(residencies, needs) {
					c.Fail(c.At("sku.name"), "a SKU that keeps the declared residency "+orNone(s.Residency))
				}
			},
		},
	}
}

func orNone(s string) string {
	if s == "" {
		return "(none declared)"
	}
	return s
}

// isBatchSKU takes every SKU that ends so, for those that Azure will add.
func isBatchSKU(name string) bool { return strings.HasSuffix(strings.ToLower(name), "batch") }

// batchSKU tells whether the deployment has a batch SKU; it reports when that is
// not known. Without a SKU Azure makes a synchronous one.
func batchSKU(c *policypack.Case) (batch, known bool) {
	sku := c.At("sku.name")
	name, state := sku.Text()
	switch state {
	case propvalue.Known:
		return isBatchSKU(name), true
	case propvalue.Absent:
		return false, true
	default:
		c.Undecided(sku, "a SKU that is known")
		return false, false
	}
}

// inBatchGroup demands that the resource stands in a group for batch accounts.
func (s *settings) inBatchGroup(st *policypack.Stack, c *policypack.Case) {
	expected := "a group for batch accounts: " + strings.Join(s.BatchGroups, " or ")
	group, state := azure.GroupName(st, c.Resource)
	switch {
	case state == propvalue.Known && like(s.BatchGroups, group):
		c.Saw(azure.GroupOf(c.Resource), expected)
	case state == propvalue.Known:
		c.Fail(azure.GroupOf(c.Resource), expected)
	default:
		c.Undecided(azure.GroupOf(c.Resource), expected)
	}
}

// batchAccount tells whether the account is a batch account: by its group. It
// reports when it is not, or when that is not known.
func (s *settings) batchAccount(st *policypack.Stack, c *policypack.Case) bool {
	batch, known := s.isBatch(st, c.Resource)
	switch {
	case !known:
		c.Undecided(azure.GroupOf(c.Resource), "a known resource group")
	case !batch:
		c.NotApplicable("the account is not a batch account")
	}
	return batch && known
}

func (s *settings) isBatch(st *policypack.Stack, account *policypack.Resource) (batch, known bool) {
	group, state := azure.GroupName(st, account)
	return like(s.BatchGroups, group), state == propvalue.Known
}
