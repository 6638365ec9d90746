package waiver

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// exception is one of the engine's. It has no owner and no end, and its targets
// are exact URNs: that is why ours is another file.
// https://pkg.go.dev/github.com/pulumi/pulumi/pkg/v3/resource/analyzer#PolicyExceptions
type exception struct {
	Reason string  `json:"reason"`
	Match  []match `json:"match"`
}

type match struct {
	Policies []string `json:"policies"`
	Targets  []string `json:"targets"`
}

// Compile adds the waivers that count to the configuration of a policy pack, for
// the engine's --policy-pack-config. rules are those of the pack: the engine
// warns of exceptions for others.
func (r Review) Compile(config []byte, rules []string) ([]byte, error) {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(config, &file); err != nil {
		return nil, fmt.Errorf("configuration of a policy pack: %w", err)
	}
	if string(file["version"]) != "2" {
		return nil, fmt.Errorf("configuration of a policy pack: version: got %q, want 2, the one with exceptions", file["version"])
	}
	if _, given := file["exceptions"]; given {
		return nil, errors.New("configuration of a policy pack: exceptions: got some, want none: they have no owner and no end; write a waiver instead")
	}
	exceptions := map[string]exception{}
	for _, v := range r {
		if !v.Counts() {
			continue
		}
		e := exception{Reason: fmt.Sprintf("%s (%s, until %s, owner %s, approver %s)", v.Reason, v.Ticket, v.Expires.Format(day), v.Owner, v.Approver)}
		for _, rule := range v.Rules {
			var targets []string
			for _, f := range v.Covers {
				if f.Rule == rule && slices.Contains(rules, rule) {
					targets = append(targets, f.URN)
				}
			}
			if len(targets) > 0 {
				e.Match = append(e.Match, match{[]string{rule}, targets})
			}
		}
		if len(e.Match) > 0 {
			exceptions[v.ID] = e
		}
	}
	encoded, err := json.Marshal(exceptions)
	if err != nil {
		return nil, err
	}
	file["exceptions"] = encoded
	out, err := json.MarshalIndent(file, "", "  ")
	return append(out, '\n'), err
}
