package core

import (
	"strings"
	"time"
)

// shape is how the job or file is written: as the version of the API does (A807),
// and as its behaviour says beyond that.
func (b Behaviour) shape(dated bool) Shape {
	shape := b.Shape
	if dated {
		shape.Capitalised, shape.NullCounts = true, true
	}
	return shape
}

func (s Shape) time(at time.Time) any {
	switch {
	case at.IsZero():
		return nil
	case s.ISOTimes:
		return at.Format(time.RFC3339)
	}
	return at.Unix()
}

func (s Shape) id(id string) any {
	if id == "" && !s.EmptyIDs {
		return nil
	}
	return id
}

func (s *State) showFile(f *File, dated bool) map[string]any {
	shape := s.Behaviour.shape(dated)
	out := map[string]any{
		"id": f.ID, "object": "file", "bytes": f.Bytes, "created_at": shape.time(f.Created),
		"filename": f.Name, "purpose": f.Purpose, "status": f.Status,
	}
	if !f.Expires.IsZero() {
		out["expires_at"] = shape.time(f.Expires)
	}
	return out
}

func (s *State) showJob(j *Job, dated bool) map[string]any {
	shape := j.Behaviour.shape(dated)
	status := j.Status
	if shape.Capitalised {
		status = strings.ToUpper(status[:1]) + status[1:]
	}
	out := map[string]any{
		"id": j.ID, "object": "batch", "status": status, "endpoint": j.Endpoint, "completion_window": j.Window,
		"input_file_id": shape.id(j.InputFile), "output_file_id": shape.id(j.OutputFile), "error_file_id": shape.id(j.ErrorFile),
		"created_at": shape.time(j.Created), "in_progress_at": shape.time(j.Started), "finalizing_at": shape.time(j.Finalizing),
		"expires_at":    shape.time(j.Created.Add(24*time.Hour + j.Behaviour.ExpirySkew)),
		"cancelling_at": shape.time(j.Cancelling), "completed_at": nil, "failed_at": nil, "expired_at": nil, "cancelled_at": nil,
		"errors": nil, "metadata": nil, "request_counts": s.counts(j, shape),
	}
	if shape.OmitTimes {
		out["in_progress_at"], out["finalizing_at"] = nil, nil
	}
	if j.Terminal() {
		out[j.Status+"_at"] = shape.time(j.Ended)
	}
	if len(j.Problems) > 0 {
		out["errors"] = map[string]any{"object": "list", "data": j.Problems}
	}
	if j.Metadata != nil {
		out["metadata"] = j.Metadata
	}
	if j.InputBlob != "" {
		out["input_blob"], out["output_blob"], out["error_blob"] = j.InputBlob, shape.id(j.OutputBlob), shape.id(j.ErrorBlob)
	}
	return out
}

func (s *State) counts(j *Job, shape Shape) map[string]any {
	if j.Started.IsZero() {
		if shape.NullCounts {
			return map[string]any{"total": nil, "completed": nil, "failed": nil}
		}
		return map[string]any{"total": 0, "completed": 0, "failed": 0}
	}
	done := s.done(j)
	failed := j.failures(done)
	return map[string]any{"total": j.Scan.Lines, "completed": done - failed, "failed": failed}
}
