package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kubernetesSDK starts the import paths of the Kubernetes SDK.
const kubernetesSDK = "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"

// needsCluster are the packages of it that ask a live cluster while they preview.
var needsCluster = []string{kubernetesSDK + "/helm/v4", kubernetesSDK + "/yaml", kubernetesSDK + "/kustomize"}

// needingCluster are the uses of the Kubernetes SDK in a file that ask a live
// cluster while they preview: some packages, and every Get function.
func needingCluster(file *ast.File) []string {
	var found []string
	names := map[string]bool{} // of imported packages of the SDK
	for _, spec := range file.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		if !strings.HasPrefix(path, kubernetesSDK) {
			continue
		}
		for _, banned := range needsCluster {
			if path == banned || strings.HasPrefix(path, banned+"/") {
				found = append(found, path)
			}
		}
		segments := strings.Split(path, "/")
		name := segments[len(segments)-1]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if use, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := use.X.(*ast.Ident); ok && names[pkg.Name] && strings.HasPrefix(use.Sel.Name, "Get") {
				found = append(found, pkg.Name+"."+use.Sel.Name)
			}
		}
		return true
	})
	return found
}

// The cluster of a first preview does not exist, and that of a private network is
// out of reach of a pull request.
func TestNoKubernetesObjectNeedsALiveClusterToPreview(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	seen := 0
	for _, dir := range []string{"components", "stacks", "internal"} {
		err := filepath.WalkDir(filepath.Join(projectDir, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			seen += strings.Count(importsOf(file), kubernetesSDK)
			assert.Empty(t, needingCluster(file), path)
			return nil
		})
		require.NoError(t, err)
	}
	assert.Positive(t, seen, "nothing uses the Kubernetes SDK: this test looks in the wrong place")

	for name, source := range map[string]string{
		"chart":     `package p; import helm "` + kubernetesSDK + `/helm/v4"; var _ = helm.NewChart`,
		"yaml":      `package p; import "` + kubernetesSDK + `/yaml/v2"; var _ = v2.NewConfigFile`,
		"kustomize": `package p; import "` + kubernetesSDK + `/kustomize/v2"; var _ = v2.NewDirectory`,
		"get":       `package p; import corev1 "` + kubernetesSDK + `/core/v1"; var _ = corev1.GetSecret`,
	} {
		file, err := parser.ParseFile(files, name+".go", source, parser.SkipObjectResolution)
		require.NoError(t, err)
		assert.NotEmpty(t, needingCluster(file), name)
	}
}

// importsOf are the imports of a file, one a line.
func importsOf(file *ast.File) string {
	var out strings.Builder
	for _, spec := range file.Imports {
		out.WriteString(spec.Path.Value + "\n")
	}
	return out.String()
}
