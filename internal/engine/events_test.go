package engine

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/stretchr/testify/assert"
)

// step is one event: an operation that begins, ends or fails; old and new say which states it carries.
type step struct {
	op       string
	old, new bool
	end      bool
	fails    bool
}

func (s step) event() apitype.EngineEvent {
	m := apitype.StepEventMetadata{Op: apitype.OpType(s.op), URN: urnFirst, Type: "fake:index:Thing"}
	if s.old {
		m.Old = &apitype.StepEventStateMetadata{Inputs: map[string]any{"name": "old"}}
	}
	if s.new {
		m.New = &apitype.StepEventStateMetadata{Inputs: map[string]any{"name": "new"}}
	}
	switch {
	case s.fails:
		return apitype.EngineEvent{ResOpFailedEvent: &apitype.ResOpFailedEvent{Metadata: m}}
	case s.end:
		return apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: m}}
	}
	return apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: m}}
}

func TestStepsOfOneResourceBecomeOneOperation(t *testing.T) {
	t.Parallel()
	for reason, test := range map[string]struct {
		during Operation
		steps  []step
		op     string
		name   string
	}{
		"created, replaced, old one deleted": {OpUp, []step{
			{op: "create-replacement", old: true, new: true}, {op: "create-replacement", old: true, new: true, end: true},
			{op: "replace", old: true, new: true}, {op: "delete-replaced", old: true}, {op: "delete-replaced", old: true, end: true},
		}, "replace", "new"},
		"deleted before it is replaced": {OpPreview, []step{
			{op: "delete-replaced", old: true}, {op: "replace", old: true, new: true}, {op: "create-replacement", old: true, new: true, end: true},
		}, "replace", "new"},
		"a replacement that fails is still one": {OpUp, []step{
			{op: "create-replacement", old: true, new: true}, {op: "create-replacement", old: true, new: true, fails: true},
		}, "replace", "new"},
		"the leftover of an earlier replacement is not the resource": {OpUp, []step{
			{op: "same", old: true, new: true, end: true}, {op: "delete", old: true}, {op: "delete", old: true, end: true},
		}, "same", "new"},
		"the leftover comes first": {OpUp, []step{
			{op: "delete", old: true, end: true}, {op: "create", new: true},
		}, "create", "new"},
		"same is not the end in a destroy": {OpDestroy, []step{
			{op: "same", old: true, new: true, end: true}, {op: "delete", old: true},
		}, "delete", "old"},
		"a refresh ends as what it found": {OpRefresh, []step{
			{op: "refresh", old: true, new: true}, {op: "delete", old: true, end: true},
		}, "delete", "old"},
		"removed": {OpPreview, []step{{op: "delete", old: true}}, "delete", "old"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			c := newCollector(test.during, newDisplay(nil, test.during), nil)
			for _, s := range test.steps {
				c.add(s.event())
			}
			res := c.result()
			if assert.Len(t, res.Resources, 1) {
				assert.Equal(t, test.op, res.Resources[0].Op)
				assert.Equal(t, test.name, res.Resources[0].Inputs["name"])
				assert.Equal(t, "first", res.Resources[0].Name)
			}
		})
	}
}

// TestWhatWasThereBeforeIsKept: a review needs the old inputs, and the properties
// that force a replacement, of all its steps.
func TestWhatWasThereBeforeIsKept(t *testing.T) {
	t.Parallel()
	old := &apitype.StepEventStateMetadata{Inputs: map[string]any{"name": "old"}}
	fresh := &apitype.StepEventStateMetadata{Inputs: map[string]any{"name": "new"}}
	for op, want := range map[string]Resource{
		"create": {}, "same": {},
		"update":             {Before: map[string]any{"name": "old"}},
		"create-replacement": {Before: map[string]any{"name": "old"}, Because: []string{"name", "zone"}},
	} {
		c := newCollector(OpPreview, newDisplay(nil, OpPreview), nil)
		m := apitype.StepEventMetadata{Op: apitype.OpType(op), URN: urnFirst, Type: "fake:index:Thing", New: fresh}
		if op != "create" {
			m.Old = old
		}
		if want.Because != nil {
			m.Keys = []string{"zone", "name"}
		}
		c.add(apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: m}})
		c.add(apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: m}})
		result := c.result()
		result.finish()
		got := result.Resources[0]
		assert.Equal(t, want.Before, got.Before, op)
		assert.Equal(t, want.Because, got.Because, op)
	}
}

func TestKindLeavesOutProviderAndVersion(t *testing.T) {
	t.Parallel()
	for typ, want := range map[string]string{
		"azure-native:containerservice/v20250701:AgentPool": "containerservice:AgentPool",
		"azure-native:containerservice:AgentPool":           "containerservice:AgentPool",
		"kubernetes:apps/v1:Deployment":                     "apps:Deployment",
		"random:index/randomPassword:RandomPassword":        "index:RandomPassword",
	} {
		assert.Equal(t, want, Resource{Type: typ}.Kind())
	}
}

// TestFollowEndsWithoutClose: the Automation API does not always close the channel.
func TestFollowEndsWithoutClose(t *testing.T) {
	t.Parallel()
	for name, closes := range map[string]bool{"open": false, "closed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(OpPreview, newDisplay(nil, OpPreview), nil)
			ch, wait := c.follow()
			ch <- events.EngineEvent{EngineEvent: step{op: "create", new: true}.event()}
			if closes {
				close(ch)
			}
			wait()
			assert.Len(t, c.result().Resources, 1)
		})
	}
}
