package docs

import (
	"fmt"
	"strings"

	"onedoor/internal/reach"
)

// isModel says whether no way but a door's may lead there, or whether it is a door, in the
// words of the matrix.
func isModel(to string) bool {
	return to == "control plane door" || strings.HasSuffix(to, " account") || to == "model servers" || to == "serving edge" || strings.HasSuffix(to, "of Ray clusters")
}

// reachable is who can open a connection to the batch account and the other models.
func reachable(dev, prod []reach.Resource) []byte {
	p := newPage("Who can reach batch, and the models", "the plans of `dev` and `prod` by `internal/reach`")
	p.say("The network's answer: who can open a connection, and which rule decides. Whoever can must still hold a role, which " +
		"the control plane's identity alone does for batch jobs and the gateway's for calls. `onedoor reach` computes all of it for your own stack; [bypasses](bypasses.md) lists the ways that were tried.")
	for _, plan := range []struct {
		stack     string
		resources []reach.Resource
	}{{"prod", prod}, {"dev", dev}} {
		report := reach.Judge(plan.stack, plan.resources)
		p.head(plan.stack)
		var rows [][]string
		for _, to := range report.Matrix.To {
			if !isModel(to) {
				continue
			}
			var open, unsure []string
			closed := map[string]int{}
			for _, from := range report.Matrix.From {
				c, _ := report.Matrix.Cell(from, to)
				switch c.State {
				case reach.Closed:
					closed[c.By]++
				case reach.Unknown:
					unsure = append(unsure, from)
				case reach.Absent:
				default:
					open = append(open, fmt.Sprintf("%s (%s)", from, c.By))
				}
			}
			rows = append(rows, []string{to, list(open), list(unsure), counts(closed)})
		}
		p.table([]string{"model or its door", "who gets there, and by what", "the plan cannot tell", "what holds back the others"}, escaped(rows))
	}
	p.say("Model servers reach one another inside one Ray cluster, by a policy that names the cluster: of those the plan cannot tell, since it does not know which pods run where.")
	return p.bytes()
}

func list(of []string) string {
	if len(of) == 0 {
		return "nobody"
	}
	return strings.Join(of, "\n")
}

// counts says what held back how many.
func counts(of map[string]int) string {
	var parts []string
	for _, by := range sortedKeys(of) {
		parts = append(parts, fmt.Sprintf("%s: %d", by, of[by]))
	}
	return strings.Join(parts, "\n")
}
