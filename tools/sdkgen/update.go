package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/blang/semver"

	"onedoor/tools/sdkgen/internal/extract"
	"onedoor/tools/sdkgen/internal/gosdk"
	"onedoor/tools/sdkgen/internal/npm"
	"onedoor/tools/sdkgen/internal/wanted"
)

const nodePackage = "@pulumi/azure-native"

// update rebuilds the pinned schema from the provider's Node.js SDK, for all
// types that the schema has or the list names, and then the modules below dir.
func update(ctx context.Context, data folder, dir, version string, out io.Writer) error {
	if _, err := semver.Parse(version); err != nil {
		return fmt.Errorf("version %q: want one of %s, as in 2.92.3: %w", version, nodePackage, err)
	}
	list, err := data.resources()
	if err != nil {
		return err
	}
	types, err := pinned(data, list)
	if err != nil {
		return err
	}
	files, err := download(ctx, version, extract.Needs(types))
	if err != nil {
		return err
	}
	floats, err := data.floats()
	if err != nil {
		return err
	}
	spec, err := extract.Schema(extract.Source{Files: files, Floats: floats}, types)
	if err != nil {
		return fmt.Errorf("extract the schema from %s %s:\n%w", nodePackage, version, err)
	}
	if spec.Version != version {
		return fmt.Errorf("asked for %s %s, got %s", nodePackage, version, spec.Version)
	}
	if err := data.setSchema(spec); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: azure-native %s, %d resources, %d types\n", data.file("schema.json"), version, len(spec.Resources), len(spec.Types))
	if err := generate(data, dir, out); err != nil {
		return err
	}
	fmt.Fprint(out, "\nNow run in the root of the repository:\n\n")
	for _, module := range append([]string{""}, wanted.Modules(list)...) {
		fmt.Fprintf(out, "  go mod edit -require=%s@v%s", gosdk.ModulePath(module), version)
		if module != "" {
			fmt.Fprintf(out, " -replace=%s=./sdks/%s", gosdk.ModulePath(module), module)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out, "\nand review the difference of data/schema.json. New numbers in it count as integers: see floats.txt.")
	return nil
}

// pinned returns the types of the schema and of the list together.
func pinned(data folder, list []wanted.Resource) ([]string, error) {
	full, err := data.schema()
	if err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for token := range full.Resources {
		set[strings.TrimPrefix(token, extract.Package+":")] = true
	}
	for _, r := range list {
		set[r.Type] = true
	}
	return slices.Sorted(maps.Keys(set)), nil
}

// download returns the files of the Node.js SDK that keep asks for.
func download(ctx context.Context, version string, keep func(string) bool) (_ map[string]string, err error) {
	dir, err := os.MkdirTemp("", "sdkgen-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path, err := npm.Pack(ctx, nodePackage, version, dir)
	if err != nil {
		return nil, err
	}
	archive, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	return npm.Read(archive, keep)
}
