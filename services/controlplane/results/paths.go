package results

import (
	"fmt"

	"onedoor/services/controlplane/jobs"
)

// Where results lie in the container of outputs. Every path follows from the job,
// so what is done twice is done at the same place.

// OutputPath is that of a job's rows with results.
func OutputPath(j *jobs.Job) string { return j.Tenant + "/" + j.ID + "/output.jsonl" }

// ErrorsPath is that of a job's rows without.
func ErrorsPath(j *jobs.Job) string { return j.Tenant + "/" + j.ID + "/errors.jsonl" }

// rawPath is where what the account wrote for a part is copied to.
func rawPath(j *jobs.Job, part int, what string) string {
	return fmt.Sprintf("%s/%s/raw/%04d-%s.jsonl", j.Tenant, j.ID, part, what)
}

// AgainPath is that, in the container of inputs, of lines that are tried again.
func AgainPath(j *jobs.Job, part int) string {
	return fmt.Sprintf("jobs/%s/%s/again-%04d.jsonl", j.Tenant, j.ID, part)
}
