package engine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// The state of a simulated stack holds no secret: every secret value of the stack file is
// replaced before the engine sees it. So the passphrase is public, and with it the salt, which
// spares each run a key derivation, and the cipher text, which keeps generated files equal.
const (
	// Placeholder is what the program reads where the stack file has a `secure:` value.
	Placeholder = "onedoor-placeholder"

	passphrase        = "onedoor"
	encryptionSalt    = "v1:b25lZG9vciE=:v1:yhObCoIt9wgFAWr9:b6hgItcQWTWYuG+fehZV4fwtB6aozg=="
	securePlaceholder = "v1:Ag/kjlsMBUIbJUZi:BxWZHlkIqfEyZnC0YcnjT7rozsYWTlgbfYrz3LhCo16JnBE="
)

var (
	// The engine's own limits for names that become parts of paths here.
	projectName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)
	stackName   = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)
)

// projectCopy reads a Pulumi.yaml and returns its project name and the copy to run with:
// without what would reach for the network or outside the work directory.
func projectCopy(path string) (name string, copy []byte, err error) {
	doc, root, err := readMapping(path)
	if err != nil {
		return "", nil, fmt.Errorf("project file: %w", err)
	}
	for _, key := range []string{"plugins", "packages", "backend", "stackConfigDir", "main"} {
		deleteKey(root, key)
	}
	value := lookup(root, "name")
	if value == nil || !projectName.MatchString(value.Value) {
		return "", nil, fmt.Errorf("project file %s: `name` is missing or is no project name; wanted letters, digits, '-', '_' and '.', at most 100", path)
	}
	if lookup(root, "runtime") == nil {
		return "", nil, fmt.Errorf("project file %s: `runtime` is missing; wanted `runtime: go`", path)
	}
	copy, err = encode(doc)
	return value.Value, copy, err
}

// stackCopy reads a stack file and returns the copy to run with: no key of a secrets provider,
// and in place of each `secure:` value one that only the placeholder is in. The value stays a
// secret, so the program and the policies see the same kinds of values as with the real file.
func stackCopy(path string) ([]byte, error) {
	doc, root, err := readMapping(path)
	if err != nil {
		return nil, fmt.Errorf("stack file: %w", err)
	}
	if env := lookup(root, "environment"); env != nil {
		return nil, fmt.Errorf("stack file %s:%d: `environment` imports values from Pulumi ESC, which cannot be read offline; "+
			"put the values under `config`, or run this stack with `pulumi` itself", path, env.Line)
	}
	for _, key := range []string{"secretsprovider", "encryptedkey", "encryptionsalt"} {
		deleteKey(root, key)
	}
	replaceSecure(root)
	root.Content = append(root.Content, scalar("encryptionsalt"), scalar(encryptionSalt))
	return encode(doc)
}

func readMapping(path string) (doc, root *yaml.Node, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	doc = &yaml.Node{}
	if err := yaml.Unmarshal(data, doc); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if doc.Kind == 0 { // empty file
		root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		return &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{root}}, root, nil
	}
	root = doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, nil, fmt.Errorf("%s:%d: wanted a mapping of keys to values", path, root.Line)
	}
	return doc, root, nil
}

func encode(doc *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(doc), enc.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func lookup(m *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

func deleteKey(m *yaml.Node, key string) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			m.Content = append(m.Content[:i:i], m.Content[i+2:]...)
			return
		}
	}
}

// replaceSecure replaces the value of every mapping that is exactly {secure: text}, which is
// how Pulumi itself tells a secret from a value that merely has such a key.
func replaceSecure(n *yaml.Node) {
	if n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[0].Value == "secure" && n.Content[1].Kind == yaml.ScalarNode {
		n.Content[1] = scalar(securePlaceholder)
		return
	}
	for _, child := range n.Content {
		replaceSecure(child)
	}
}

func scalar(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}
