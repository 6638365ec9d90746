package core

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// window is the only completion window.
const window = "24h"

// endpoints are those that a job may name. The service reads the lines to learn
// which one is meant, so it is not compared with them (A827).
var endpoints = []string{"/chat/completions", "/v1/chat/completions", "/v1/responses"}

// createBatch takes a job (A816): it is in validating, and its tokens count from now
// on, unless the account refuses at once what does not fit.
func (s *State) createBatch(r Request) Answer {
	b := r.Batch
	if err := s.checkBatch(b); err != nil {
		return Refused(err)
	}
	j := Job{
		Account: r.Account, Owner: r.owner(), Behaviour: s.Behaviour, Endpoint: b.Endpoint, Window: b.CompletionWindow,
		Metadata: b.Metadata, Status: Validating, Created: s.Now, GoneAt: -1,
	}
	if b.OutputExpires != nil {
		j.OutputExpiry = time.Duration(b.OutputExpires.Seconds) * time.Second
	}
	if err := s.attach(&j, b); err != nil {
		return Refused(err)
	}
	header := map[string]string{}
	if err := s.reserve(&j, header); err != nil {
		return Refused(err)
	}
	index := s.Jobs.Len()
	j.ID = id("batch_", j.Account, index)
	s.Jobs = s.Jobs.with(j)
	s.read(&j, 1)
	s.schedule(s.Now.Add(j.Behaviour.Validating), jobValidated, index)
	if j.Behaviour.Expires {
		s.schedule(s.Now.Add(24*time.Hour), jobExpired, index)
	}
	return okay(r.created(), s.showJob(&j, r.Dated)).with(header)
}

func (s *State) checkBatch(b *NewBatch) *Error {
	switch {
	case (b.InputFileID == "") == (b.InputBlob == ""):
		return Invalid("input_file_id", "One of input_file_id and input_blob must be given.")
	case b.InputBlob != "" && (b.OutputFolder == nil || b.OutputFolder.URL == ""):
		return Invalid("output_folder", "output_folder.url must be given with input_blob.")
	case b.InputBlob != "" && len(b.Metadata) > 0:
		return Invalid("metadata", "metadata is not supported with input_blob.") // A836
	case !slices.Contains(endpoints, b.Endpoint):
		return Invalid("endpoint", "endpoint is %q, must be one of %q.", b.Endpoint, endpoints)
	case b.CompletionWindow != window && !s.Behaviour.LateWindowCheck:
		return Invalid("completion_window", "completion_window is %q, must be %q.", b.CompletionWindow, window)
	case len(b.Metadata) > 16:
		return Invalid("metadata", "metadata has %d keys, at most 16 are allowed.", len(b.Metadata))
	}
	for _, key := range slices.Sorted(maps.Keys(b.Metadata)) {
		if len(key) > 64 || len(b.Metadata[key]) > 512 {
			return Invalid("metadata."+key, "A key of metadata has at most 64 characters, a value at most 512.") // A817
		}
	}
	if b.OutputExpires != nil {
		if b.OutputExpires.Anchor != "created_at" {
			return Invalid("output_expires_after.anchor", "output_expires_after.anchor is %q, must be \"created_at\".", b.OutputExpires.Anchor)
		}
		return s.checkExpiry("output_expires_after.seconds", time.Duration(b.OutputExpires.Seconds)*time.Second)
	}
	return nil
}

// attach finds the input of the job.
func (s *State) attach(j *Job, b *NewBatch) *Error {
	if b.InputBlob != "" {
		// What is wrong with a blob shows when the job is validated (A836).
		j.InputBlob, j.OutputFolder = b.InputBlob, strings.TrimSuffix(b.OutputFolder.URL, "/")
		if blob, ok := s.Blobs[b.InputBlob]; ok {
			j.BlobVersion, j.Content, j.Scan = blob.Version, blob.Content, blob.Scan
		}
		return nil
	}
	f, ok := s.File(j.Account, b.InputFileID)
	switch {
	case !ok:
		return Invalid("input_file_id", "The file %q does not exist in this resource.", b.InputFileID)
	case f.Purpose != purposeInput:
		return Invalid("input_file_id", "The file %s has purpose %q, must have %q.", f.ID, f.Purpose, purposeInput)
	case f.Status != fileProcessed:
		return Invalid("input_file_id", "The file %s is %s, must be %s.", f.ID, f.Status, fileProcessed)
	}
	j.InputFile, j.Content, j.Scan = f.ID, f.Content, f.Scan
	return nil
}

func (s *State) findJob(r Request) (*Job, *Error) {
	j, ok := s.Job(r.Account, r.ID)
	if !ok {
		return nil, notFound("No batch found with id '%s'.", r.ID)
	}
	return j, nil
}

func (s *State) getBatch(r Request) Answer {
	j, err := s.findJob(r)
	if err != nil {
		return Refused(err)
	}
	return okay(http.StatusOK, s.showJob(j, r.Dated))
}

// maxPage is the most that a page of jobs holds, and usualPage what it holds when
// nothing is said (A806).
const (
	maxPage   = 100
	usualPage = 20
)

// listBatches shows everybody's jobs of the account, the newest first (A806).
func (s *State) listBatches(r Request) Answer {
	limit := r.Page.Limit
	if limit == 0 {
		limit = usualPage
	}
	if limit < 1 || limit > maxPage {
		return Refused(Invalid("limit", "limit is %d, must be 1..%d.", limit, maxPage))
	}
	from := s.Jobs.Len() - 1
	if r.Page.After != "" {
		j, ok := s.Job(r.Account, r.Page.After)
		if !ok {
			return Refused(Invalid("after", "after is %q, must be the id of a batch.", r.Page.After))
		}
		from = indexOf(j.ID) - 1
	}
	data, more := []any{}, false
	for i := from; i >= 0; i-- {
		j := s.Jobs.At(i)
		if j.Account != r.Account {
			continue
		}
		if len(data) == limit {
			more = true
			break
		}
		data = append(data, s.showJob(j, r.Dated))
	}
	return okay(http.StatusOK, list(data, more))
}

// cancelBatch asks a job to stop (A833). Rows that are done by now will be
// delivered; the tokens stay held until the job has ended.
func (s *State) cancelBatch(r Request) Answer {
	found, err := s.findJob(r)
	if err != nil {
		return Refused(err)
	}
	j := *found
	switch j.Status {
	case Cancelling: // once more makes no difference
	case Validating, InProgress, Finalizing:
		j.Done = s.done(&j)
		// A job that was finalizing has all its rows and ends as completed.
		j.Behaviour.CancelLoses = j.Behaviour.CancelLoses || s.Behaviour.CancelLoses || j.Status == Finalizing
		if j.Behaviour.CancelLoses && j.Status != Validating {
			j.Done = j.Scan.Lines
		}
		j.Status, j.Cancelling = Cancelling, s.Now
		s.setJob(j)
		s.schedule(s.Now.Add(s.Behaviour.Cancelling), jobCancelled, indexOf(j.ID))
	default:
		return Refused(&Error{Status: http.StatusBadRequest, Code: "invalid_request", Message: "Cannot cancel a batch with status '" + j.Status + "'."})
	}
	return okay(http.StatusOK, s.showJob(&j, r.Dated))
}

// running is how long all rows of a job take.
func (j *Job) running() time.Duration {
	return j.Behaviour.Running + time.Duration(j.Scan.Lines)*j.Behaviour.PerRow
}

// done is how many rows are finished: they finish evenly over the time that all of
// them take (A831).
func (s *State) done(j *Job) int {
	switch j.Status {
	case Validating, Failed:
		return 0
	case InProgress:
		passed, all := s.Now.Sub(j.Started), j.running()
		if passed >= all {
			return j.Scan.Lines
		}
		return int(float64(j.Scan.Lines) * (float64(passed) / float64(all)))
	}
	return j.Done
}

// container is the URL of the container of a blob or folder.
func container(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	return u.Scheme + "://" + u.Host + "/" + name
}

func (s *State) denied(address string) bool { return s.Denied[container(address)] }

// quotaHeader tells the state of the deployment's quota (A828).
func quotaHeader(header map[string]string, held, limit int64) {
	header["deployment-enqueued-tokens"] = strconv.FormatInt(held, 10)
	header["deployment-maximum-enqueued-tokens"] = strconv.FormatInt(limit, 10)
}
