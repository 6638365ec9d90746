package stacks

// Registry is the root key "registry": where images and charts come from.
type Registry struct {
	ID      string `json:"id"`      // ARM id of an existing registry; "" makes one
	Private bool   `json:"private"` // reachable through the network alone; takes the Premium tier
}

var defaultRegistry = Registry{}

const registryType = "Microsoft.ContainerRegistry/registries"

func (r *Registry) check(report *problems) {
	if r.ID != "" {
		checkID(report, "registry.id", r.ID, registryType)
	}
}
