package busfake

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/Azure/go-amqp"
)

// answer answers a request on the link that the client named for answers.
func (c *conn) answer(l *link, request *amqp.Message) {
	if request.Properties == nil || request.Properties.ReplyTo == nil {
		return
	}
	var body map[string]any
	var status int32
	var text string
	if l.address == addressTokens {
		status, text = c.token(request)
	} else {
		status, text, body = c.manage(strings.TrimSuffix(l.address, addressManagement), request)
	}
	reply := &amqp.Message{
		Properties:            &amqp.MessageProperties{CorrelationID: request.Properties.MessageID},
		ApplicationProperties: map[string]any{"status-code": status, "status-description": text},
	}
	if body != nil {
		reply.Value = body
	}
	for _, other := range l.session.links {
		if !other.toBus && other.reply == *request.Properties.ReplyTo {
			other.send(reply, []byte{0})
			return
		}
	}
}

// token takes a token for an entity. Every token that is one is good.
func (c *conn) token(request *amqp.Message) (int32, string) {
	name, _ := request.ApplicationProperties["name"].(string)
	if value, _ := request.Value.(string); value == "" || request.ApplicationProperties["operation"] != "put-token" {
		return http.StatusUnauthorized, "no token"
	}
	audience, err := url.Parse(name)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	entity := strings.Trim(audience.Path, "/")
	c.allowed[strings.ToLower(strings.TrimSuffix(entity, addressManagement))] = true
	return http.StatusAccepted, "accepted"
}

// manage does what a request to a queue's management asks for.
func (c *conn) manage(entity string, request *amqp.Message) (int32, string, map[string]any) {
	q := c.bus.find(entity)
	body, _ := request.Value.(map[string]any)
	locks, _ := body["lock-tokens"].([]amqp.UUID)
	if q == nil {
		return http.StatusNotFound, "there is no such queue", nil
	}
	switch operation := request.ApplicationProperties["operation"]; operation {
	case "com.microsoft:renew-lock":
		var until []time.Time
		for _, lock := range locks {
			t, err := q.renew(token(lock))
			if err != nil {
				return http.StatusGone, err.Error(), nil
			}
			until = append(until, t)
		}
		c.bus.renewals += len(locks)
		return http.StatusOK, "OK", map[string]any{"expirations": until}
	case "com.microsoft:peek-message":
		return q.peek(body)
	case "com.microsoft:update-disposition":
		outcome, changes := dispositionOf(body)
		for _, lock := range locks {
			if err := c.bus.settle(q, token(lock), outcome, changes); err != nil {
				return http.StatusGone, err.Error(), nil
			}
		}
		return http.StatusOK, "OK", nil
	default:
		return http.StatusNotImplemented, fmt.Sprintf("operation %v", operation), nil
	}
}

// peek shows messages without locking them, from a sequence number on: those that
// somebody has locked, too.
// https://learn.microsoft.com/azure/service-bus-messaging/message-browsing
func (q *queue) peek(body map[string]any) (int32, string, map[string]any) {
	from, _ := body["from-sequence-number"].(int64)
	most, _ := body["message-count"].(int32)
	all := slices.AppendSeq(slices.Clone(q.ready), maps.Values(q.locked))
	slices.SortFunc(all, func(a, b *message) int { return cmp.Compare(a.sequence, b.sequence) })
	var out []any
	for _, m := range all {
		if m.sequence < from || len(out) >= int(most) {
			continue
		}
		m.annotate()
		data, err := m.MarshalBinary()
		if err != nil {
			return http.StatusInternalServerError, err.Error(), nil
		}
		out = append(out, map[string]any{"message": data})
	}
	if len(out) == 0 {
		return http.StatusNoContent, "no messages", nil
	}
	return http.StatusOK, "OK", map[string]any{"messages": out}
}

// dispositionOf is what a request to settle means, and the properties that it
// changes.
func dispositionOf(body map[string]any) (Outcome, map[string]any) {
	changes, _ := body["properties-to-modify"].(map[string]any)
	switch body["disposition-status"] {
	case "completed":
		return Completed, changes
	case "suspended":
		out := map[string]any{propertyReason: body["deadletter-reason"], propertyDescription: body["deadletter-description"]}
		maps.Copy(out, changes)
		return DeadLettered, out
	}
	return Abandoned, changes
}
