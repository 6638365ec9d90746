package sim

import (
	"errors"
	"net/http"

	"onedoor/sim/core"
)

// act answers a POST: an action on a resource.
func (h *armHandler) act(w http.ResponseWriter, path string) {
	answer := core.Act(h.cloud.State(), path)
	if answer.Error != nil {
		fail(w, answer.Status, answer.Error)
		return
	}
	send(w, answer.Status, answer.Body)
}

// done is the answer to a write whose operation has ended.
func (h *armHandler) done(answer core.Answer) core.Answer {
	o := answer.Operation
	answer.Operation = nil
	if failure := h.cloud.failure(o.ID); failure != nil {
		return core.Answer{Status: failure.Status(), Error: failure}
	}
	state := h.cloud.State()
	if r, ok := state.Find(o.Target); ok {
		answer.Body = state.Show(r)
	} else {
		answer.Status = http.StatusNoContent
	}
	return answer
}

// purge ends a soft deletion, so that the name is free (A465, A502).
func (h *armHandler) purge(w http.ResponseWriter, id string) {
	err := h.cloud.Purge(id)
	var refused *core.Error
	switch {
	case errors.As(err, &refused):
		fail(w, refused.Status(), refused)
	case err != nil:
		fail(w, http.StatusInternalServerError, &core.Error{Code: "InternalServerError", Message: err.Error()})
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
