package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"onedoor/internal/engine"
	"onedoor/internal/manifest"
)

const (
	// manifestsDir is where the objects of the cluster are, below the directory of a
	// stack.
	manifestsDir = "manifests"
	// clusterWide is the directory of objects without a namespace; no namespace can
	// have this name.
	clusterWide = "_cluster"
	// preamble heads every manifest.
	preamble = "# As declared. " + engine.Unknown + " is known after an update, " + engine.Secret + " is not shown.\n"
)

// writeManifests writes each Kubernetes object of result to
// manifests/<namespace>/<kind>-<name>.yaml in dir, in place of those of an earlier
// run. Parts of objects that others declare, and charts, are no objects.
func writeManifests(result *engine.Result, dir string) error {
	dir = filepath.Join(dir, manifestsDir)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for _, r := range result.Resources {
		path := manifestPath(r)
		if path == "" {
			continue
		}
		text, err := yaml.Marshal(r.Inputs) // keys in order
		if err != nil {
			return fmt.Errorf("manifest of %s: %w", r.URN, err)
		}
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, append([]byte(preamble), text...), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// manifestPath is where the manifest of a resource goes, "" where it is no object
// of the cluster or is about to go.
func manifestPath(r engine.Resource) string {
	kind, ours := strings.CutPrefix(r.Type, "kubernetes:")
	if !ours || r.Op == "delete" || strings.HasSuffix(kind, "Patch") || strings.HasPrefix(kind, "helm.sh/") {
		return ""
	}
	key := manifest.Key(r.Inputs)
	if key.Name == "" || key.Name == engine.Unknown {
		key.Name = r.Name // names that the cluster makes up
	}
	if key.Namespace == "" {
		key.Namespace = clusterWide
	}
	// Names of roles may have colons, which not every file system takes.
	return filepath.Join(key.Namespace, strings.ReplaceAll(strings.ToLower(key.Kind)+"-"+key.Name, ":", "_")+".yaml")
}
