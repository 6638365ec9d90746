package capacity

import (
	"fmt"
	"strings"
)

// RequestsPerUnit is how many requests a minute come with 1000 tokens a minute of
// a deployment: the least among the chat models. Others have up to ten.
// https://learn.microsoft.com/azure/ai-services/openai/quotas-limits (2026-08)
const RequestsPerUnit = 1

// Limits are what a deployment takes in a minute, and what of it is kept for
// people who wait.
type Limits struct {
	Name     string // as in "account/deployment"
	Tokens   int
	Requests int
	Reserve  int // tokens that queues leave to people, 0 to Tokens
}

// Claim is a queue's claim on an alias.
type Claim struct {
	Queue  string
	Load   Load
	Weight int // its part of what queues may use, from 1
	Most   int // replicas; 0 for as many as fit
}

// Share is what a claim gets.
type Share struct {
	Queue      string
	Rate       Rate   // of one replica
	Fits       int    // replicas that the quota has room for; 0: not even one
	Replicas   int    // the most that there may be
	Deployment string // the one that has the least room
	Why        string
}

// Shares divides an alias between the queues that call it, in proportion to their
// weights. The gateway may send a call to any deployment of the alias, and all of
// them to one when the others fail, so each deployment by itself has room for all
// queues and for what is kept for people. The loads were checked; there is at
// least one deployment.
func Shares(deployments []Limits, claims []Claim) []Share {
	weights := 0
	for _, c := range claims {
		weights += c.Weight
	}
	shares := make([]Share, len(claims))
	for i, c := range claims {
		shares[i] = c.share(deployments, weights)
	}
	return shares
}

// share is what the claim gets where all claims together weigh weights.
func (c Claim) share(deployments []Limits, weights int) Share {
	s := Share{Queue: c.Queue, Rate: c.Load.Rate(), Fits: -1}
	for _, d := range deployments {
		// People are counted in tokens; requests are kept in the same proportion.
		free := max(0, d.Tokens-d.Reserve)
		tokens := free * c.Weight / weights
		requests := int(int64(d.Requests) * int64(free) / int64(max(1, d.Tokens)) * int64(c.Weight) / int64(weights))
		byTokens, byRequests := tokens/s.Rate.Tokens, requests/s.Rate.Requests
		if fits := min(byTokens, byRequests); s.Fits < 0 || fits < s.Fits {
			s.Fits, s.Deployment = fits, d.Name
			s.Why = fmt.Sprintf("%s takes %d tokens a minute - %d kept for people = %d%s; a replica uses %s: %d / %d = %d replicas",
				d.Name, d.Tokens, d.Reserve, free, c.part(tokens, weights), s.Rate.Why, tokens, s.Rate.Tokens, byTokens)
			if byRequests < byTokens {
				s.Why += fmt.Sprintf(", but %d requests a minute / %d of a replica = %d replicas", requests, s.Rate.Requests, byRequests)
			}
		}
	}
	s.Replicas = s.Fits
	if c.Most > 0 {
		s.Replicas = min(c.Most, s.Fits)
	}
	return s
}

// part writes the part of a claim that is not alone.
func (c Claim) part(tokens, weights int) string {
	if c.Weight == weights {
		return ""
	}
	return fmt.Sprintf(" x weight %d of %d = %d", c.Weight, weights, tokens)
}

// Buyers are tenants, with all the tokens a minute that their plans sell them.
type Buyers struct {
	Who    string
	Tokens int
}

// Demand is the most that queues and tenants together can ask of an alias in a
// minute: every replica there may be, and every tenant at its plan's limit. Tenants
// are served by all deployments of the alias, one after the other.
func Demand(deployments []Limits, shares []Share, tenants []Buyers) (demand, supply int, why string) {
	var parts []string
	for _, s := range shares {
		demand += s.Replicas * s.Rate.Tokens
		parts = append(parts, fmt.Sprintf("queue %s %d replicas x %d", s.Queue, s.Replicas, s.Rate.Tokens))
	}
	for _, t := range tenants {
		demand += t.Tokens
		parts = append(parts, fmt.Sprintf("%s %d", t.Who, t.Tokens))
	}
	for _, d := range deployments {
		supply += d.Tokens
	}
	return demand, supply, fmt.Sprintf("%s = %d tokens a minute of the %d that its deployments take", strings.Join(parts, " + "), demand, supply)
}
