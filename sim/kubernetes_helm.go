package sim

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"onedoor/internal/armtypes"
	"onedoor/internal/manifest"
	"onedoor/sim/kube"
)

// releaseInputs are the inputs of a Helm release.
// https://www.pulumi.com/registry/packages/kubernetes/api-docs/helm/v3/release/
var releaseInputs = []string{
	"allowNullValues", "atomic", "chart", "cleanupOnFail", "compat", "createNamespace", "dependencyUpdate", "description", "devel",
	"disableCRDHooks", "disableOpenapiValidation", "disableWebhooks", "forceUpdate", "keyring", "lint", "manifest", "maxHistory", "name",
	"namespace", "postrender", "recreatePods", "renderSubchartNotes", "replace", "repositoryOpts", "resetValues", "resourceNames",
	"reuseValues", "skipAwait", "skipCrds", "timeout", "valueYamlFiles", "values", "verify", "version", "waitForJobs",
}

var repositoryInputs = []string{"caFile", "certFile", "keyFile", "password", "repo", "username"}

// maxReleaseName is Helm's own limit, in characters.
// https://github.com/helm/helm/blob/main/pkg/chart/common/util/validate_name.go
const maxReleaseName = 53

// exactVersion is a version of a chart, as opposed to a range that means another
// one tomorrow.
var exactVersion = regexp.MustCompile(`^v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$`)

// checkRelease judges the inputs of a Helm release. No chart is read or rendered:
// what its values mean is not known here (A650).
func checkRelease(in map[string]any) []manifest.Problem {
	var out []manifest.Problem
	add := func(path string, v any, want, fix string) {
		got := "nothing"
		if v != nil {
			got = fmt.Sprintf("%q", fmt.Sprint(v))
		}
		out = append(out, manifest.Problem{Path: path, Got: got, Want: want, Fix: fix})
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if !slices.Contains(releaseInputs, name) {
			out = append(out, manifest.Problem{Path: name, Got: "an unknown input", Want: "one of " + strings.Join(releaseInputs, ", "), Fix: "leave it out"})
		}
	}
	unknown := func(v any) bool { _, is := v.(armtypes.Unknown); return is }
	chart, _ := in["chart"].(string)
	if chart == "" && !unknown(in["chart"]) {
		add("chart", in["chart"], "a chart: its name in a repository, or oci://registry/path", "set it")
	}
	name, _ := in["name"].(string)
	switch problems := validation.IsDNS1123Label(name); {
	case unknown(in["name"]):
	case name == "":
		add("name", in["name"], "a name, because names are explicit here", "set it")
	case len(problems) > 0 || len(name) > maxReleaseName:
		add("name", name, fmt.Sprintf("at most %d lower-case letters, digits and hyphens", maxReleaseName), "")
	}
	if version, ok := in["version"].(string); ok && !exactVersion.MatchString(version) {
		add("version", version, "one version, such as 1.2.3: a range means another chart tomorrow", "")
	} else if in["version"] == nil && chart != "" {
		add("version", nil, "a version: without one, every update may bring another chart", "set it")
	}
	if v := in["values"]; v != nil && !unknown(v) {
		if _, ok := v.(map[string]any); !ok {
			add("values", v, "an object", "")
		}
	}
	options, _ := in["repositoryOpts"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if !slices.Contains(repositoryInputs, key) {
			out = append(out, manifest.Problem{Path: "repositoryOpts." + key, Got: "an unknown input", Want: "one of " + strings.Join(repositoryInputs, ", "), Fix: "leave it out"})
		}
	}
	repo, _ := options["repo"].(string)
	oci := strings.HasPrefix(chart, "oci://")
	switch at, err := url.Parse(repo); {
	case unknown(in["repositoryOpts"]), unknown(options["repo"]), chart == "":
	case oci && repo != "":
		add("repositoryOpts.repo", repo, "nothing, because the chart names its registry", "leave it out")
	case !oci && repo == "":
		add("repositoryOpts.repo", options["repo"], "the address of the repository, because no repository is set up where this runs", "set it, or name the chart oci://registry/path")
	case repo != "" && (err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http"):
		add("repositoryOpts.repo", repo, "an address that begins with https://", "")
	}
	return out
}

// releaseObject is the form in which a release is kept in its cluster.
func releaseObject(in map[string]any) map[string]any {
	metadata := map[string]any{"name": in["name"]}
	if in["namespace"] != nil {
		metadata["namespace"] = in["namespace"]
	}
	out := maps.Clone(in)
	out["apiVersion"], out["kind"], out["metadata"] = kube.ReleaseVersion, kube.ReleaseKind, metadata
	return out
}

// releaseOutputs is the way back, with the status of a release.
func releaseOutputs(body map[string]any) map[string]any {
	out := maps.Clone(body)
	for _, key := range []string{"apiVersion", "kind", "metadata"} {
		delete(out, key)
	}
	return out
}
