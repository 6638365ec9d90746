package rules

import (
	"fmt"
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// deletesOnTime judges a lifecycle policy: what it deletes it deletes on time, and it
// deletes something.
func (s *settings) deletesOnTime(c *policypack.Case) {
	list := c.At("policy.rules")
	rules, state := list.Items()
	expected := s.onTime()
	if state != propvalue.Known {
		c.Undecided(list, expected)
		return
	}
	deleting := 0
	for _, rule := range rules {
		if on, state := rule.At("enabled").Bool(); unsure(state) {
			c.Undecided(rule.At("enabled"), "known")
		} else if state == propvalue.Known && !on {
			continue
		}
		if s.keptAll(rule.At("definition", "filters", "prefixMatch")) {
			continue
		}
		for _, days := range deletions(rule) {
			if days.State() == propvalue.Absent {
				continue
			}
			deleting++
			c.MustNumber(days, expected, s.soonEnough)
		}
	}
	if deleting == 0 {
		c.Fail(list, "a rule for prompts and results with "+expected)
	}
}

func (s *settings) onTime() string {
	return fmt.Sprintf("deletion after at most %d days", s.RetentionDays)
}

func (s *settings) soonEnough(days float64) bool {
	return days >= 0 && days <= float64(s.RetentionDays)
}

// deletions are the days after which a rule deletes blobs.
func deletions(rule propvalue.Value) []propvalue.Value {
	del := rule.At("definition", "actions", "baseBlob", "delete")
	return []propvalue.Value{del.At("daysAfterModificationGreaterThan"), del.At("daysAfterCreationGreaterThan")}
}

// keptAll tells whether a rule is about nothing but what may be kept.
func (s *settings) keptAll(prefixes propvalue.Value) bool {
	items, state := prefixes.Items()
	return state == propvalue.Known && len(items) > 0 && !slices.ContainsFunc(items, func(item propvalue.Value) bool {
		text, state := item.Text()
		return state != propvalue.Known || !like(s.KeptPrefixes, text)
	})
}

// isEmptied judges a container: a rule of its account deletes everything in it.
func (s *settings) isEmptied(st *policypack.Stack, c *policypack.Case) {
	name, state := azure.NameOf(c.Resource).Text()
	switch {
	case state != propvalue.Known:
		c.Undecided(azure.NameOf(c.Resource), "a name that is known")
		return
	case like(s.KeptPrefixes, name+"/"):
		c.NotApplicable("it holds neither prompts nor results")
		return
	}
	blobs, versions, unclear := false, !versioned(st, c.Resource), lost(st, c.Resource)
	for _, policy := range st.Of(azure.Lifecycle) {
		if !azure.SameOwner(st, policy, c.Resource, "accountName", azure.Storage) {
			unclear = unclear || lost(st, policy)
			continue
		}
		rules, state := policy.At("policy.rules").Items()
		unclear = unclear || unsure(state)
		for _, rule := range rules {
			if _, unknown := rule.Unknown(); unknown {
				unclear = true
				continue
			}
			if !covers(rule, name) {
				continue
			}
			for _, days := range deletions(rule) {
				n, state := days.Number()
				blobs = blobs || state == propvalue.Known && s.soonEnough(n)
			}
			n, state := rule.At("definition", "actions", "version", "delete", "daysAfterCreationGreaterThan").Number()
			versions = versions || state == propvalue.Known && s.soonEnough(n)
		}
	}
	expected := "a lifecycle rule for all of it with " + s.onTime()
	shown := azure.NameOf(c.Resource).Shown()
	switch {
	case blobs && versions:
		c.Saw(azure.NameOf(c.Resource), expected)
	case unclear:
		c.Undecidedf("containerName", expected, "a lifecycle rule of the account is not known")
	case blobs:
		c.Failf("containerName", shown+", whose versions stay", expected+", of versions as well")
	default:
		c.Failf("containerName", shown+" without one", expected)
	}
}

// lost tells whether it is not known which account a resource is of.
func lost(st *policypack.Stack, r *policypack.Resource) bool {
	return r.Get("accountName").State() == propvalue.Unknown && len(st.Behind(r, "accountName", azure.Storage)) != 1
}

// covers tells whether a rule is for every blob of a container.
func covers(rule propvalue.Value, container string) bool {
	if on, state := rule.At("enabled").Bool(); state == propvalue.Known && !on {
		return false
	}
	filters := rule.At("definition", "filters")
	types, _ := filters.At("blobTypes").Items()
	tags, _ := filters.At("blobIndexMatch").Items()
	prefixes, state := filters.At("prefixMatch").Items()
	return len(tags) == 0 &&
		slices.ContainsFunc(types, func(v propvalue.Value) bool { text, _ := v.Text(); return strings.EqualFold(text, "blockBlob") }) &&
		(state == propvalue.Absent || len(prefixes) == 0 || slices.ContainsFunc(prefixes, func(v propvalue.Value) bool {
			text, _ := v.Text()
			return strings.HasPrefix(container+"/", text)
		}))
}

// versioned tells whether the account of a container keeps what is overwritten or
// deleted as versions, or may do so.
func versioned(st *policypack.Stack, container *policypack.Resource) bool {
	return slices.ContainsFunc(st.Of(azure.BlobService), func(service *policypack.Resource) bool {
		on, state := service.Get("isVersioningEnabled").Bool()
		return azure.SameOwner(st, service, container, "accountName", azure.Storage) && (on || unsure(state))
	})
}
