package demo

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"onedoor/sim/openai/core"
)

// The tenants: two shops with a help desk each.
const (
	north = "north-shop"
	south = "south-shop"
)

var tenants = []string{north, south}

// ticket is a message of a customer.
type ticket struct {
	id   string
	text string
}

// complaints are what customers write; the number of the order goes in.
var complaints = []string{
	"Order %d came with a cracked screen. I want my money back.",
	"I was charged twice for order %d. Please refund one of them.",
	"Where is order %d? The tracking page has not moved for a week.",
	"I cannot log in to see order %d, the reset mail never arrives.",
	"Order %d is fine, thank you. How do I leave a review?",
	"Please cancel order %d, I ordered the wrong size.",
	"The courier left order %d in the rain and the box is soaked.",
	"My invoice for order %d lacks the VAT number.",
}

// Sentences that make the simulated service do what real ones do now and then.
const (
	threat = "I will hurt the courier who lost order %d."     // meets the content filter
	unluck = "Order %d was refunded to a card that I closed." // meets a busy model, once
)

// ticketsOf are the tickets of a tenant: 30 of the one and 20 of the other.
func ticketsOf(tenant string) []ticket {
	n, first := 30, 41_000
	if tenant == south {
		n, first = 20, 72_000
	}
	out := make([]ticket, n)
	for i := range out {
		text := complaints[i%len(complaints)]
		switch i {
		case 13:
			text = threat
		case 17:
			text = unluck
		}
		out[i] = ticket{id: fmt.Sprintf("ticket-%d", first+i), text: fmt.Sprintf(text, first+i)}
	}
	return out
}

// instruction is what the model is told before each ticket.
const instruction = `You sort tickets of a shop. Answer {"category": ..., "urgent": ...}.`

// file is the tickets as the lines of a batch file.
func file(tickets []ticket) (string, error) {
	var b strings.Builder
	for _, t := range tickets {
		line, err := json.Marshal(map[string]any{
			"custom_id": t.id, "method": "POST", "url": "/v1/chat/completions",
			"body": map[string]any{
				"model":           alias,
				"response_format": map[string]any{"type": "json_object"},
				"messages":        []any{map[string]string{"role": "system", "content": instruction}, map[string]string{"role": "user", "content": t.text}},
			},
		})
		if err != nil {
			return "", err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// rules are the simulated model: it sorts by words, refuses threats, and is too busy for
// some tickets when it sees them for the first time.
func rules() core.Rules {
	var lock sync.Mutex
	seen := map[string]bool{}
	return core.Rules{
		Reply: func(_, prompt string) string { return sort(prompt) },
		Outcome: func(row core.Row) core.Outcome {
			switch body := string(row.Body); {
			case strings.Contains(body, "hurt the courier"):
				return core.PromptFiltered
			case strings.Contains(body, "a card that I closed"):
				lock.Lock()
				defer lock.Unlock()
				if !seen[row.CustomID] {
					seen[row.CustomID] = true
					return core.Throttled
				}
			}
			return core.Answered
		},
	}
}

// sort is the answer to a ticket.
func sort(text string) string {
	category := "other"
	for _, rule := range []struct{ word, category string }{
		{"money back", "refund"}, {"refund", "refund"}, {"tracking", "delivery"}, {"courier", "delivery"},
		{"log in", "account"}, {"invoice", "billing"}, {"cancel", "cancellation"},
	} {
		if strings.Contains(text, rule.word) {
			category = rule.category
			break
		}
	}
	urgent := strings.Contains(text, "money") || strings.Contains(text, "charged")
	return fmt.Sprintf(`{"category":%q,"urgent":%t}`, category, urgent)
}
