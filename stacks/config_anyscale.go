package stacks

import (
	"regexp"
	"slices"
	"strings"
)

// Anyscale is a cloud of Anyscale on this cluster.
type Anyscale struct {
	Registration string `json:"registration"` // id of the cloud resource, as in "cldrsrc_abc123", which registering it prints
}

// registration is the form of the id.
var registration = regexp.MustCompile(`^cldrsrc_[A-Za-z0-9]+$`)

func (a Anyscale) check(report *problems, engine ServingEngine) {
	if a.Registration != "" && !registration.MatchString(a.Registration) {
		report.bad("serving.anyscale.registration", a.Registration, "the id of the cloud resource, cldrsrc_ and letters and digits; leave it out until the cloud is registered", "")
	}
	if a.Registration != "" && engine != EngineAnyscale {
		report.bad("serving.anyscale.registration", a.Registration, "nothing with engine "+string(engine), "")
	}
}

// anyscaleRegions are where the control plane of Anyscale on Azure is.
// https://github.com/MicrosoftDocs/anyscale-on-azure-docs (2026-07-01)
var anyscaleRegions = []string{"eastus", "eastus2", "southcentralus", "westcentralus", "westus2", "westus3"}

// warnOfAnyscale says what this stack cannot do for a cloud of Anyscale.
func (c *Config) warnOfAnyscale() {
	const key = "serving.engine"
	c.warn(key, "anyscale is a public preview without an SLA, and its services are no hops of the gateway: who calls them goes past its limits and its meter")
	if !slices.Contains(anyscaleRegions, c.Base.Location) {
		c.warn(key, "the control plane of Anyscale on Azure is not in %s but in %s", c.Base.Location, strings.Join(anyscaleRegions, ", "))
	}
	c.warn(key, "by hand, once in the tenant: az ad sp create --id 086bc555-6989-4362-ba30-fded273e432b")
	if c.Serving.Anyscale.Registration == "" {
		c.warn(key, "by hand, after this update: register the cloud (anyscale cloud register --provider Azure) with the container anyscale-operator and the identity of model servers, and write the id that it prints into serving.anyscale.registration; the operator comes with the next update")
	}
}
