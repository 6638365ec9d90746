package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// writeDefinitions writes the custom resource definitions of all sources to dir.
func writeDefinitions(dir string) error {
	for _, s := range sources {
		if s.core {
			continue
		}
		from, err := s.modules[0].fetch()
		if err != nil {
			return err
		}
		for _, file := range s.files {
			text, err := os.ReadFile(filepath.Join(from, file))
			if err != nil {
				return err
			}
			name := filepath.Base(file)
			if s.group != "" { // in the object's name, PLURAL.GROUP, and in its spec
				old := []byte(groupOf(name))
				text, name = bytes.ReplaceAll(text, old, []byte(s.group)), s.group+name[len(old):]
			}
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// groupOf is the API group in the name of a definition's file, GROUP_PLURAL.yaml.
func groupOf(file string) string {
	group, _, _ := strings.Cut(file, "_")
	return group
}
