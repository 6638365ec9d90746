package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// PendingOperation is what the state says was under way when an engine was killed.
type PendingOperation struct {
	URN string
	// Type is the resource's type token.
	Type string
	// Kind is creating, updating, deleting, reading or importing.
	Kind string
	// ID is the resource's id; empty while it was being created.
	ID string
	// Inputs are plain; see Secret.
	Inputs map[string]any
}

// state is what this package reads of a checkpoint.
type state struct {
	Resources []stateResource `json:"resources"`
	Pending   []struct {
		Resource stateResource `json:"resource"`
		Type     string        `json:"type"`
	} `json:"pending_operations"`
}

type stateResource struct {
	URN                  string              `json:"urn"`
	Type                 string              `json:"type"`
	ID                   string              `json:"id"`
	Parent               string              `json:"parent"`
	Provider             string              `json:"provider"`
	Protect              bool                `json:"protect"`
	Delete               bool                `json:"delete"`
	External             bool                `json:"external"`
	InitErrors           []string            `json:"initErrors"`
	Inputs               map[string]any      `json:"inputs"`
	Outputs              map[string]any      `json:"outputs"`
	Dependencies         []string            `json:"dependencies"`
	PropertyDependencies map[string][]string `json:"propertyDependencies"`
}

// readState reads the stack's checkpoint: what `pulumi stack export` prints, without a process.
func (l layout) readState() (state, error) {
	data, err := os.ReadFile(l.checkpoint())
	if err != nil {
		return state{}, fmt.Errorf("state of stack %s: %w", l.stack, err)
	}
	var file struct {
		Version    int `json:"version"`
		Checkpoint struct {
			Latest *state `json:"latest"`
		} `json:"checkpoint"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return state{}, fmt.Errorf("state of stack %s: %s: %w; the file beside it that ends in .bak is the state before", l.stack, l.checkpoint(), err)
	}
	if file.Checkpoint.Latest == nil {
		return state{}, nil
	}
	return *file.Checkpoint.Latest, nil
}

// live indexes the resources by URN, without those that only wait for their deletion.
func (s state) live() map[string]stateResource {
	out := make(map[string]stateResource, len(s.Resources))
	for _, r := range s.Resources {
		if !r.Delete {
			out[r.URN] = r
		}
	}
	return out
}

// ResourceIDs are the ids of the provider's resources that the stack's state knows, sorted;
// none when nothing was ever made.
func (r *Run) ResourceIDs() ([]string, error) {
	l, err := r.layout()
	if err != nil {
		return nil, setup(err)
	}
	known, err := l.readState()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, resource := range known.Resources {
		if resource.ID != "" && resource.Provider != "" {
			ids = append(ids, resource.ID)
		}
	}
	return sorted(ids), nil
}

// protected lists the resources that must not be deleted.
func (s state) protected() []string {
	var urns []string
	for _, r := range s.Resources {
		if r.Protect {
			urns = append(urns, r.URN)
		}
	}
	return sorted(urns)
}

// pending lists what was under way when an engine was killed.
func (s state) pending() []PendingOperation {
	out := make([]PendingOperation, len(s.Pending))
	for i, p := range s.Pending {
		out[i] = PendingOperation{URN: p.Resource.URN, Type: p.Resource.Type, Kind: p.Type, ID: p.Resource.ID, Inputs: plainMap(p.Resource.Inputs)}
	}
	return out
}

// killedCreate is the init error of a create that was under way when its engine was killed and
// that came to something: a resource with init errors is written by the next update.
const killedCreate = "the run that created it was killed before it had ended"

// unsettled lists the resources whose last write did not come to its end.
func (r *Run) unsettled() ([]string, error) {
	l, err := r.layout()
	if err != nil {
		return nil, err
	}
	st, err := l.readState()
	if err != nil {
		return nil, err
	}
	var urns []string
	for _, res := range st.Resources {
		if len(res.InitErrors) > 0 {
			urns = append(urns, res.URN)
		}
	}
	return urns, nil
}

// settlePending takes the pending operations out of the state, and those creates into it that
// landed: their ids by URN. An engine that finds pending operations only warns and carries the
// creates along; `pulumi refresh --import-pending-creates` of 3.276 drops them.
func (l layout) settlePending(landed map[string]string) error {
	data, err := os.ReadFile(l.checkpoint())
	if err != nil {
		return err
	}
	// Raw messages keep everything else, numbers included, as it is.
	var file, checkpoint, latest map[string]json.RawMessage
	var resources []json.RawMessage
	var pending []struct {
		Resource map[string]json.RawMessage `json:"resource"`
	}
	for _, step := range []struct {
		into any
		from func() []byte
	}{
		{&file, func() []byte { return data }},
		{&checkpoint, func() []byte { return file["checkpoint"] }},
		{&latest, func() []byte { return checkpoint["latest"] }},
		{&resources, func() []byte { return latest["resources"] }},
		{&pending, func() []byte { return latest["pending_operations"] }},
	} {
		if err := json.Unmarshal(step.from(), step.into); err != nil {
			return fmt.Errorf("state of stack %s: %w", l.stack, err)
		}
	}
	for _, p := range pending {
		if resources, err = adopt(resources, p.Resource, landed); err != nil {
			return fmt.Errorf("state of stack %s: %w", l.stack, err)
		}
	}
	delete(latest, "pending_operations")
	if latest["resources"], err = json.Marshal(resources); err != nil {
		return err
	}
	if checkpoint["latest"], err = json.Marshal(latest); err != nil {
		return err
	}
	if file["checkpoint"], err = json.Marshal(checkpoint); err != nil {
		return err
	}
	if data, err = json.Marshal(file); err != nil {
		return err
	}
	if err := writeFile(l.checkpoint(), data); err != nil {
		return fmt.Errorf("settling pending operations: %w", err)
	}
	return nil
}

// adopt adds a pending resource that landed. One that the state has already was being
// replaced, its predecessor is gone: it keeps its place, since others may come after it.
func adopt(resources []json.RawMessage, made map[string]json.RawMessage, landed map[string]string) ([]json.RawMessage, error) {
	var urn string
	if err := json.Unmarshal(made["urn"], &urn); err != nil {
		return nil, err
	}
	if landed[urn] == "" {
		return resources, nil
	}
	var err error
	if made["id"], err = json.Marshal(landed[urn]); err != nil {
		return nil, err
	}
	if made["initErrors"], err = json.Marshal([]string{killedCreate}); err != nil {
		return nil, err
	}
	at := len(resources)
	for i, raw := range resources {
		var old map[string]json.RawMessage
		if err := json.Unmarshal(raw, &old); err != nil {
			return nil, err
		}
		if string(old["urn"]) == string(made["urn"]) && string(old["delete"]) != "true" {
			delete(old, "pendingReplacement")
			old["id"], old["inputs"], old["initErrors"] = made["id"], made["inputs"], made["initErrors"]
			at, made = i, old
			break
		}
	}
	raw, err := json.Marshal(made)
	if err != nil {
		return nil, err
	}
	return append(append(slices.Clone(resources[:at]), raw), resources[min(at+1, len(resources)):]...), nil
}
