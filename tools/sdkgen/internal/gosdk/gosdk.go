// Package gosdk turns a package schema into Go modules with Pulumi's own
// generator: one module for each Azure service, under its official import path.
package gosdk

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/blang/semver"
	gocodegen "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"golang.org/x/mod/modfile"
)

const (
	// Path is the import path of the official core module without its major
	// version. Service modules are siblings of it: Path/<module>/v2.
	Path = "github.com/pulumi/pulumi-azure-native-sdk"

	goVersion    = "1.26.6"
	semverModule = "github.com/blang/semver"
	semverAt     = "v3.5.1+incompatible"
	pulumiModule = "github.com/pulumi/pulumi/sdk/v3"
	pulumiAt     = "v3.276.0" // the version whose generator wrote the code
	metadata     = "pulumi-plugin.json"
)

// ModulePath returns the import path of a service module, or of the core module
// if the name is empty.
func ModulePath(module string) string { return path.Join(Path, module, "v2") }

// Generate returns the files of the named service modules by slash-separated
// path: "network/go.mod", "network/v20240501/subnet.go" and so on.
func Generate(spec schema.PackageSpec, modules []string) (map[string][]byte, error) {
	pkg, err := schema.ImportSpec(spec, nil, noPackages{}, schema.ValidationOptions{})
	if err != nil {
		return nil, fmt.Errorf("bind the schema: %w", err)
	}
	generated, err := gocodegen.GeneratePackage("sdkgen", pkg, nil)
	if err != nil {
		return nil, fmt.Errorf("generate Go: %w", err)
	}
	files := map[string][]byte{}
	for name, content := range generated {
		module, rest := split(name)
		switch {
		case slices.Contains(modules, module):
			files[path.Join(module, rest)] = content
		case module == "" && rest == metadata:
			// The engine finds a resource's plugin through this file, so each module needs it.
			for _, m := range modules {
				files[path.Join(m, metadata)] = content
			}
		}
	}
	for _, m := range modules {
		if _, ok := files[path.Join(m, metadata)]; !ok {
			return nil, fmt.Errorf("generate Go: the generator wrote no %s", metadata)
		}
		content, err := moduleFile(m, spec.Version)
		if err != nil {
			return nil, fmt.Errorf("module %s: %w", m, err)
		}
		files[path.Join(m, "go.mod")] = content
	}
	return files, nil
}

// split takes the generator's file name apart into service module ("" for the
// core module) and the path inside of it.
func split(name string) (module, rest string) {
	name = strings.TrimPrefix(name, "pulumiazurenativesdk/")
	name = strings.TrimPrefix(name, "v2/")
	module, rest, found := strings.Cut(name, "/")
	if !found {
		return "", name
	}
	return module, strings.TrimPrefix(rest, "v2/")
}

func moduleFile(module, version string) ([]byte, error) {
	var f modfile.File
	if err := f.AddModuleStmt(ModulePath(module)); err != nil {
		return nil, err
	}
	if err := f.AddGoStmt(goVersion); err != nil {
		return nil, err
	}
	for _, require := range [][2]string{
		{semverModule, semverAt},
		{Path + "/v2", "v" + version},
		{pulumiModule, pulumiAt},
	} {
		if err := f.AddRequire(require[0], require[1]); err != nil {
			return nil, err
		}
	}
	f.Cleanup()
	return f.Format()
}

// noPackages refuses other packages' schemas: the subset refers to none.
type noPackages struct{}

func (noPackages) LoadPackage(name string, _ *semver.Version) (*schema.Package, error) {
	return nil, fmt.Errorf("the schema refers to package %q, but must stand alone", name)
}

func (noPackages) LoadPackageV2(_ context.Context, d *schema.PackageDescriptor) (*schema.Package, error) {
	return nil, fmt.Errorf("the schema refers to package %q, but must stand alone", d.Name)
}
