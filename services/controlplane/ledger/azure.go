package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Azure is a table of Azure Storage.
type Azure struct{ client *aztables.Client }

// NewAzure is the table that client speaks to. It must exist.
func NewAzure(client *aztables.Client) *Azure { return &Azure{client} }

// chunk is the largest property of Azure's tables in bytes.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model
const chunk = 64 << 10

// The properties of an entity: data is cut into data00, data01 ...
const (
	openProperty = "Open"
	dataProperty = "Data%02d"
)

func encode(d Document) ([]byte, error) {
	if len(d.Data) > MaxData {
		return nil, fmt.Errorf("ledger: document %s/%s has %d bytes, want at most %d", d.Partition, d.Row, len(d.Data), MaxData)
	}
	e := aztables.EDMEntity{Properties: map[string]any{openProperty: d.Open}}
	e.PartitionKey, e.RowKey = d.Partition, d.Row
	for i, rest := 0, d.Data; len(rest) > 0; i++ {
		n := min(len(rest), chunk)
		e.Properties[fmt.Sprintf(dataProperty, i)] = aztables.EDMBinary(rest[:n])
		rest = rest[n:]
	}
	return json.Marshal(e)
}

func decode(text []byte) (Document, error) {
	var e aztables.EDMEntity
	if err := json.Unmarshal(text, &e); err != nil {
		return Document{}, fmt.Errorf("ledger: %w", err)
	}
	d := Document{Key: Key{e.PartitionKey, e.RowKey}, ETag: e.ETag}
	d.Open, _ = e.Properties[openProperty].(bool)
	for i := 0; ; i++ {
		part, ok := e.Properties[fmt.Sprintf(dataProperty, i)].(aztables.EDMBinary)
		if !ok {
			return d, nil
		}
		d.Data = append(d.Data, part...)
	}
}

// status is the HTTP status of Azure's refusal, 0 for none.
func status(err error) int {
	if refusal, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return refusal.StatusCode
	}
	return 0
}

// Insert implements Table.
func (a *Azure) Insert(ctx context.Context, d Document) (string, error) {
	text, err := encode(d)
	if err != nil {
		return "", err
	}
	made, err := a.client.AddEntity(ctx, text, nil)
	if status(err) == http.StatusConflict {
		return a.mine(ctx, d, ErrExists)
	}
	if err != nil {
		return "", fmt.Errorf("ledger: insert %s/%s: %w", d.Partition, d.Row, err)
	}
	return string(made.ETag), nil
}

// mine tells a refusal from an answer that was lost: the client asks again by
// itself, and then finds its own first attempt.
func (a *Azure) mine(ctx context.Context, d Document, refusal error) (string, error) {
	now, err := a.Get(ctx, d.Key)
	if err != nil {
		return "", err
	}
	if now.Open == d.Open && bytes.Equal(now.Data, d.Data) {
		return now.ETag, nil
	}
	return "", refusal
}

// Get implements Table.
func (a *Azure) Get(ctx context.Context, key Key) (Document, error) {
	found, err := a.client.GetEntity(ctx, key.Partition, key.Row, nil)
	if status(err) == http.StatusNotFound {
		return Document{}, ErrNotFound
	}
	if err != nil {
		return Document{}, fmt.Errorf("ledger: get %s/%s: %w", key.Partition, key.Row, err)
	}
	d, err := decode(found.Value)
	if err == nil && d.ETag == "" {
		d.ETag = string(found.ETag)
	}
	return d, err
}

// Replace implements Table.
func (a *Azure) Replace(ctx context.Context, d Document) (string, error) {
	text, err := encode(d)
	if err != nil {
		return "", err
	}
	made, err := a.client.UpdateEntity(ctx, text, &aztables.UpdateEntityOptions{IfMatch: new(azcore.ETag(d.ETag)), UpdateMode: aztables.UpdateModeReplace})
	switch status(err) {
	case http.StatusPreconditionFailed:
		return a.mine(ctx, d, ErrChanged)
	case http.StatusNotFound:
		return "", ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("ledger: replace %s/%s: %w", d.Partition, d.Row, err)
	}
	return string(made.ETag), nil
}

// Delete implements Table.
func (a *Azure) Delete(ctx context.Context, d Document) error {
	_, err := a.client.DeleteEntity(ctx, d.Partition, d.Row, &aztables.DeleteEntityOptions{IfMatch: new(azcore.ETag(d.ETag))})
	switch status(err) {
	case http.StatusNotFound:
		return nil
	case http.StatusPreconditionFailed:
		return ErrChanged
	}
	if err != nil {
		return fmt.Errorf("ledger: delete %s/%s: %w", d.Partition, d.Row, err)
	}
	return nil
}

// pageSize is the most that Azure answers at once.
const pageSize = 1000

// List implements Table.
func (a *Azure) List(ctx context.Context, q Query) ([]Document, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s' and RowKey gt '%s'", quoted(q.Partition), quoted(q.After))
	if q.Open {
		filter += " and " + openProperty + " eq true"
	}
	top := pageSize
	if q.Limit > 0 {
		top = min(top, q.Limit)
	}
	var out []Document
	pages := a.client.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter, Top: new(int32(top))})
	for pages.More() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("ledger: list %s: %w", q.Partition, err)
		}
		for _, text := range page.Entities {
			d, err := decode(text)
			if err != nil {
				return nil, err
			}
			if out = append(out, d); len(out) == q.Limit {
				return out, nil
			}
		}
	}
	return out, nil
}

// quoted is text within the quotes of a filter.
func quoted(text string) string { return strings.ReplaceAll(text, "'", "''") }
