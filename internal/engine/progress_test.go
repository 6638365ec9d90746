package engine

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDisplayWithoutTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := newDisplay(&out, OpUp)
	d.step("urn:a", "create", false)
	d.step("urn:b", "same", true)
	assert.Empty(t, out.String(), "counts come in intervals")
	d.drawn = time.Now().Add(-plainEvery)
	d.step("urn:c", "create", true)
	assert.Equal(t, "up: 3 resources (2 create, 1 same), 1 running, 0s\n", out.String())
	out.Reset()
	d.diagnostic(Diagnostic{Severity: "warning", Message: "careful"})
	d.diagnostic(Diagnostic{URN: urnFirst, Severity: "error", Message: "409"})
	d.diagnostic(Diagnostic{URN: urnStack, Severity: "error", Message: "an unhandled error occurred: x"})
	d.violation(PolicyViolation{Pack: "p", Policy: "BAT-01", Enforcement: "mandatory", Message: "no"})
	d.end(&Result{Resources: []Resource{{URN: "urn:a", Op: "create"}}})
	assert.Equal(t, `warning: careful
error: first (fake:index:Thing): 409
policy p/BAT-01 (mandatory): the stack: no
up: 1 resources (1 create), 0s
`, out.String())
}

func TestDisplayOnTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := newDisplay(&out, OpPreview)
	d.tty = true
	d.drawn = time.Time{}
	d.step("urn:a", "create", false)
	assert.Equal(t, "\r\x1b[Kpreview: 1 resources (1 create), 0s", out.String())
	out.Reset()
	d.say("hello")
	assert.Equal(t, "\r\x1b[Khello\n", out.String(), "the moving line makes room")
}
