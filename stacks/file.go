package stacks

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ParseFile reads the configuration of stack from a stack file, as Load does
// from the engine. Values that the file holds encrypted stay what they are:
// nothing here needs them.
func ParseFile(stack, path string) (*Config, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("stack %q: %w", stack, err)
	}
	var file struct {
		Config map[string]any `yaml:"config"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("stack %q: %s: %w", stack, path, err)
	}
	values := map[string]string{}
	for key, value := range file.Config {
		space, root, qualified := strings.Cut(key, ":")
		if !qualified {
			space, root = namespace, key // Pulumi's own shorthand
		}
		if space != namespace {
			continue
		}
		if text, scalar := value.(string); scalar {
			values[root] = text
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("stack %q: %s: %s: %w", stack, path, key, err)
		}
		values[root] = string(text)
	}
	return Parse(stack, values)
}
