// Package replay registers the resources of a recorded preview with the real
// engine as they were recorded, changed by a mutation, so that whatever judges a
// stack can be asked about a bad one that the program itself would never declare.
// It judges nothing, and it knows no configuration of the project.
package replay

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"onedoor/internal/engine"
)

// Stack is a set of planned resources.
type Stack struct {
	Name      string            `json:"stack"`
	Resources []engine.Resource `json:"resources"`
}

// Load reads the record of a preview.
func Load(file string) (Stack, error) {
	var s Stack
	raw, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	if len(s.Resources) == 0 {
		return s, fmt.Errorf("%s: no resources", file)
	}
	return s, nil
}

// Selector names recorded resources.
type Selector struct {
	// Type is a token without the version, as azure-native:storage:StorageAccount.
	Type string `yaml:"type"`
	// Name is the logical name, or a pattern of path.Match.
	Name string `yaml:"name"`
}

// String is the selector as messages have it.
func (s Selector) String() string { return s.Type + " " + s.Name }

func (s Selector) matches(r engine.Resource) bool {
	named, err := path.Match(s.Name, r.Name)
	return err == nil && named && Unversioned(r.Type) == s.Type
}

// Select returns where the selected resources are. None is an error: a mutation
// that changes nothing proves nothing.
func (s Stack) Select(by Selector) ([]int, error) {
	var found []int
	for i, r := range s.Resources {
		if by.matches(r) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		var names []string
		for _, r := range s.Resources {
			if Unversioned(r.Type) == by.Type {
				names = append(names, r.Name)
			}
		}
		slices.Sort(names)
		return nil, fmt.Errorf("%s: not in the recorded stack, which has of that type: %s", by, strings.Join(names, ", "))
	}
	return found, nil
}

// Unversioned is a type token without the version of its API, as policies see it.
func Unversioned(token string) string {
	pkg, rest, _ := strings.Cut(token, ":")
	module, name, found := strings.Cut(rest, ":")
	if pkg != "azure-native" || !found {
		return token
	}
	module, _, _ = strings.Cut(module, "/")
	return pkg + ":" + module + ":" + name
}
