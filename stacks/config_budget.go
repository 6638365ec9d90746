package stacks

// Budget is the root key "budget": what the stack may cost.
type Budget struct {
	// MonthlyFloor is what the stack may cost while nobody uses it, in whole US dollars a
	// month at the list prices of internal/prices, 1 to 1,000,000. Rule CAP-09 refuses
	// more.
	MonthlyFloor int `json:"monthlyFloor"`
}

// maxMonthlyFloor is beyond what any platform costs that nobody uses: a larger number
// is a slip, and limits nothing.
const maxMonthlyFloor = 1_000_000

func (b *Budget) check(report *problems) {
	if b.MonthlyFloor < 1 || b.MonthlyFloor > maxMonthlyFloor {
		report.bad("budget.monthlyFloor", b.MonthlyFloor, between(1, maxMonthlyFloor)+" US dollars a month: what the stack may cost while nobody uses it", "600")
	}
}
