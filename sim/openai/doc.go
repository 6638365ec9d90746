// Package openai is a simulated Azure OpenAI: the Batch and Files API, models, and
// chat completions, embeddings and responses with deterministic answers, for real
// clients over HTTP.
//
// The package core decides everything; this one wraps it: it reads requests, streams
// files to a Store and back, strikes with faults on demand and keeps a log. Time is
// virtual and moves only by Advance, so a job of a day takes no time at all, and a
// test sees each of its states.
//
// It is not Azure: what it believes stands in ../ASSUMPTIONS.md, from A800 on.
package openai
