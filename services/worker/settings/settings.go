// Package settings owns what a worker is told: environment variables, as
// docs/contracts/worker.md has them. It reads all of them, and says everything that
// is wrong at once.
package settings

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"onedoor/internal/capacity"
	"onedoor/internal/trust"
)

// Settings are what a worker is told.
type Settings struct {
	Modality  string // kind of work
	Queue     string // that it comes from
	BusHost   string // of the Service Bus namespace
	One       bool   // one message, and then the end
	Parallel  int    // items at once
	Fetch     int    // messages that each of them fetches at once
	Renew     time.Duration
	GiveUp    time.Duration // after which work on an item is cancelled
	Grace     time.Duration // from SIGTERM to SIGKILL
	Attempts  int           // tries of an item in all
	Backoff   []time.Duration
	Check     int    // items of a message after which it notes how far it is
	Alias     string // of the model that it calls
	Gateway   string // base URL of the calls, without a slash at the end
	Audience  string // of the token for them
	Tokens    int    // a minute
	Requests  int    // a minute
	BlobURL   string // of the storage account
	Payloads  string // container
	Results   string // container
	Keys      string // directory
	Control   string // URL of the control plane, without a slash at the end
	Authority string // PEM, of who issued the control plane's certificate; "" for a public one
	TokenFile string // of the token for it
	Port      int    // of health and metrics
	MaxBytes  int64  // of a payload
	MaxAnswer int64  // bytes
	Memory    int64  // bytes that are planned for the worker
	MaxOutput int    // tokens that a request may ask for when it does not say
	Gather    int    // items of one call to a model that takes many; below 2 for none
	PriceAs   Price  // of a token; empty when nobody says
}

// Price names a row of the price table.
type Price struct{ Model, SKU string }

// Limits.
const (
	maxParallel = 10 // more items in one process would die together
	mib         = 1 << 20
	maxMiB      = 100 // of a payload, what a message's memory is planned for at most
	minGather   = 0
	maxGather   = 100
)

// Read reads the settings from variables, which lookup finds.
func Read(lookup func(string) (string, bool)) (Settings, error) {
	r := reader{lookup: lookup}
	s := Settings{
		Modality:  r.text("ONEDOOR_MODALITY"),
		Queue:     r.text("ONEDOOR_QUEUE"),
		BusHost:   r.text("ONEDOOR_BUS_HOST"),
		One:       r.word("ONEDOOR_MESSAGES", "many", "one") == "one",
		Parallel:  r.number("ONEDOOR_PARALLEL", 1, maxParallel),
		Fetch:     r.number("ONEDOOR_FETCH", 1, 1000),
		Renew:     r.duration("ONEDOOR_LOCK_RENEW", 0),
		GiveUp:    r.duration("ONEDOOR_GIVE_UP", time.Second),
		Grace:     r.duration("ONEDOOR_GRACE", time.Second),
		Attempts:  r.number("ONEDOOR_ATTEMPTS", 1, 10),
		Backoff:   r.durations("ONEDOOR_BACKOFF"),
		Check:     r.number("ONEDOOR_CHECKPOINT_ITEMS", 1, 1000),
		Alias:     r.text("ONEDOOR_ALIAS"),
		Gateway:   r.url("ONEDOOR_GATEWAY_URL"),
		Audience:  r.text("ONEDOOR_GATEWAY_AUDIENCE"),
		Tokens:    r.number("ONEDOOR_TOKENS_PER_MINUTE", 1, 1<<40),
		Requests:  r.number("ONEDOOR_REQUESTS_PER_MINUTE", 1, 1<<40),
		BlobURL:   r.url("ONEDOOR_BLOB_URL"),
		Payloads:  r.text("ONEDOOR_PAYLOADS_CONTAINER"),
		Results:   r.text("ONEDOOR_RESULTS_CONTAINER"),
		Keys:      r.directory("ONEDOOR_KEYS_DIR"),
		Control:   r.url("ONEDOOR_CONTROL_PLANE_URL"),
		Authority: r.authority("ONEDOOR_CONTROL_PLANE_AUTHORITY"),
		TokenFile: r.text("ONEDOOR_TOKEN_FILE"),
		Port:      r.number("ONEDOOR_STATUS_PORT", 1, 65535),
		MaxBytes:  mib * int64(r.numberOr("ONEDOOR_PAYLOAD_MIB", maxMiB, 1, maxMiB)),
		MaxOutput: r.numberOr("ONEDOOR_MAX_OUTPUT_TOKENS", 1024, 1, 1<<20),
		Gather:    r.numberOr("ONEDOOR_GATHER_ITEMS", 0, minGather, maxGather),
		PriceAs:   r.price("ONEDOOR_PRICE_AS"),
	}
	s.MaxAnswer = max(s.MaxBytes, capacity.LeastItemMiB*mib)
	planned, _ := capacity.Memory(s.Parallel, int(s.MaxBytes/mib))
	s.Memory = mib * int64(planned)
	return s, errors.Join(r.found...)
}

// reader reads variables and collects what is wrong with them.
type reader struct {
	lookup func(string) (string, bool)
	found  []error
}

func (r *reader) bad(name, got, want string) {
	r.found = append(r.found, fmt.Errorf("%s: got %q, want %s; see docs/contracts/worker.md", name, got, want))
}

func (r *reader) text(name string) string {
	value, _ := r.lookup(name)
	if value == "" {
		r.bad(name, value, "a value")
	}
	return value
}

func (r *reader) word(name string, allowed ...string) string {
	value, _ := r.lookup(name)
	if slices.Contains(allowed, value) {
		return value
	}
	r.bad(name, value, "one of "+strings.Join(allowed, ", "))
	return ""
}

func (r *reader) number(name string, least, most int) int {
	value, _ := r.lookup(name)
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		r.bad(name, value, fmt.Sprintf("a number from %d to %d", least, most))
		return 0
	}
	return n
}

// numberOr is a number that may be left out.
func (r *reader) numberOr(name string, without, least, most int) int {
	if value, ok := r.lookup(name); !ok || value == "" {
		return without
	}
	return r.number(name, least, most)
}

func (r *reader) duration(name string, least time.Duration) time.Duration {
	value, _ := r.lookup(name)
	d, err := time.ParseDuration(value)
	if err != nil || d < least {
		r.bad(name, value, fmt.Sprintf("a duration of at least %s, as in 90s", least))
		return 0
	}
	return d
}

func (r *reader) durations(name string) []time.Duration {
	value, _ := r.lookup(name)
	var out []time.Duration
	for part := range strings.SplitSeq(value, ",") {
		d, err := time.ParseDuration(part)
		if err != nil || d < 0 {
			r.bad(name, value, "durations with commas between them, as in 1s,2s,4s")
			return nil
		}
		out = append(out, d)
	}
	return out
}

func (r *reader) url(name string) string {
	value, _ := r.lookup(name)
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		r.bad(name, value, "a URL")
	}
	return strings.TrimSuffix(value, "/")
}

// authority is a certificate as PEM; "" when it is left out.
func (r *reader) authority(name string) string {
	value, _ := r.lookup(name)
	if _, err := trust.Client(value); err != nil {
		r.bad(name, value, "the certificate of an authority as PEM, or nothing")
	}
	return value
}

func (r *reader) directory(name string) string {
	value, _ := r.lookup(name)
	if info, err := os.Stat(value); err != nil || !info.IsDir() {
		r.bad(name, value, "a directory")
	}
	return value
}

// price is a row of the price table; empty when it is left out.
func (r *reader) price(name string) Price {
	value, _ := r.lookup(name)
	if value == "" {
		return Price{}
	}
	model, sku, ok := strings.Cut(value, "/")
	if !ok || model == "" || sku == "" {
		r.bad(name, value, "model/SKU of the price table, as in gpt-4o-mini/GlobalStandard")
	}
	return Price{model, sku}
}
