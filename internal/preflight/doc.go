// Package preflight asks Azure, before an update, what a preview cannot know: quota,
// names that are reserved, sizes that a region lacks, rights of whoever deploys. What
// to ask follows from the plan that a preview makes.
//
// It changes nothing in Azure. A question that Azure does not answer is reported as
// not checked, with the reason, and never as good.
package preflight
