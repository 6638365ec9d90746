// Package results is the record of what policy packs judged: the lines that a
// pack writes while the engine runs, and the document that is made of them. It
// judges nothing. The engine's own events say what was enforced; they carry no
// reasons and no evidence, which is what these lines are for.
package results

// EnvDir names the environment variable with the directory that packs write to.
// Without it they write nothing.
const EnvDir = "ONEDOOR_RESULTS"

// State is the outcome of one rule for one resource.
type State string

// The states. NotChecked never counts as Pass. Waived is never written by a
// pack: the reader of the lines knows who was excused.
const (
	Pass          State = "pass"
	Fail          State = "fail"
	Waived        State = "waived"
	NotApplicable State = "not-applicable"
	NotChecked    State = "not-checked"
)

// Level is what a failure does.
type Level string

// The levels.
const (
	Advisory  Level = "advisory"  // it is reported
	Mandatory Level = "mandatory" // it stops the deployment
	Disabled  Level = "disabled"  // the rule does not run
)

// Evidence is what a judgement rests on. Values that must not be shown are
// replaced before they come here.
type Evidence struct {
	Path     string `json:"path,omitempty"` // of the property, as "sku.name"
	Value    string `json:"value,omitempty"`
	Expected string `json:"expected,omitempty"`
}

// Rule is what a line of kind pack says of a rule.
type Rule struct {
	ID       string   `json:"id"`
	Severity string   `json:"severity"`
	Level    Level    `json:"level"`
	Controls []string `json:"controls"`
}

// Pack says who judged.
type Pack struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"` // of the executable that ran
}

// Judgement is one rule's word on one resource.
type Judgement struct {
	Rule   string `json:"rule"`
	URN    string `json:"urn,omitempty"` // none: no resource of the kind is in the stack
	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"`
	Evidence
}

// The kinds of lines. A pack writes one line of kind pack, then judgements, and
// one of kind end when it has seen the whole stack.
const (
	kindPack      = "pack"
	kindJudgement = "judgement"
	kindEnd       = "end"
)

type line struct {
	Kind      string     `json:"kind"`
	Pack      *Pack      `json:"pack,omitempty"`
	Profile   string     `json:"profile,omitempty"`
	Rules     []Rule     `json:"rules,omitempty"`
	Judgement *Judgement `json:"judgement,omitempty"`
	Judged    int        `json:"judged,omitempty"` // lines of kind judgement before the end
}
