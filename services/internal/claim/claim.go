// Package claim owns the messages of the queues: a claim check that says where a
// payload is and proves who posted it. It signs and verifies them, and names the
// places that follow from them. How messages travel and where payloads lie belongs
// to others. docs/contracts/messages.md describes the schema.
package claim

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"

	"onedoor/services/internal/ring"
)

// Version is the schema of the messages that Sign makes, and the only one that
// Verify takes.
const Version = 1

// MaxBytes is the most that a message has, in bytes: the claim, never the payload.
const MaxBytes = 4095

// Message is a claim check. The MAC covers all its other fields.
type Message struct {
	Version     int    `json:"version"`
	Tenant      string `json:"tenant"`      // that the work is for, and that pays for it
	Modality    string `json:"modality"`    // as in "text"; names the queue
	Alias       string `json:"alias"`       // of the model to call
	Job         string `json:"job"`         // what items belong to
	Item        string `json:"item"`        // unique within the job
	Blob        string `json:"blob"`        // of the payload, within the container of its queue
	ETag        string `json:"etag"`        // of that blob: another payload at the same place is not this item's
	Type        string `json:"type"`        // content type of the payload; empty for that of the blob
	Correlation string `json:"correlation"` // follows the item through logs and traces
	Key         string `json:"key"`         // id of the key of MAC
	MAC         string `json:"mac"`         // HMAC-SHA256, base64url without padding
}

// Reasons why Verify takes no message, as dead letters carry them.
var (
	ErrMalformed = errors.New("message_malformed")
	ErrTooLarge  = errors.New("message_too_large")
	ErrNotProven = errors.New("tenant_not_proven")
)

// Path is where the item's result lies in the container of results, and where
// whoever posts an item puts its payload: the same for every delivery.
func (m Message) Path() string { return m.Tenant + "/" + m.Job + "/" + m.Item }

// IdempotencyKey is the same for every run of the item.
func (m Message) IdempotencyKey() string { return m.Job + ":" + m.Item }

// ID is the message's id on the bus, which drops a second message with the same id:
// it follows from all that says what the work is. Another post of the same work has
// another trace, and maybe another key. It has 64 of the 128 characters that the bus
// takes.
// https://learn.microsoft.com/azure/service-bus-messaging/service-bus-quotas
func (m Message) ID() string {
	m.Correlation, m.Key = "", ""
	sum := sha256.Sum256(m.text())
	return hex.EncodeToString(sum[:])
}

// field is what one field of a message may be.
type field struct {
	name, value string
	allowed     func(string) bool
	want        string
}

// Patterns of fields. Names become parts of blob names, so none is "." or "..",
// has a slash, or ends with a dot, which Azure drops.
// https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata
var (
	tenantName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	aliasName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	itemName   = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9_-])?$`)
	traceName  = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)
)

// Limits of fields without a pattern, in bytes.
const (
	maxBlob = 1024 // of a blob's name
	maxETag = 128
	maxType = 255 // of a content type
)

// fields are all fields that the MAC covers, in its order.
func (m Message) fields() []field {
	return []field{
		{"tenant", m.Tenant, tenantName.MatchString, "1 to 63 lower-case letters, digits and dashes"},
		{"modality", m.Modality, tenantName.MatchString, "1 to 63 lower-case letters, digits and dashes"},
		{"alias", m.Alias, aliasName.MatchString, "1 to 64 letters, digits, dots, dashes and underscores"},
		{"job", m.Job, itemName.MatchString, "1 to 128 letters, digits, dots, dashes and underscores, without a dot at the end"},
		{"item", m.Item, itemName.MatchString, "1 to 128 letters, digits, dots, dashes and underscores, without a dot at the end"},
		{"blob", m.Blob, printable(maxBlob), "a blob's name of 1 to 1024 bytes"},
		{"etag", m.ETag, printable(maxETag), "an ETag of 1 to 128 bytes"},
		{"type", m.Type, orEmpty(printable(maxType)), "a content type of up to 255 bytes"},
		{"correlation", m.Correlation, traceName.MatchString, "1 to 128 letters, digits, dots, dashes, underscores and colons"},
		{"key", m.Key, ring.IsID, "1 to 64 letters, digits and dashes"},
	}
}

// Misfit is a field with a value that no message may have.
type Misfit struct{ Field, Got, Want string }

// Misfits are the fields of those names, or of all without any, that no message may
// have: whoever takes fields from callers asks before something is written down.
func (m Message) Misfits(names ...string) []Misfit {
	var found []Misfit
	for _, f := range m.fields() {
		if (len(names) == 0 || slices.Contains(names, f.name)) && !f.allowed(f.value) {
			found = append(found, Misfit{f.name, cut(f.value), f.want})
		}
	}
	return found
}

// check says what is wrong with every field.
func (m Message) check() error {
	var found []error
	for _, f := range m.Misfits() {
		found = append(found, fmt.Errorf("%s: got %q, want %s", f.Field, f.Got, f.Want))
	}
	return errors.Join(found...)
}

// printable allows up to most bytes that can be seen.
func printable(most int) func(string) bool {
	return func(s string) bool {
		if s == "" || len(s) > most || !utf8.ValidString(s) {
			return false
		}
		for _, r := range s {
			if !unicode.IsPrint(r) {
				return false
			}
		}
		return true
	}
}

// orEmpty allows nothing, too.
func orEmpty(allowed func(string) bool) func(string) bool {
	return func(s string) bool { return s == "" || allowed(s) }
}

// cut shortens what an error quotes.
func cut(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
