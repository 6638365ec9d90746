package sim

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"onedoor/internal/armtypes"
)

// randomProvider speaks for the package random. Its values look random and are
// not: they follow from URN and inputs, so that two runs agree (A090). They must
// never guard anything.
type randomProvider struct{ base }

// randomType is one resource of the package.
type randomType struct {
	inputs map[string]any // the inputs with their defaults; nil has none
	make   func(d *dice, in map[string]any) (id string, outputs map[string]any)
	secret []string // outputs that are secret
}

var chars = map[string]any{
	"length": nil, "keepers": nil, "overrideSpecial": nil, "lower": true, "upper": true, "number": true, "numeric": true, "special": true,
	"minLower": 0.0, "minUpper": 0.0, "minNumeric": 0.0, "minSpecial": 0.0,
}

var randomTypes = map[string]*randomType{
	"random:index/randomPassword:RandomPassword": {inputs: chars, secret: []string{"result"}, make: func(d *dice, in map[string]any) (string, map[string]any) {
		return "none", map[string]any{"result": d.text(in)}
	}},
	"random:index/randomString:RandomString": {inputs: chars, make: func(d *dice, in map[string]any) (string, map[string]any) {
		text := d.text(in)
		return text, map[string]any{"result": text}
	}},
	"random:index/randomUuid:RandomUuid": {inputs: map[string]any{"keepers": nil}, make: func(d *dice, _ map[string]any) (string, map[string]any) {
		id := uuid.NewSHA1(uuid.NameSpaceURL, d.seed[:]).String()
		return id, map[string]any{"result": id}
	}},
	"random:index/randomInteger:RandomInteger": {inputs: map[string]any{"keepers": nil, "min": nil, "max": nil, "seed": nil}, make: func(d *dice, in map[string]any) (string, map[string]any) {
		low, high := whole(in["min"]), whole(in["max"])
		n := low
		if high > low {
			n += d.below(high - low + 1)
		}
		return strconv.Itoa(n), map[string]any{"result": float64(n)}
	}},
	"random:index/randomId:RandomId": {inputs: map[string]any{"keepers": nil, "byteLength": nil, "prefix": nil}, make: func(d *dice, in map[string]any) (string, map[string]any) {
		b := make([]byte, whole(in["byteLength"]))
		for i := range b {
			b[i] = byte(d.below(256))
		}
		prefix, _ := in["prefix"].(string)
		id := base64.RawURLEncoding.EncodeToString(b)
		return id, map[string]any{
			"b64Url": prefix + id, "b64Std": prefix + base64.StdEncoding.EncodeToString(b),
			"hex": prefix + hex.EncodeToString(b), "dec": prefix + new(big.Int).SetBytes(b).String(),
		}
	}},
	"random:index/randomPet:RandomPet": {inputs: map[string]any{"keepers": nil, "length": 2.0, "prefix": nil, "separator": "-"}, make: func(d *dice, in map[string]any) (string, map[string]any) {
		var words []string
		if prefix, _ := in["prefix"].(string); prefix != "" {
			words = append(words, prefix)
		}
		for range whole(in["length"]) {
			words = append(words, petWords[d.below(len(petWords))])
		}
		separator, _ := in["separator"].(string)
		return strings.Join(words, separator), map[string]any{}
	}},
}

var petWords = strings.Fields("able bold calm deft eager fair glad keen kind lucid merry neat proud quick ready sound tidy vivid warm wise badger crane dingo egret finch gecko heron ibis koala lemur marten newt otter puffin quail raven seal tern vole wren")

// dice is a stream of numbers that follows from its seed.
type dice struct {
	seed [sha256.Size]byte
	n    uint64
}

// below returns a number in 0..n-1.
func (d *dice) below(n int) int {
	d.n++
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(d.seed[:], d.n))
	return int(binary.BigEndian.Uint64(sum[:]) % uint64(n))
}

// text makes a string of the classes that are on, each at least its minimum.
func (d *dice) text(in map[string]any) string {
	special := "!@#$%&*()-_=+[]{}<>:?"
	if s, _ := in["overrideSpecial"].(string); s != "" {
		special = s
	}
	numeric := in["numeric"] == true && in["number"] == true
	var all, out []byte
	for _, class := range []struct {
		on    bool
		least any
		chars string
	}{
		{in["lower"] == true, in["minLower"], "abcdefghijklmnopqrstuvwxyz"},
		{in["upper"] == true, in["minUpper"], "ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
		{numeric, in["minNumeric"], "0123456789"},
		{in["special"] == true, in["minSpecial"], special},
	} {
		if class.on {
			all = append(all, class.chars...)
		}
		for range whole(class.least) {
			out = append(out, class.chars[d.below(len(class.chars))])
		}
	}
	for len(all) > 0 && len(out) < whole(in["length"]) {
		out = append(out, all[d.below(len(all))])
	}
	for i := len(out) - 1; i > 0; i-- {
		j := d.below(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

func whole(v any) int {
	n, _ := v.(float64)
	return int(n)
}

func (p *randomProvider) typeOf(urn string) (*randomType, error) {
	token := string(resource.URN(urn).Type())
	t, ok := randomTypes[token]
	if !ok {
		return nil, status.Errorf(codes.InvalidArgument, "resource type: got %q, want one of %s; fix: use one of them", token, strings.Join(slices.Sorted(maps.Keys(randomTypes)), ", "))
	}
	return t, nil
}

// Check fills in defaults and refuses what is unknown by name.
func (p *randomProvider) Check(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	t, err := p.typeOf(req.GetUrn())
	if err != nil {
		return nil, err
	}
	news, err := unmarshal(req.GetNews(), "random.check")
	if err != nil {
		return nil, err
	}
	var failures []*pulumirpc.CheckFailure
	fail := func(property, format string, args ...any) {
		failures = append(failures, &pulumirpc.CheckFailure{Property: property, Reason: fmt.Sprintf(format, args...)})
	}
	inputs := plain(news)
	for _, key := range slices.Sorted(maps.Keys(inputs)) {
		if _, ok := t.inputs[key]; !ok {
			fail(key, "%s: unknown property, want one of %s", key, strings.Join(slices.Sorted(maps.Keys(t.inputs)), ", "))
		}
	}
	for key, v := range t.inputs {
		if _, has := inputs[key]; !has && v != nil {
			news[resource.PropertyKey(key)] = resource.NewPropertyValue(v)
			inputs[key] = v
		}
	}
	// number is the old name of numeric; whichever is off turns both off.
	for _, required := range []string{"length", "byteLength", "min", "max"} {
		if _, takes := t.inputs[required]; takes && inputs[required] == nil {
			fail(required, "%s: missing, want a whole number", required)
		}
	}
	if _, unknown := inputs["length"].(armtypes.Unknown); !unknown && inputs["lower"] != nil {
		least := whole(inputs["minLower"]) + whole(inputs["minUpper"]) + whole(inputs["minNumeric"]) + whole(inputs["minSpecial"])
		if n := whole(inputs["length"]); inputs["length"] != nil && n < max(1, least) {
			fail("length", "length: got %d, want at least %d, the sum of the minima and at least 1", n, max(1, least))
		}
	}
	checked, err := marshal(news, "random.check")
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CheckResponse{Inputs: checked, Failures: failures}, nil
}

// Diff replaces on any change: every input is part of the value.
func (p *randomProvider) Diff(_ context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	olds, err := unmarshal(req.GetOldInputs(), "random.diff")
	if err != nil {
		return nil, err
	}
	news, err := unmarshal(req.GetNews(), "random.diff")
	if err != nil {
		return nil, err
	}
	d := differ{replaces: slices.Collect(maps.Keys(plain(news))), out: map[string]*pulumirpc.PropertyDiff{}}
	for k := range plain(olds) {
		d.replaces = append(d.replaces, k)
	}
	d.object(plain(olds), plain(news), "", false)
	out := &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE, HasDetailedDiff: true, DetailedDiff: d.out}
	for path := range d.out {
		if slices.ContainsFunc(req.GetIgnoreChanges(), func(i string) bool { return within(path, i) }) {
			delete(d.out, path)
			continue
		}
		out.Changes = pulumirpc.DiffResponse_DIFF_SOME
		out.Diffs = append(out.Diffs, top(path))
	}
	slices.Sort(out.Diffs)
	out.Diffs = slices.Compact(out.Diffs)
	out.Replaces = out.Diffs
	return out, nil
}

// Create makes the value; in a preview it is unknown, as in real life.
func (p *randomProvider) Create(_ context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	t, err := p.typeOf(req.GetUrn())
	if err != nil {
		return nil, err
	}
	inputs, err := unmarshal(req.GetProperties(), "random.create")
	if err != nil {
		return nil, err
	}
	seed, err := json.Marshal(plain(inputs))
	if err != nil {
		return nil, err
	}
	d := &dice{seed: sha256.Sum256(append([]byte(req.GetUrn()+"\x00"), seed...))}
	var id string
	var values map[string]any
	if req.GetPreview() {
		_, values = t.make(&dice{}, map[string]any{})
		for key := range values {
			values[key] = armtypes.Unknown{}
		}
	} else {
		id, values = t.make(d, plain(inputs))
	}
	out := inputs.Copy()
	for key, v := range values {
		out[resource.PropertyKey(key)] = propertyValue(v)
	}
	for _, key := range t.secret {
		out[resource.PropertyKey(key)] = resource.MakeSecret(out[resource.PropertyKey(key)])
	}
	props, err := marshal(out, "random.create")
	return &pulumirpc.CreateResponse{Id: id, Properties: props}, err
}

// Read answers what the engine has: nothing else knows the value.
func (p *randomProvider) Read(_ context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	return &pulumirpc.ReadResponse{Id: req.GetId(), Properties: req.GetProperties(), Inputs: req.GetInputs()}, nil
}

// Delete has nothing to delete.
func (p *randomProvider) Delete(context.Context, *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}
