package stacks

import "fmt"

// warn notes what is legal and probably not meant. Load shows all warnings with
// every run.
func (c *Config) warn(key, format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf("%s:%s: ", namespace, key)+fmt.Sprintf(format, args...))
}
