package policypack

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"onedoor/internal/policypack/results"
)

// Profile is a named choice of levels: what stops a deployment. The level of a
// rule is configuration, never code.
type Profile string

// The profiles.
const (
	Audit    Profile = "audit"    // nothing stops; everything is reported
	Standard Profile = "standard" // critical and high stop; the levels of a pack without configuration
	Strict   Profile = "strict"   // everything stops
	Custom   Profile = "custom"   // none of these: levels were set one by one
)

// Profiles are those with a configuration file.
var Profiles = []Profile{Audit, Standard, Strict}

// Level of a rule of the severity.
func (p Profile) Level(s Severity) results.Level {
	switch {
	case p == Strict, p == Standard && (s == Critical || s == High):
		return results.Mandatory
	default:
		return results.Advisory
	}
}

// ConfigFile is the pack's --policy-pack-config for a profile. Settings are
// added to it by hand, beside the level.
func (p Pack) ConfigFile(profile Profile) ([]byte, error) {
	policies := map[string]results.Level{}
	for _, r := range p.Rules {
		policies[r.ID] = profile.Level(r.Severity)
	}
	encoded, err := json.MarshalIndent(struct {
		Version  int                      `json:"version"`
		Policies map[string]results.Level `json:"policies"`
	}{2, policies}, "", "  ")
	return append(encoded, '\n'), err
}

// config is what is in force.
type config struct {
	levels   map[string]results.Level // by rule
	disabled []string                 // rules, sorted
}

func standard(p Pack) config {
	c := config{levels: map[string]results.Level{}}
	for _, r := range p.Rules {
		c.levels[r.ID] = Standard.Level(r.Severity)
	}
	return c
}

// profile names the levels that are in force.
func (c config) profile(p Pack) Profile {
	for _, profile := range Profiles {
		if !slices.ContainsFunc(p.Rules, func(r Rule) bool { return c.levels[r.ID] != profile.Level(r.Severity) }) {
			return profile
		}
	}
	return Custom
}

// all is the engine's own key: a level for every rule, already applied to each
// when the pack is configured.
const all = "all"

// configure takes what the engine sends: the levels of all rules, and what the
// configuration file says about each. A rule that the pack does not have is a
// mistake, or a setting would silently do nothing.
func (p Pack) configure(sent map[string]*pulumirpc.PolicyConfig) (config, error) {
	c := standard(p)
	var wrong []string
	for _, id := range slices.Sorted(maps.Keys(sent)) {
		i := slices.IndexFunc(p.Rules, func(r Rule) bool { return r.ID == id })
		if i < 0 {
			if id != all {
				wrong = append(wrong, fmt.Sprintf("%s: no such rule in this pack; it has %s", id, p.like(id)))
			}
			continue
		}
		level, err := levelOf(sent[id].GetEnforcementLevel())
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", id, err))
		}
		if c.levels[id] = level; level == results.Disabled {
			c.disabled = append(c.disabled, id)
		}
		settings := sent[id].GetProperties().AsMap()
		if p.Rules[i].Configure == nil {
			for _, key := range slices.Sorted(maps.Keys(settings)) {
				wrong = append(wrong, fmt.Sprintf("%s.%s: the rule has no settings", id, key))
			}
			continue
		}
		encoded, err := json.Marshal(settings)
		if err == nil {
			err = p.Rules[i].Configure(encoded)
		}
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", id, err))
		}
	}
	if len(wrong) > 0 {
		return config{}, fmt.Errorf("the configuration of policy pack %q is wrong in %d places:\n  %s\n  fix: correct the file that --policy-pack-config names", p.Name, len(wrong), strings.Join(wrong, "\n  "))
	}
	return c, nil
}

func levelOf(sent pulumirpc.EnforcementLevel) (results.Level, error) {
	switch sent {
	case pulumirpc.EnforcementLevel_ADVISORY:
		return results.Advisory, nil
	case pulumirpc.EnforcementLevel_MANDATORY, pulumirpc.EnforcementLevel_REMEDIATE: // nothing here remediates, and a wish to is no less strict
		return results.Mandatory, nil
	case pulumirpc.EnforcementLevel_DISABLED:
		return results.Disabled, nil
	default:
		return "", fmt.Errorf("enforcement level %d: want advisory, mandatory or disabled", sent)
	}
}

// like are the rules of the id's family, or all families.
func (p Pack) like(id string) string {
	family, _, _ := strings.Cut(id, "-")
	var same, families []string
	for _, r := range p.Rules {
		f, _, _ := strings.Cut(r.ID, "-")
		if strings.EqualFold(f, family) {
			same = append(same, r.ID)
		}
		if !slices.Contains(families, f+"-*") {
			families = append(families, f+"-*")
		}
	}
	if len(same) > 0 {
		return strings.Join(same, ", ")
	}
	return strings.Join(families, ", ")
}
