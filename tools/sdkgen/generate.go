package main

import (
	"fmt"
	"io"
	"strings"

	"onedoor/tools/sdkgen/internal/gosdk"
	"onedoor/tools/sdkgen/internal/prune"
	"onedoor/tools/sdkgen/internal/tree"
	"onedoor/tools/sdkgen/internal/wanted"
)

// generate writes the modules below dir.
func generate(data folder, dir string, out io.Writer) error {
	list, err := data.resources()
	if err != nil {
		return err
	}
	full, err := data.schema()
	if err != nil {
		return err
	}
	slim, err := prune.Prune(full, list)
	if err != nil {
		return fmt.Errorf("%s does not fit %s (for a type of the provider that is not in the schema, run: sdkgen update %s):\n%w",
			data.file("resources.txt"), data.file("schema.json"), full.Version, err)
	}
	modules := wanted.Modules(list)
	files, err := gosdk.Generate(slim, modules)
	if err != nil {
		return err
	}
	result, err := tree.Sync(dir, files)
	if err != nil {
		return fmt.Errorf("write to %s: %w", dir, err)
	}
	fmt.Fprintf(out, "%s: %d modules (%s), %d resources and %d types of azure-native %s: %d files written, %d unchanged, %d removed\n",
		dir, len(modules), strings.Join(modules, " "), len(slim.Resources), len(slim.Types), full.Version,
		result.Written, result.Unchanged, result.Removed)
	return nil
}
