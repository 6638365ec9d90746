// Promqlcheck judges alert rules, and answers the queries of dashboards, with
// Prometheus's own parser and engine. It reads
// JSON from standard input and writes JSON to standard output; see the types
// input and output. It is a module of its own, because Prometheus would raise the
// versions of modules that the program itself needs.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
)

// input is what is asked.
type input struct {
	Rules []struct {
		Name string  `json:"name"`
		Expr string  `json:"expr"`
		For  float64 `json:"forSeconds"` // it must hold so long
	} `json:"rules"`
	Incidents []struct {
		Name string  `json:"name"`
		Load string  `json:"load"` // series, as promqltest's load command takes them
		At   float64 `json:"atSeconds"`
	} `json:"incidents"`
	Panels *panels `json:"panels"` // nil for none
}

// panels are queries that are answered over a time.
type panels struct {
	Load    string   `json:"load"`
	Queries []string `json:"queries"`
	From    float64  `json:"fromSeconds"`
	To      float64  `json:"toSeconds"`
	Step    float64  `json:"stepSeconds"`
}

// series is a part of an answer: a value for each step, null for none.
type series struct {
	Labels map[string]string `json:"labels"`
	Values []*float64        `json:"values"`
}

// output is the answer.
type output struct {
	Problems []string            `json:"problems"` // of expressions
	Fires    map[string][]string `json:"fires"`    // by incident, the rules in the order given
	Answers  [][]series          `json:"answers"`  // by query of the panels
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "promqlcheck:", err)
		os.Exit(1)
	}
}

func run() error {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	out := output{Problems: []string{}, Fires: map[string][]string{}}
	for _, rule := range in.Rules {
		expr, err := parser.ParseExpr(rule.Expr)
		switch {
		case err != nil:
			out.Problems = append(out.Problems, rule.Name+": "+err.Error())
		case expr.Type() != parser.ValueTypeVector:
			out.Problems = append(out.Problems, rule.Name+": an alert needs a vector, got a "+string(expr.Type()))
		}
	}
	for _, incident := range in.Incidents {
		storage := promqltest.LoadedStorage(failing{}, incident.Load)
		engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute})
		for _, rule := range in.Rules {
			to := time.Unix(int64(incident.At), 0)
			from := to.Add(-time.Duration(rule.For) * time.Second)
			query, err := engine.NewRangeQuery(context.Background(), storage, nil, rule.Expr, from, to, time.Minute)
			if err != nil {
				continue // a problem above
			}
			result := query.Exec(context.Background())
			if result.Err != nil {
				return fmt.Errorf("%s: %s: %w", incident.Name, rule.Name, result.Err)
			}
			series, err := result.Matrix()
			if err != nil {
				return err
			}
			steps := int(to.Sub(from)/time.Minute) + 1
			for _, one := range series {
				if len(one.Floats) == steps { // it held all the time
					out.Fires[incident.Name] = append(out.Fires[incident.Name], rule.Name)
					break
				}
			}
			query.Close()
		}
		if err := storage.Close(); err != nil {
			return err
		}
	}
	if in.Panels != nil {
		var err error
		if out.Answers, err = in.Panels.answer(); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// answer answers the queries, in their order.
func (p *panels) answer() ([][]series, error) {
	storage := promqltest.LoadedStorage(failing{}, p.Load)
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e7, Timeout: time.Minute})
	from, to, step := time.Unix(int64(p.From), 0), time.Unix(int64(p.To), 0), time.Duration(p.Step)*time.Second
	var out [][]series
	for _, text := range p.Queries {
		query, err := engine.NewRangeQuery(context.Background(), storage, nil, text, from, to, step)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		matrix, err := query.Exec(context.Background()).Matrix()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		found := []series{}
		for _, one := range matrix {
			s := series{Labels: one.Metric.Map(), Values: make([]*float64, int(to.Sub(from)/step)+1)}
			for _, point := range one.Floats {
				if !math.IsNaN(point.F) && !math.IsInf(point.F, 0) { // as 0 / 0 is; JSON has neither
					s.Values[time.UnixMilli(point.T).Sub(from)/step] = &point.F
				}
			}
			found = append(found, s)
		}
		query.Close()
		out = append(out, found)
	}
	return out, storage.Close()
}

// failing ends the program where a test would fail.
type failing struct{}

func (failing) Helper() {}

func (failing) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, append([]any{"promqlcheck:"}, args...)...)
	os.Exit(1)
}

func (failing) Fatalf(format string, args ...any) { failing{}.Fatal(fmt.Sprintf(format, args...)) }
func (failing) Errorf(format string, args ...any) { failing{}.Fatal(fmt.Sprintf(format, args...)) }
func (failing) FailNow()                          { os.Exit(1) }
