package openai

// Filter says how strict the content filter of a deployment is. None is weaker
// than the one that Azure applies by itself.
type Filter string

// The filters. Each is a policy of that name in every account that uses it.
const (
	Standard Filter = "standard" // blocks from medium severity on, as Azure's own
	Strict   Filter = "strict"   // blocks from low severity on, and protected code too
)

// FilterNames are the names of all filters.
var FilterNames = []Filter{Standard, Strict}

// BasePolicy is Azure's own filter, which the others are made from.
// https://learn.microsoft.com/azure/ai-foundry/openai/concepts/default-safety-policies
const BasePolicy = "Microsoft.DefaultV2"

// Rule is one rule of a content filter.
type Rule struct {
	Name      string // category
	Source    string // Prompt or Completion
	Threshold string // severity from which content is filtered, Low to High; "" where the category knows none
	Blocking  bool   // else the answer only says what was found
}

// Rules are the rules of the filter, in the order in which Azure answers them:
// another order shows as a change after every refresh.
// https://learn.microsoft.com/azure/templates/microsoft.cognitiveservices/accounts/raipolicies
func (f Filter) Rules() []Rule {
	threshold := "Medium"
	if f == Strict {
		threshold = "Low"
	}
	var rules []Rule
	for _, category := range []string{"Hate", "Sexual", "Violence", "Selfharm"} {
		rules = append(rules, Rule{category, "Prompt", threshold, true}, Rule{category, "Completion", threshold, true})
	}
	return append(rules,
		Rule{"Jailbreak", "Prompt", "", true},
		Rule{"Protected Material Text", "Completion", "", true},
		Rule{"Protected Material Code", "Completion", "", f == Strict})
}
