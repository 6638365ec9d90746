// Package wanted reads resources.txt, the list of resource types that the
// program uses. The format is described at the top of that file.
package wanted

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Resource is one line of the list.
type Resource struct {
	Type    string   // "network/v20240501:Subnet"
	Outputs []string // sorted names of the output properties to keep
}

// Token returns the Pulumi type token of the resource.
func (r Resource) Token() string { return "azure-native:" + r.Type }

// Module returns the service module, "network" for "network/v20240501:Subnet".
func (r Resource) Module() string {
	module, _, _ := strings.Cut(r.Type, "/")
	return module
}

var typeName = regexp.MustCompile(`^[a-z0-9]+/v[0-9]{8}[a-z0-9]*:[A-Z][A-Za-z0-9]*$`)

// Parse reads the text of a list. It reports every bad line, not only the first.
func Parse(text string) ([]Resource, error) {
	var (
		list     []Resource
		problems []error
	)
	for i, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		r := Resource{Type: fields[0], Outputs: fields[1:]}
		bad := func(format string, args ...any) {
			problems = append(problems, fmt.Errorf("line %d: %s: "+format, append([]any{i + 1, r.Type}, args...)...))
		}
		if !typeName.MatchString(r.Type) {
			bad("want <module>/<version>:<Resource>, as in network/v20240501:Subnet")
		}
		if !slices.IsSorted(r.Outputs) || len(slices.Compact(slices.Clone(r.Outputs))) != len(r.Outputs) {
			bad("outputs must be sorted and distinct, got %s", strings.Join(r.Outputs, " "))
		}
		if n := len(list); n > 0 && list[n-1].Type >= r.Type {
			bad("lines must be sorted and distinct, but it follows %s", list[n-1].Type)
		}
		list = append(list, r)
	}
	if len(list) == 0 {
		problems = append(problems, errors.New("no resource type is listed"))
	}
	return list, errors.Join(problems...)
}

// Modules returns the sorted service modules of a list.
func Modules(list []Resource) []string {
	var modules []string
	for _, r := range list {
		modules = append(modules, r.Module())
	}
	slices.Sort(modules)
	return slices.Compact(modules)
}
