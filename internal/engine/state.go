package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
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

// clearPending takes the pending operations out of the state. An engine that finds them would
// only warn and carry them along.
func (l layout) clearPending() error {
	data, err := os.ReadFile(l.checkpoint())
	if err != nil {
		return err
	}
	// Raw messages keep everything else, numbers included, as it is.
	var file, checkpoint, latest map[string]json.RawMessage
	for _, step := range []struct {
		into *map[string]json.RawMessage
		from func() []byte
	}{
		{&file, func() []byte { return data }},
		{&checkpoint, func() []byte { return file["checkpoint"] }},
		{&latest, func() []byte { return checkpoint["latest"] }},
	} {
		if err := json.Unmarshal(step.from(), step.into); err != nil {
			return fmt.Errorf("state of stack %s: %w", l.stack, err)
		}
	}
	delete(latest, "pending_operations")
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
		return fmt.Errorf("clearing pending operations: %w", err)
	}
	return nil
}
