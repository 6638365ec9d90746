package report

import (
	"strings"

	"github.com/google/uuid"

	"onedoor/internal/policypack/results"
)

// namespace is that of all ids in reports, itself made of the annotations'
// domain, so that ids are the same wherever a report is made.
var namespace = uuid.NewSHA1(uuid.NameSpaceDNS, []byte("report.onedoor.io"))

// id is the same for the same words.
func id(words ...string) string {
	return uuid.NewSHA1(namespace, []byte(strings.Join(words, "\x00"))).String()
}

// fingerprint is the same for the same finding in the next run, and in another
// stack of the project.
func fingerprint(r results.Result) string {
	where := r.Resource
	if project, typ, name, ok := urnParts(r.Resource); ok {
		where = project + "::" + typ + "::" + name
	}
	return id(r.Rule, where, r.Evidence.Path)
}
