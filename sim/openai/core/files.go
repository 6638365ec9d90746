package core

import (
	"fmt"
	"net/http"
	"time"
)

// The states and purposes of files.
const (
	filePending   = "pending"
	fileProcessed = "processed"
	fileError     = "error"
	purposeInput  = "batch"
	purposeOutput = "batch_output"
)

// checkFile refuses what no batch input file may be (A811, A812).
func (s *State) checkFile(r Request) *Error {
	f := r.File
	if f.Purpose != purposeInput {
		return Invalid("purpose", "purpose is %q, must be %q: the only one that is simulated.", f.Purpose, purposeInput)
	}
	if f.Expiry != 0 {
		if f.Anchor != "created_at" {
			return Invalid("expires_after.anchor", "expires_after.anchor is %q, must be \"created_at\".", f.Anchor)
		}
		if err := s.checkExpiry("expires_after.seconds", f.Expiry); err != nil {
			return err
		}
	}
	n := s.inputs[r.Account]
	if f.Expiry == 0 && n.plain >= s.Limits.Files {
		return Invalid("file", "The resource has %d batch files that do not expire, at most %d are allowed; set expires_after or delete some.", n.plain, s.Limits.Files)
	}
	if f.Expiry != 0 && n.expiring >= s.Limits.ExpiringFiles {
		return Invalid("file", "The resource has %d batch files, at most %d are allowed; delete some.", n.expiring, s.Limits.ExpiringFiles)
	}
	return nil
}

func (s *State) checkExpiry(param string, d time.Duration) *Error {
	if d < s.Limits.MinExpiry || d > s.Limits.MaxExpiry {
		return Invalid(param, "%s is %d, must be %d..%d (14 to 30 days).", param, int64(d.Seconds()), int64(s.Limits.MinExpiry.Seconds()), int64(s.Limits.MaxExpiry.Seconds()))
	}
	return nil
}

// createFile takes an upload: it is pending for some seconds (A813).
func (s *State) createFile(r Request) Answer {
	if err := s.checkFile(r); err != nil {
		return Refused(err)
	}
	if r.File.Scan.Bytes > s.Limits.FileBytes {
		return Refused(TooLarge(s.Limits))
	}
	f := s.newFile(r)
	f.Content, f.Scan, f.Bytes = r.File.Content, r.File.Scan, r.File.Scan.Bytes
	return s.storeFile(r, f)
}

// TooLarge refuses a file above the limit (A810). A wire answers with it as soon as
// it has seen too many bytes.
func TooLarge(l Limits) *Error {
	return Invalid("file", "The file is larger than %d bytes, the most that is allowed.", l.FileBytes)
}

// importFile pulls a blob when the file leaves pending (A814).
func (s *State) importFile(r Request) Answer {
	if err := s.checkFile(r); err != nil {
		return Refused(err)
	}
	if r.File.Source == "" {
		return Refused(Invalid("content_url", "content_url is missing."))
	}
	f := s.newFile(r)
	f.Source = r.File.Source
	return s.storeFile(r, f)
}

func (s *State) newFile(r Request) File {
	f := File{Account: r.Account, Name: r.File.Name, Purpose: r.File.Purpose, Created: s.Now, Status: filePending, Owner: r.owner()}
	if r.File.Expiry != 0 {
		f.Expires = s.Now.Add(r.File.Expiry)
	}
	return f
}

func (s *State) storeFile(r Request, f File) Answer {
	stored := s.addFile(f)
	s.count(f, 1)
	index := s.Files.Len() - 1
	s.schedule(s.Now.Add(s.Behaviour.FilePending), fileReady, index)
	if !stored.Expires.IsZero() {
		s.schedule(stored.Expires, fileExpired, index)
	}
	// Location points at the new file in the dated API (A805).
	answer := okay(r.created(), s.showFile(stored, r.Dated))
	if r.Dated {
		answer = answer.with(map[string]string{"Location": "/openai/files/" + stored.ID})
	}
	return answer
}

func (r Request) owner() string {
	if r.Caller == nil {
		return "" // an api-key names nobody
	}
	return r.Caller.ID
}

func (s *State) findFile(r Request) (*File, *Error) {
	f, ok := s.File(r.Account, r.ID)
	if !ok {
		return nil, notFound("No such File object: %s", r.ID)
	}
	return f, nil
}

func (s *State) getFile(r Request) Answer {
	f, err := s.findFile(r)
	if err != nil {
		return Refused(err)
	}
	return okay(http.StatusOK, s.showFile(f, r.Dated))
}

func (s *State) fileContent(r Request) Answer {
	f, err := s.findFile(r)
	if err != nil {
		return Refused(err)
	}
	if f.Status != fileProcessed {
		return Refused(Invalid("file_id", "The file %s is %s, must be %s.", f.ID, f.Status, fileProcessed))
	}
	return Answer{Status: http.StatusOK, Content: f.Content}
}

// deleteFile takes a file away. A job that reads it goes on with what it has
// (A815).
func (s *State) deleteFile(r Request) (Answer, []Effect) {
	f, err := s.findFile(r)
	if err != nil {
		return Refused(err), nil
	}
	effects := s.dropFile(*f)
	return okay(http.StatusOK, map[string]any{"id": f.ID, "object": "file", "deleted": true}), effects
}

// dropFile marks a file as gone; its content goes too unless a job still reads
// it, or it is a blob's.
func (s *State) dropFile(f File) []Effect {
	f.Gone = true
	s.setFile(f)
	s.count(f, -1)
	return f.release()
}

// release removes the content of a file that nobody can read any more.
func (f File) release() []Effect {
	if !f.Gone || f.Readers > 0 || f.Source != "" || f.Content == "" {
		return nil
	}
	return []Effect{{Remove: f.Content}}
}

// read changes by one how many jobs read the input file of a job.
func (s *State) read(j *Job, change int) []Effect {
	if j.InputFile == "" {
		return nil
	}
	f := *s.Files.At(indexOf(j.InputFile))
	f.Readers += change
	s.setFile(f)
	return f.release()
}

// inputs is how many batch input files an account has.
type inputs struct{ plain, expiring int }

// count changes by one how many batch input files the account of f has.
func (s *State) count(f File, change int) {
	if f.Purpose != purposeInput {
		return
	}
	n := s.inputs[f.Account]
	if f.Expires.IsZero() {
		n.plain += change
	} else {
		n.expiring += change
	}
	s.inputs = with(s.inputs, f.Account, n)
}

// listFiles shows everybody's files of the account, the newest first (A806).
func (s *State) listFiles(r Request) Answer {
	from := s.Files.Len() - 1
	if r.Page.After != "" {
		f, ok := s.File(r.Account, r.Page.After)
		if !ok {
			return Refused(Invalid("after", "after is %q, must be the id of a file.", r.Page.After))
		}
		from = indexOf(f.ID) - 1
	}
	limit := r.Page.Limit
	if limit == 0 {
		limit = s.Files.Len() + 1
	}
	data, more := []any{}, false
	for i := from; i >= 0; i-- {
		f := s.Files.At(i)
		if f.Account != r.Account || f.Gone || r.Page.Purpose != "" && f.Purpose != r.Page.Purpose {
			continue
		}
		if len(data) == limit {
			more = true
			break
		}
		data = append(data, s.showFile(f, r.Dated))
	}
	return okay(http.StatusOK, list(data, more))
}

func list(data []any, more bool) map[string]any {
	out := map[string]any{"object": "list", "data": data, "has_more": more, "first_id": nil, "last_id": nil}
	if len(data) > 0 {
		out["first_id"] = data[0].(map[string]any)["id"]
		out["last_id"] = data[len(data)-1].(map[string]any)["id"]
	}
	return out
}

// ready ends the pending state of a file (A813).
func (s *State) ready(index int) {
	f := *s.Files.At(index)
	if f.Gone {
		return
	}
	f.Status = fileProcessed
	if f.Source != "" {
		blob, ok := s.Blobs[f.Source]
		if !ok || s.denied(f.Source) || blob.Scan.Bytes > s.Limits.FileBytes {
			f.Status = fileError
		} else {
			f.Content, f.Scan, f.Bytes = blob.Content, blob.Scan, blob.Scan.Bytes
		}
	}
	s.setFile(f)
}

// output makes a file for results. Its size is set by Stored, once it is written.
func (s *State) output(j *Job, kind string) *File {
	f := File{Account: j.Account, Name: fmt.Sprintf("%s_%s.jsonl", j.ID, kind), Purpose: purposeOutput, Created: s.Now, Status: fileProcessed, Owner: j.Owner}
	if j.OutputExpiry != 0 {
		f.Expires = s.Now.Add(j.OutputExpiry)
	}
	f.Content = outputContent(s.Files.Len())
	stored := s.addFile(f)
	if !stored.Expires.IsZero() {
		s.schedule(stored.Expires, fileExpired, s.Files.Len()-1)
	}
	return stored
}

// outputContent names the content of the file of that index, which a job makes.
func outputContent(index int) string { return fmt.Sprintf("output-%08x", index) }

// Stored tells the state how large content is that an effect has written.
func Stored(s State, content string, size int64) State {
	if f := indexOf(content); f >= 0 && f < s.Files.Len() && s.Files.At(f).Content == content {
		file := *s.Files.At(f)
		file.Bytes = size
		s.setFile(file)
	}
	return s
}
