package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"onedoor/tools/sdkgen/internal/dts"
)

func packageVersion(files map[string]string) (string, error) {
	var manifest struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if err := json.Unmarshal([]byte(files["package.json"]), &manifest); err != nil {
		return "", fmt.Errorf("package.json: %w", err)
	}
	if manifest.Version == "" {
		return "", errors.New("package.json: no version")
	}
	return strings.TrimPrefix(manifest.Version, "v"), nil
}

// namespaces reads the shapes and default values of the services' input and output types.
func (x *extractor) namespaces(services []string) error {
	x.shapes = map[kind]map[string]map[string]*dts.Interface{}
	x.preset = map[kind]map[string]any{}
	for k, file := range map[kind]string{inputs: inputTypes, outputs: outputTypes} {
		x.shapes[k] = map[string]map[string]*dts.Interface{}
		for _, service := range services {
			parsed, err := dts.Parse(file+declared+": "+service, namespace(x.files[file+declared], service))
			if err != nil {
				return err
			}
			maps.Copy(x.shapes[k], parsed.Namespaces)
		}
		defaults, err := typeDefaults(x.files[file+compiled], services)
		if err != nil {
			return fmt.Errorf("%s%s: %w", file, compiled, err)
		}
		x.preset[k] = defaults
	}
	return nil
}

// namespace cuts one top-level namespace out of a file of 60 MB, so that only
// it needs parsing. The generator writes each of them without indentation.
func namespace(src, name string) string {
	head := "\nexport declare namespace " + name + " {\n"
	start := strings.Index(src, head)
	if start < 0 {
		return ""
	}
	length := strings.Index(src[start:], "\n}\n")
	if length < 0 {
		return src[start:]
	}
	return src[start : start+length+len("\n}\n")]
}

// resourceFile is the path of a resource's files, without the extension.
func resourceFile(t string) string {
	module, name, _ := strings.Cut(t, ":")
	if name == "" {
		return module
	}
	return module + "/" + strings.ToLower(name[:1]) + name[1:]
}

// enumValues returns the members of an enum.
func (x *extractor) enumValues(t string) ([]dts.EnumValue, bool) {
	module, name, _ := strings.Cut(t, ":")
	if _, known := x.enums[module]; !known {
		file := "types/enums/" + module + "/index" + declared
		parsed, err := dts.Parse(file, x.files[file])
		if err != nil {
			x.problem("%w", err)
			parsed = &dts.File{}
		}
		x.enums[module] = parsed.Enums
	}
	values, found := x.enums[module][name]
	return values, found
}
