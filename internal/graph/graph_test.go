package graph

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/reach"
)

// stacks are those whose recorded plans the tests draw.
var stacks = []string{"dev", "prod", "existing"}

// plan reads the recorded plan of a stack, with texts replaced.
func recorded(t *testing.T, stack string, replace ...string) []reach.Resource {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "tests", "testdata", stack+".preview.json"))
	require.NoError(t, err)
	for i := 0; i < len(replace); i += 2 {
		require.Contains(t, string(raw), replace[i])
	}
	var record struct{ Resources []reach.Resource }
	require.NoError(t, json.Unmarshal([]byte(strings.NewReplacer(replace...).Replace(string(raw))), &record))
	return record.Resources
}

// without is a plan without what components of the kinds declare.
func without(resources []reach.Resource, components ...string) []reach.Resource {
	return slices.DeleteFunc(slices.Clone(resources), func(r reach.Resource) bool {
		return slices.ContainsFunc(components, func(c string) bool { return strings.Contains(r.URN, "::onedoor:"+c) })
	})
}

func svg(t *testing.T, draw func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, draw(&b))
	return b.String()
}

func ids(boxes []Box) []ID {
	var out []ID
	for _, b := range boxes {
		out = append(out, b.ID)
	}
	return out
}

// between are the numbers of the flows from one box to another.
func (g Graph) between(from, to ID) []int {
	var out []int
	for _, f := range g.Flows {
		if f.From == from && f.To == to {
			out = append(out, f.Number)
		}
	}
	return out
}

func TestWhatAPlanHasIsDrawn(t *testing.T) {
	t.Parallel()
	prod, dev := Of("prod", recorded(t, "prod")), Of("dev", recorded(t, "dev"))
	all := []ID{Callers, Gateway, ControlPlane, Queues, Workers, Edge, Accounts, Servers, BatchAccount}
	assert.Equal(t, all, ids(prod.Boxes))
	assert.True(t, prod.OK)

	assert.Equal(t, []int{32}, prod.between(Callers, Gateway), "prod: from peered networks")
	assert.Equal(t, []int{50}, prod.between(Callers, ControlPlane))
	assert.Equal(t, []int{4}, prod.between(Workers, Gateway))
	assert.Equal(t, []int{33}, dev.between(Callers, Gateway), "dev: from the internet")
	assert.Empty(t, dev.between(Callers, ControlPlane), "dev has no peer, and the control plane no public address")
	assert.Equal(t, []int{73}, dev.between(Workers, Gateway), "dev: the gateway is on the internet")
	for _, g := range []Graph{prod, dev} {
		assert.Equal(t, []int{6}, g.between(ControlPlane, BatchAccount))
		assert.Equal(t, []int{30}, g.between(Gateway, Accounts))
		for _, f := range g.Flows {
			assert.Equal(t, Connects, f.State, f.Number)
		}
	}
	batch := prod.box(BatchAccount)
	assert.Equal(t, "from batch control plane alone, closed to 11 others", batch.Proof)

	small := Of("small", without(recorded(t, "prod"), "serving", "edge", "workers"))
	assert.Equal(t, []ID{Callers, Gateway, ControlPlane, Queues, Accounts, BatchAccount}, ids(small.Boxes))
	for _, f := range small.Flows {
		assert.NotContains(t, []ID{f.From, f.To}, Servers)
	}
	assert.NotContains(t, svg(t, small.SVG), "Model servers")
}

// A flow for which the picture has no line would be missed in silence.
func TestEveryFlowHasALine(t *testing.T) {
	t.Parallel()
	for _, stack := range stacks {
		for _, f := range Of(stack, recorded(t, stack)).Flows {
			assert.True(t, slices.ContainsFunc(arrows, func(a arrow) bool { return a.from == f.From && a.to == f.To }), "%s: flow %d from %s to %s", stack, f.Number, f.From, f.To)
		}
	}
}

func TestTheSamePlanGivesTheSamePicture(t *testing.T) {
	t.Parallel()
	resources := recorded(t, "prod")
	turned := slices.Clone(resources)
	slices.Reverse(turned)
	a, b := Of("prod", resources), Of("prod", turned)
	assert.Equal(t, svg(t, a.SVG), svg(t, b.SVG))
	assert.Equal(t, svg(t, a.NarrowSVG), svg(t, b.NarrowSVG))
	assert.Equal(t, svg(t, a.HTML), svg(t, b.HTML))
}

// A picture is read without a network, and by whoever does not see it.
func TestPicturesNeedNothingElse(t *testing.T) {
	t.Parallel()
	g := Of("prod", recorded(t, "prod"))
	for name, text := range map[string]string{"wide": svg(t, g.SVG), "narrow": svg(t, g.NarrowSVG)} {
		decoder := xml.NewDecoder(strings.NewReader(text))
		for {
			_, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
		}
		assert.Contains(t, text, `aria-label="The platform of stack prod: tenants reach model accounts, model servers, batch account through gateway, control plane, serving edge alone."`)
		selfContained(t, strings.Replace(text, ` xmlns="http://www.w3.org/2000/svg"`, "", 1))
	}
	page := svg(t, g.HTML)
	selfContained(t, page)
	assert.Contains(t, page, "prefers-color-scheme:dark")
	assert.Equal(t, 2, strings.Count(page, "<svg"), "one for each width")
	assert.Contains(t, page, "<td>the control plane submits batch jobs; nobody else does</td>")
}

func selfContained(t *testing.T, text string) {
	t.Helper()
	for _, fetched := range []string{"<script", "http://", "https://", "src=", "href=", "@import", "url("} {
		assert.NotContains(t, text, fetched)
	}
}

// Boxes lie within the picture and apart, and their text within them.
func TestNothingOverlaps(t *testing.T) {
	t.Parallel()
	for _, stack := range stacks {
		for name, f := range map[string]frame{"wide": wide, "narrow": narrow} {
			g := Of(stack, recorded(t, stack))
			l := f.place(g.Boxes, 80)
			for i, b := range g.Boxes {
				a := l.boxes[b.ID]
				x0, _ := l.xy(point{a.along.from, a.across.from})
				x1, _ := l.xy(point{a.along.to, a.across.to})
				assert.GreaterOrEqual(t, x0, f.margin-1, "%s %s %s", stack, name, b.ID)
				assert.LessOrEqual(t, x1, f.width-f.margin+1, "%s %s %s", stack, name, b.ID)
				_, y0 := l.xy(point{a.along.from, a.across.from})
				_, y1 := l.xy(point{a.along.to, a.across.to})
				assert.GreaterOrEqual(t, y1-y0+0.01, l.texts[b.ID].height+2*f.pad, "%s %s: %s is too low for its text", stack, name, b.ID)
				for _, line := range slices.Concat(l.texts[b.ID].facts...) {
					assert.LessOrEqual(t, float64(len(line))*f.text*regular, x1-x0-2*f.pad+0.01, "%s %s %s: %q", stack, name, b.ID, line)
				}
				for _, other := range g.Boxes[i+1:] {
					o := l.boxes[other.ID]
					assert.False(t, meet(a.along, o.along) && meet(a.across, o.across), "%s %s: %s and %s", stack, name, b.ID, other.ID)
				}
			}
		}
	}
}

func meet(a, b span) bool { return a.from < b.to && b.from < a.to }

// What a plan lacks is seen: a required flow that something holds back, and a way to a
// model that is no door.
func TestWhatIsWrongIsSeen(t *testing.T) {
	t.Parallel()
	held := Of("prod", recorded(t, "prod", `"name": "out-f06-batch-account"`, `"name": "turned", "direction": "Inbound"`))
	assert.False(t, held.OK)
	state := FlowState("")
	for _, f := range held.Flows {
		if f.Number == 6 {
			state = f.State
		}
	}
	assert.Equal(t, Blocked, state)
	for _, picture := range []string{svg(t, held.SVG), svg(t, held.NarrowSVG)} {
		assert.Contains(t, picture, `<g class="flow blocked">`)
		assert.Contains(t, picture, "HELD BACK")
		assert.Contains(t, picture, "THE PLAN IS NOT")
	}
	assert.Contains(t, svg(t, held.HTML), `<li class="bad">missing: flow 6`)
	whole := svg(t, Of("prod", recorded(t, "prod")).SVG)
	assert.NotContains(t, whole, `<g class="flow blocked">`)
	assert.NotContains(t, whole, "THE PLAN IS NOT")

	open := Of("prod", recorded(t, "prod", `"publicNetworkAccess": "Disabled"`, `"publicNetworkAccess": "Enabled"`, `"defaultAction": "Deny"`, `"defaultAction": "Allow"`))
	batch := open.box(BatchAccount)
	assert.False(t, open.OK)
	assert.Contains(t, batch.Proof, "internet", "who gets there besides the control plane is named")
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"Short":  {"one two", []string{"one two"}},
		"Words":  {"one two three four", []string{"one two", "three four"}},
		"Hyphen": {"text-embedding-large", []string{"text-", "embedding-", "large"}},
		"Long":   {"abcdefghijklmnop", []string{"abcdefghij", "klmnop"}},
		"None":   {"", nil},
	} {
		assert.Equal(t, c.want, wrap(c.text, 10, 1), name)
	}
}
