package stacks

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// FileError is a stack file that cannot be read.
type FileError struct {
	Path string
	Err  error
}

// Error names the file and what is wrong with it.
func (e *FileError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns what is wrong.
func (e *FileError) Unwrap() error { return e.Err }

// ParseFile reads the configuration of stack from a stack file, as Load does
// from the engine. Values that the file holds encrypted stay what they are:
// nothing here needs them.
func ParseFile(stack, path string) (*Config, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, &FileError{path, err}
	}
	var file struct {
		Config map[string]any `yaml:"config"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return nil, &FileError{path, err}
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
			return nil, &FileError{path, fmt.Errorf("%s: %w", key, err)}
		}
		values[root] = string(text)
	}
	config, err := Parse(stack, values)
	if wrong, ok := errors.AsType[*ConfigError](err); ok {
		wrong.File = path
	}
	return config, err
}
