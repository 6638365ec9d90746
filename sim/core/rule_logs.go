package core

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A deleted workspace comes back by its name for 14 days (A052).
// https://learn.microsoft.com/azure/azure-monitor/logs/delete-workspace
const workspaceSoftDelete = 14 * 24 * time.Hour

// workspaceRetention: 30..730 days, 7 only in the Free tier (A050).
// https://learn.microsoft.com/azure/azure-monitor/logs/data-retention-configure
func workspaceRetention(s State, r, _ *Resource) *Error {
	if gone, ok := s.SoftDeleted[Key(r.ID)]; ok && s.Now-gone.DeletedAt < workspaceSoftDelete {
		was, now := root(gone.Body).get("location"), root(r.Body).get("location")
		if now.known() && Region(was.text()) != Region(now.text()) {
			return refuse(Conflict, "location", "workspace "+r.ID, Region(now.text()), was.text()+", where a workspace of this name was deleted less than 14 days ago", "use that region, another name, or purge the old one")
		}
	}
	n, ok := r.props("retentionInDays").number()
	if !ok || strings.EqualFold(r.props("sku.name").text(), "Free") && n == 7 {
		return nil
	}
	if n != float64(int(n)) || n < 30 || n > 730 {
		return refuse(InvalidParameter, "retentionInDays", "retention of "+r.ID, strconv.FormatFloat(n, 'f', -1, 64), "30..730 days in this tier", "choose one in that range")
	}
	return nil
}

// workspaceQuota: -1 for none, or more than zero (A051).
func workspaceQuota(_ State, r, _ *Resource) *Error {
	n, ok := r.props("workspaceCapping.dailyQuotaGb").number()
	if ok && n != -1 && n <= 0 {
		return refuse(InvalidParameter, "workspaceCapping.dailyQuotaGb", "daily quota of "+r.ID, strconv.FormatFloat(n, 'f', -1, 64), "-1 for none, or more than 0 GB", "set one of these")
	}
	return nil
}

func completeWorkspace(s State, r, _ *Resource) {
	if gone, ok := s.SoftDeleted[Key(r.ID)]; ok && s.Now-gone.DeletedAt < workspaceSoftDelete {
		r.Born = gone.Born // recovered, not made again
	}
	props := object(r.Body, "properties")
	if sku := object(props, "sku"); sku != nil {
		setDefault(sku, "name", "PerGB2018")
		sku["lastSkuUpdate"] = made
	}
	setDefault(props, "retentionInDays", 30.0)
	setDefault(props, "publicNetworkAccessForIngestion", "Enabled")
	setDefault(props, "publicNetworkAccessForQuery", "Enabled")
	if features := object(props, "features"); features != nil {
		setDefault(features, "enableLogAccessUsingOnlyResourcePermissions", true)
	}
	if capping := object(props, "workspaceCapping"); capping != nil {
		setDefault(capping, "dailyQuotaGb", -1.0)
		capping["quotaNextResetTime"], capping["dataIngestionStatus"] = made, "RespectQuota"
	}
	props["customerId"] = GUID(r, "customerId") // A053
	props["createdDate"], props["modifiedDate"] = made, made
}

// made stands for every time stamp that Azure sets: the simulator has no clock.
const made = "2025-01-01T00:00:00Z"

// duration parses the ISO 8601 durations that Azure's settings use, days to seconds.
func duration(text string) (time.Duration, error) {
	rest, ok := strings.CutPrefix(text, "P")
	if !ok || rest == "" {
		return 0, fmt.Errorf("not an ISO 8601 duration: %q", text)
	}
	var total time.Duration
	inTime, number := false, ""
	for _, c := range rest {
		switch {
		case c >= '0' && c <= '9':
			number += string(c)
		case c == 'T' && !inTime && number == "":
			inTime = true
		default:
			unit, ok := map[string]time.Duration{"D": 24 * time.Hour, "TH": time.Hour, "TM": time.Minute, "TS": time.Second}[map[bool]string{true: "T"}[inTime]+string(c)]
			n, err := strconv.Atoi(number)
			if !ok || err != nil {
				return 0, fmt.Errorf("not an ISO 8601 duration: %q", text)
			}
			total, number = total+time.Duration(n)*unit, ""
		}
	}
	if number != "" || inTime && strings.HasSuffix(rest, "T") {
		return 0, fmt.Errorf("not an ISO 8601 duration: %q", text)
	}
	return total, nil
}
