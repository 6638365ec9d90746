package core

import (
	"fmt"
	"net/http"
)

// room is how many tokens a deployment can still take: of its own capacity, and of
// the pool that all accounts of the region share (A822).
func (s *State) room(account Account, d Deployment) int64 {
	left := d.tokens() - s.held[holder{account.Name, d.Name}]
	pool := Pool{account.Region, d.Model, d.SKU}
	if limit, ok := s.pools[pool]; ok {
		left = min(left, limit-s.pooled[pool])
	}
	return left
}

// hold changes how many tokens a job holds.
func (s *State) hold(j *Job, tokens int64) {
	change := tokens - j.Held
	if change == 0 {
		return
	}
	j.Held = tokens
	key := holder{j.Account, j.Deployment}
	s.held = with(s.held, key, s.held[key]+change)
	account, _ := s.account(j.Account)
	d, ok := account.deployment(j.Deployment)
	if !ok {
		return // deleted, and its pool was given back then
	}
	pool := Pool{account.Region, d.Model, d.SKU}
	s.pooled = with(s.pooled, pool, s.pooled[pool]+change)
}

// reserve takes the tokens of a new job. An account that fails fast refuses by an
// estimate what does not fit (A820); another one lets it fail in validation (A821).
// A job whose deployment is no batch deployment holds nothing.
func (s *State) reserve(j *Job, header map[string]string) *Error {
	if j.Scan == nil {
		return nil
	}
	account, _ := s.account(j.Account)
	d, ok := account.deployment(j.Scan.Model)
	if !ok || !d.batch() {
		return nil
	}
	j.Deployment = d.Name
	tokens, room := j.Scan.Tokens, s.room(account, d)
	if account.failsFast() {
		if p := j.Behaviour.EstimatePercent; p > 0 {
			tokens = tokens * p / 100
		}
		if tokens > room {
			return &Error{Status: http.StatusBadRequest, Code: "token_limit_exceeded", Message: tokenLimit(d)}
		}
	}
	if j.Over = tokens > room; !j.Over {
		s.hold(j, tokens)
	}
	quotaHeader(header, s.held[holder{account.Name, d.Name}], d.tokens())
	return nil
}

func tokenLimit(d Deployment) string {
	return fmt.Sprintf("Enqueued token limit reached for %s in deployment %s. Limit: %d enqueued tokens. Please try again once some in_progress batches have been completed.", d.Model, d.Name, d.tokens())
}
