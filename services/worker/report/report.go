// Package report owns what a worker tells the control plane: which item has come to
// which end, and what it used. The gateway has metered the calls themselves.
package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

// timeout is how long one report may take: work does not wait for it for long.
const timeout = 10 * time.Second

// Item is what is told of an item. A second report with the same At changes nothing.
type Item struct {
	Tenant  string    `json:"tenant"`
	Alias   string    `json:"alias"`
	Job     string    `json:"job"`
	Item    string    `json:"item"`
	Outcome string    `json:"outcome"` // answered, refused or dead_lettered
	At      time.Time `json:"at"`      // of the result, or of the dead letter
	Input   int       `json:"input_tokens"`
	Cached  int       `json:"cached_tokens"` // a part of Input
	Output  int       `json:"output_tokens"`
}

// Reporter reports to a control plane.
type Reporter struct {
	URL       string // without a slash at the end
	TokenFile string // renewed in place
	HTTP      *http.Client
}

// Report reports an item.
func (r *Reporter) Report(ctx context.Context, item Item) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	token, err := os.ReadFile(r.TokenFile)
	if err != nil {
		return err
	}
	body, err := json.Marshal(item)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL+"/v1/usage", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+string(bytes.TrimSpace(token)))
	request.Header.Set("Content-Type", "application/json")
	answer, err := r.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusNoContent {
		return fmt.Errorf("report: the control plane answers %s", answer.Status)
	}
	return nil
}
