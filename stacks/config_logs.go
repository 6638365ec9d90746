package stacks

import (
	"net/mail"
	"strings"

	"onedoor/internal/az"
)

// Logs is the root key "logs": where diagnostics go and who hears of alerts.
type Logs struct {
	WorkspaceID   string   `json:"workspaceId"`   // ARM id of an existing Log Analytics workspace; "" makes one
	RetentionDays int      `json:"retentionDays"` // 30 to 730, of the workspace made here
	DailyQuotaGB  float64  `json:"dailyQuotaGb"`  // -1 for none, else at least 0.023; ingestion stops for the day beyond it
	Alerts        []string `json:"alerts"`        // e-mail addresses that every alert reaches, 1 to 1000
}

func defaultLogs() Logs { return Logs{RetentionDays: 30, DailyQuotaGB: -1} }

// Limits of a workspace on the PerGB2018 tier and of an action group.
// https://learn.microsoft.com/azure/azure-monitor/logs/data-retention-configure
// https://learn.microsoft.com/azure/azure-monitor/logs/daily-cap
// https://learn.microsoft.com/azure/azure-monitor/service-limits#action-groups
const (
	minRetentionDays = 30
	maxRetentionDays = 730
	minDailyQuotaGB  = 0.023
	maxAlertEmails   = 1000
)

func (l *Logs) check(report *problems) {
	if l.WorkspaceID != "" {
		checkID(report, "logs.workspaceId", l.WorkspaceID, workspaceType)
	}
	if l.RetentionDays < minRetentionDays || l.RetentionDays > maxRetentionDays {
		report.bad("logs.retentionDays", l.RetentionDays, "30 to 730 days, the limits of the PerGB2018 tier", "30")
	}
	if l.DailyQuotaGB != -1 && l.DailyQuotaGB < minDailyQuotaGB {
		report.bad("logs.dailyQuotaGb", l.DailyQuotaGB, "-1 for no cap, or at least 0.023 GB, Azure's smallest", "5")
	}
	if n := len(l.Alerts); n < 1 || n > maxAlertEmails {
		report.bad("logs.alerts", n, "1 to 1000 e-mail addresses: an alert that nobody hears is none", "")
	}
	for _, address := range l.Alerts {
		if parsed, err := mail.ParseAddress(address); err != nil || parsed.Address != address {
			report.bad("logs.alerts", address, "a plain e-mail address", "")
		}
	}
}

// ARM types of resources that may exist already.
const (
	workspaceType = "Microsoft.OperationalInsights/workspaces"
	networkType   = "Microsoft.Network/virtualNetworks"
)

// checkID checks that value is the id of a resource of type typ ("" for a
// resource group).
func checkID(report *problems, key, value, typ string) {
	example := az.ID{SubscriptionID: "11111111-2222-3333-4444-555555555555", ResourceGroup: "rg-shared", Type: typ}
	what := "the id of a resource group"
	if typ != "" {
		example.Names = []string{"shared"}
		what = "the id of a resource of type " + typ
	}
	id, err := az.ParseID(value)
	if err != nil || !strings.EqualFold(id.Type, typ) {
		report.bad(key, value, what, example.String())
	}
}
