package openai_test

import (
	"strconv"
	"testing"
	"time"

	"onedoor/sim/openai/core"
)

// BenchmarkJobs creates jobs, lets them end and asks for each: what one job costs should
// not depend much on how many there are.
func BenchmarkJobs(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				c := config()
				c.Accounts[0].Deployments[0].Capacity = 1 << 30
				state := core.New(c.Config)
				caller := &core.Principal{ID: "p", Actions: []string{"*"}}
				scanner := core.NewScanner(state.Limits, core.Rules{})
				scanner.Line([]byte(lines(1)), false)
				do := func(r core.Request) core.Answer {
					r.Account, r.Caller = account, caller
					var answer core.Answer
					if state, answer, _ = core.Apply(state, core.Rules{}, r); answer.Error != nil {
						b.Fatal(answer.Error)
					}
					return answer
				}
				do(core.Request{Operation: core.CreateFile, File: &core.NewFile{Purpose: "batch", Content: "c", Scan: scanner.Done(100)}})
				state, _ = core.Advance(state, state.Now.Add(time.Minute))
				for range n {
					do(core.Request{Operation: core.CreateBatch, Batch: &core.NewBatch{InputFileID: state.Files.At(0).ID, Endpoint: "/chat/completions", CompletionWindow: "24h"}})
				}
				state, _ = core.Advance(state, state.Now.Add(time.Hour))
				for j := range state.Jobs.All() {
					do(core.Request{Operation: core.GetBatch, ID: j.ID})
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/job")
		})
	}
}
