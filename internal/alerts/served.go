package alerts

import (
	"fmt"

	"onedoor/internal/prices"
)

// Served is a model that the cluster serves, with what one replica of it holds.
type Served struct {
	Model string     // that its metrics carry
	GPUs  float64    // cards; a slice counts by its share
	Hour  prices.USD // what these cost for an hour; 0 where the price is not known
}

// Record is a series that is computed from others.
type Record struct{ Name, Expr string }

// Records say what a served model's GPUs give for their price, over the last hour:
// whatever a replica holds is paid for, busy or not.
func Records(list []Served) []Record {
	var out []Record
	for _, s := range list {
		of := fmt.Sprintf(`{model_name=%q}`, s.Model)
		tokens := fmt.Sprintf(`sum by (model_name) (rate(ray_vllm_prompt_tokens_total%s[1h]) + rate(ray_vllm_generation_tokens_total%s[1h])) * 3600`, of, of)
		replicas := fmt.Sprintf(`count by (model_name) (ray_vllm_num_requests_running%s)`, of)
		out = append(out, Record{"onedoor:served_tokens_per_gpu_hour", fmt.Sprintf(`%s / (%s * %g)`, tokens, replicas, s.GPUs)})
		if s.Hour > 0 {
			out = append(out, Record{"onedoor:served_usd_per_million_tokens", fmt.Sprintf(`%s * %g / (%s / 1e6)`, replicas, s.Hour.Float(), tokens)})
		}
	}
	return out
}
