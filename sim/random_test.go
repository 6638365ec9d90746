package sim_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"onedoor/sim"
)

func randomEngine(t *testing.T) *engine {
	t.Helper()
	e := open(t)
	e.p = e.cloud.Providers()[sim.Random]
	return e
}

// Random values follow from URN and inputs, honour the options, and are unknown in a preview (A090).
func TestRandomValues(t *testing.T) {
	t.Parallel()
	e := randomEngine(t)
	for name, c := range map[string]struct {
		token string
		in    m
		out   resource.PropertyKey
		want  string
	}{
		"password":        {"random:index/randomPassword:RandomPassword", m{"length": 20.0}, "result", `^.{20}$`},
		"letters":         {"random:index/randomString:RandomString", m{"length": 8.0, "special": false, "numeric": false, "upper": false}, "result", `^[a-z]{8}$`},
		"old name":        {"random:index/randomString:RandomString", m{"length": 8.0, "special": false, "number": false, "upper": false}, "result", `^[a-z]{8}$`},
		"own special":     {"random:index/randomString:RandomString", m{"length": 8.0, "lower": false, "numeric": false, "upper": false, "overrideSpecial": "_"}, "result", `^_{8}$`},
		"digits at least": {"random:index/randomString:RandomString", m{"length": 4.0, "minNumeric": 4.0}, "result", `^[0-9]{4}$`},
		"uuid":            {"random:index/randomUuid:RandomUuid", m{}, "result", `^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`},
		"id":              {"random:index/randomId:RandomId", m{"byteLength": 4.0, "prefix": "p-"}, "hex", `^p-[0-9a-f]{8}$`},
		"pet":             {"random:index/randomPet:RandomPet", m{"length": 2.0, "prefix": "x"}, "id", `^x-[a-z]+-[a-z]+$`},
	} {
		preview, err := e.create(c.token, name, props(c.in), true)
		if err != nil {
			t.Fatal(err)
		}
		if v := preview.outputs[c.out]; c.out != "id" && !v.ContainsUnknowns() {
			t.Errorf("%s: %v in a preview, want unknown", name, v)
		}
		one, two, other := e.mustCreate(c.token, name, c.in), e.mustCreate(c.token, name, c.in), e.mustCreate(c.token, name+"2", c.in)
		value := func(r *made) string {
			if c.out == "id" {
				return r.id
			}
			v := r.outputs[c.out]
			if v.IsSecret() {
				v = v.SecretValue().Element
			}
			return v.StringValue()
		}
		if !regexp.MustCompile(c.want).MatchString(value(one)) || value(one) != value(two) {
			t.Errorf("%s: %q then %q, want a match of %s twice", name, value(one), value(two), c.want)
		}
		if name != "own special" && value(one) == value(other) {
			t.Errorf("%s: two resources share %q", name, value(one))
		}
		if secret := one.outputs["result"].IsSecret(); secret != strings.Contains(c.token, "Password") {
			t.Errorf("%s: secret %v", name, secret)
		}
		changed := props(with(one.in.Mappable(), m{"keepers": m{"a": "b"}}))
		d := e.diff(one, changed)
		if d.GetChanges() != pulumirpc.DiffResponse_DIFF_SOME || len(d.GetReplaces()) != 1 {
			t.Errorf("%s: new keepers: %v, want a replacement", name, d)
		}
		if d := e.diff(one, changed, "keepers"); d.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
			t.Errorf("%s: ignored keepers: %v", name, d)
		}
		if kept := e.mustCreate(c.token, name, with(c.in, m{"keepers": m{"a": "b"}})); name != "own special" && value(kept) == value(one) {
			t.Errorf("%s: new keepers give the same value", name)
		}
		if read := e.read(one); read.id != one.id || one.outputs.Diff(read.outputs) != nil {
			t.Errorf("%s: read differs", name)
		}
		if err := e.delete(one); err != nil {
			t.Errorf("%s: delete: %v", name, err)
		}
	}
	n := e.mustCreate("random:index/randomInteger:RandomInteger", "n", m{"min": 3.0, "max": 4.0}).outputs["result"].NumberValue()
	if n != 3 && n != 4 {
		t.Errorf("integer %v, want 3 or 4", n)
	}
}

func TestRandomCheckRefuses(t *testing.T) {
	t.Parallel()
	e := randomEngine(t)
	for name, in := range map[string]m{"no length": {}, "too short": {"length": 2.0, "minLower": 3.0}, "zero": {"length": 0.0}, "unknown": {"length": 3.0, "lenght": 4.0}} {
		if _, failures := e.check("random:index/randomPassword:RandomPassword", "x", props(in)); len(failures) != 1 {
			t.Errorf("%s: %v, want one failure", name, failures)
		}
	}
	if _, err := e.p.Check(context.Background(), &pulumirpc.CheckRequest{Urn: urn("random:index/randomBytes:RandomBytes", "x")}); err == nil || !strings.Contains(err.Error(), "RandomPassword") {
		t.Errorf("unknown type: %v", err)
	}
}
