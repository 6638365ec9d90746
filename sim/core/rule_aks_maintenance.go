package core

import (
	"slices"
	"strconv"
	"strings"
)

const maintenanceType = "microsoft.containerservice/managedclusters/maintenanceconfigurations"

// The maintenance configurations that AKS knows: the first for its weekly
// releases, the others for upgrades of Kubernetes and of the nodes' images (A435).
// https://learn.microsoft.com/azure/aks/planned-maintenance
const (
	weeklyReleases = "default"
	upgradeWindow  = "aksManagedAutoUpgradeSchedule"
	nodeWindow     = "aksManagedNodeOSUpgradeSchedule"
)

// maintenanceName: a configuration of another name is refused (A435).
// https://github.com/Azure/ARO-HCP/pull/3260
func maintenanceName(_ State, r, _ *Resource) *Error {
	names := []string{weeklyReleases, upgradeWindow, nodeWindow}
	if name := Name(r.ID); !slices.Contains(names, name) {
		return refuse(InvalidParameter, "configName", "Only 'default', 'aksManagedAutoUpgradeSchedule' and 'aksManagedNodeOSUpgradeSchedule' are allowed configNames for maintenance configuration: "+r.ID,
			strconv.Quote(name), "one of "+strings.Join(names, ", "), "choose the one for what shall wait for the window")
	}
	return nil
}

// maintenanceWindow: an upgrade has a window with one schedule, a daily one for
// nodes alone; the weekly releases have a window that comes every week, or hours
// of a week (A436).
// https://learn.microsoft.com/azure/aks/planned-maintenance
// https://github.com/Azure/AgentBaker/pull/6529
func maintenanceWindow(_ State, r, _ *Resource) *Error {
	name, window := Name(r.ID), r.props("maintenanceWindow")
	if window.unknown() {
		return nil
	}
	if window.absent() {
		if name == weeklyReleases {
			return nil
		}
		return refuse(InvalidParameter, "maintenanceWindow", "maintenanceWindow of "+r.ID, "nothing", "a window, because timeInWeek and notAllowedTime are for the configuration default alone", "set maintenanceWindow")
	}
	for _, hours := range []string{"timeInWeek", "notAllowedTime"} {
		if !r.props(hours).absent() {
			return refuse(InvalidParameter, hours, hours+" of "+r.ID, "hours beside a window", "either of the two, and hours for the configuration default alone", "drop "+hours)
		}
	}
	schedule, _ := window.get("schedule").v.(map[string]any)
	kinds := sortedKeys(schedule)
	if len(kinds) != 1 {
		return refuse(InvalidParameter, "maintenanceWindow.schedule", "schedule of "+r.ID, strconv.Itoa(len(kinds))+" of them ("+strings.Join(kinds, ", ")+")",
			"exactly one of daily, weekly, absoluteMonthly, relativeMonthly", "keep one")
	}
	switch {
	case name == weeklyReleases && kinds[0] != "weekly":
		return refuse(InvalidParameter, "maintenanceWindow.schedule", "Only weekly schedule is supported for control plane upgrade maintenance configuration: default: "+r.ID, kinds[0], "weekly", "use weekly")
	case name == upgradeWindow && kinds[0] == "daily":
		return refuse(InvalidParameter, "maintenanceWindow.schedule", "schedule of "+r.ID, "daily", "weekly, absoluteMonthly or relativeMonthly, because only "+nodeWindow+" may come every day", "use weekly")
	}
	return nil
}
