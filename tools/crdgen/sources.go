package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
)

// source is one file of schemas and where it comes from.
type source struct {
	name    string
	modules []module
	licence string
	note    string

	// core sources are Kubernetes itself; the others are custom resource
	// definitions, in these files of the first module.
	core  bool
	files []string
	// group, if set, replaces the group of the definitions.
	group string
}

// module is a Go module that holds schemas. It is fetched and read, never built.
type module struct {
	path, version string
	sum           string // as in go.sum: what was read is what will be read
}

var sources = []source{
	{
		name: "kubernetes", core: true, licence: "Apache-2.0",
		note: "built-in kinds; values of enumerations from the constants of k8s.io/api",
		modules: []module{
			{"k8s.io/kubernetes", "v1.34.2", "h1:WQdDvYJazkmkwSncgNwGvVtaCt4TYXIU3wSMRgvp3MI="},
			{"k8s.io/api", "v0.34.2", "h1:fsSUNZhV+bnL6Aqrp6O7lMTy6o5x2C4XLjnh//8SLYY="},
		},
	},
	{
		name: "keda", licence: "Apache-2.0", note: "AKS's add-on brings an older one of the same API version",
		modules: []module{{"github.com/kedacore/keda/v2", "v2.21.0", "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps="}},
		files: []string{
			"config/crd/bases/keda.sh_clustertriggerauthentications.yaml",
			"config/crd/bases/keda.sh_scaledjobs.yaml",
			"config/crd/bases/keda.sh_scaledobjects.yaml",
			"config/crd/bases/keda.sh_triggerauthentications.yaml",
		},
	},
	{
		name: "kuberay", licence: "Apache-2.0", note: "the version ray.io/v1 of each",
		modules: []module{{"github.com/ray-project/kuberay/ray-operator", "v1.5.0", "h1:KCjCQ7PSsvs9Ke+90CZbbs498nuaIJ/JkXk4vd54EVg="}},
		files: []string{
			"config/crd/bases/ray.io_rayclusters.yaml",
			"config/crd/bases/ray.io_rayjobs.yaml",
			"config/crd/bases/ray.io_rayservices.yaml",
		},
	},
	{
		name: "cilium", licence: "Apache-2.0", note: "network policies alone",
		modules: []module{{"github.com/cilium/cilium", "v1.18.4", "h1:/HrbeMmk46UDkJs4uJemIqxB7wuZ+QRMNVscNYua5C8="}},
		files: []string{
			"pkg/k8s/apis/cilium.io/client/crds/v2/ciliumclusterwidenetworkpolicies.yaml",
			"pkg/k8s/apis/cilium.io/client/crds/v2/ciliumnetworkpolicies.yaml",
		},
	},
	{
		name: "secretsstore", licence: "Apache-2.0", note: "parameters are strings that only the provider reads",
		modules: []module{{"sigs.k8s.io/secrets-store-csi-driver", "v1.5.3", "h1:SBsYaGmuQN9EIHwi32gaf0k94hyjjeaQ5eWeyqC0lWQ="}},
		files:   []string{"config/crd/bases/secrets-store.csi.x-k8s.io_secretproviderclasses.yaml"},
	},
	{
		name: "azmonitoring", licence: "Apache-2.0", group: "azmonitoring.coreos.com",
		note:    "Azure Monitor's copies are published nowhere: these are the originals of monitoring.coreos.com under its group, https://learn.microsoft.com/azure/azure-monitor/containers/prometheus-metrics-scrape-crd",
		modules: []module{{"github.com/prometheus-operator/prometheus-operator", "v0.85.0", "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s="}},
		files: []string{
			"example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
			"example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
		},
	},
}

// document is what one file of schemas holds.
type document struct {
	Kinds map[string]kind // by "apps/v1/Deployment", "v1/Namespace"
	Defs  map[string]any  // JSON Schema's $defs
}

// kind is one kind of objects.
type kind struct {
	Namespaced bool   `json:"namespaced,omitempty"`
	Plural     string `json:"plural"`
	Schema     any    `json:"schema"`
}

func (s source) document() (*document, error) {
	dirs := make([]string, len(s.modules))
	for i, m := range s.modules {
		var err error
		if dirs[i], err = m.fetch(); err != nil {
			return nil, err
		}
	}
	if s.core {
		return builtin(dirs[0], dirs[1])
	}
	return custom(dirs[0], s.files, s.group)
}

// fetch returns the folder of the module in Go's module cache.
func (m module) fetch() (string, error) {
	command := exec.Command("go", "mod", "download", "-json", m.path+"@"+m.version)
	text, err := command.Output()
	var answer struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(text, &answer); jsonErr != nil {
		return "", errors.Join(err, jsonErr)
	}
	switch {
	case answer.Error != "":
		return "", errors.New(answer.Error)
	case err != nil:
		return "", err
	case answer.Sum != m.sum:
		return "", fmt.Errorf("module %s %s: got checksum %s, want %s; fix: find out why a published version changed", m.path, m.version, answer.Sum, m.sum)
	}
	return answer.Dir, nil
}
