package extract

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Declarations hold no default values. The compiled code does, in the forms
// that these patterns match.
var (
	namespaceLine = regexp.MustCompile(`^( *)\(function \((\w+)\) \{$`)
	functionLine  = regexp.MustCompile(`^ *function (\w+)ProvideDefaults\(val\) \{`)
	typeDefault   = regexp.MustCompile(`(\w+): \(_\w+ = \(val\.\w+\)\) !== null && _\w+ !== void 0 \? _\w+ : ("(?:[^"\\]|\\.)*"|[-\d.]+|true|false)`)
	inputDefault  = regexp.MustCompile(`resourceInputs\["(\w+)"\] = \(_\w+ = \(args \? args\.\w+ : undefined\)\) !== null && _\w+ !== void 0 \? _\w+ : ("(?:[^"\\]|\\.)*"|[-\d.]+|true|false);`)
	typeToken     = regexp.MustCompile(`__pulumiType = '([^']+)'`)
	aliasList     = regexp.MustCompile(`(?m)^.*const aliasOpts = .*$`)
	aliasType     = regexp.MustCompile(`\{ type: "([^"]+)" \}`)
)

// typeDefaults finds the default values in the compiled type file, by
// "network/v20240501:delegationargs.type". The names of the functions that hold
// them differ from the types' in case, so the type is in lower case.
func typeDefaults(src string, services []string) (map[string]any, error) {
	found := map[string]any{}
	var service, version, function string
	for line := range strings.Lines(src) {
		line = strings.TrimSuffix(line, "\n")
		if m := namespaceLine.FindStringSubmatch(line); m != nil {
			if m[1] == "" {
				service, version = m[2], ""
			} else {
				version = "/" + m[2]
			}
			continue
		}
		if strings.HasPrefix(line, "    })(") {
			version = ""
			continue
		}
		if !slices.Contains(services, service) {
			continue
		}
		if m := functionLine.FindStringSubmatch(line); m != nil {
			function = strings.ToLower(m[1])
			continue
		}
		for _, m := range typeDefault.FindAllStringSubmatch(line, -1) {
			value, err := literal(m[2])
			if err != nil {
				return nil, err
			}
			found[service+version+":"+function+"."+m[1]] = value
		}
	}
	return found, nil
}

// resourceDefaults finds the default values of a resource's inputs.
func resourceDefaults(js string) (map[string]any, error) {
	found := map[string]any{}
	for _, m := range inputDefault.FindAllStringSubmatch(js, -1) {
		value, err := literal(m[2])
		if err != nil {
			return nil, err
		}
		found[m[1]] = value
	}
	return found, nil
}

// aliases finds the other tokens that a resource was or is known by.
func aliases(js string) []string {
	var list []string
	for _, m := range aliasType.FindAllStringSubmatch(aliasList.FindString(js), -1) {
		list = append(list, m[1])
	}
	return list
}

func literal(s string) (any, error) {
	var value any
	if err := json.Unmarshal([]byte(s), &value); err != nil {
		return nil, fmt.Errorf("default value %s: %w", s, err)
	}
	return value, nil
}
