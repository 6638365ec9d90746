package core

import (
	"fmt"
	"time"
)

// Advance moves the clock to a time that is not before Now, and lets everything
// happen that is due by then, in order. It does not change s.
func Advance(s State, to time.Time) (State, []Effect) {
	var effects []Effect
	for {
		at, ok := s.Next()
		if !ok || at.After(to) {
			break
		}
		e := s.agenda.event
		s.agenda = merge(s.agenda.left, s.agenda.right)
		if at.After(s.Now) {
			s.Now = at
		}
		effects = append(effects, s.happen(e)...)
	}
	if to.After(s.Now) {
		s.Now = to
	}
	return s, effects
}

func (s *State) happen(e event) []Effect {
	switch e.kind {
	case fileReady:
		s.ready(e.index)
		return nil
	case fileExpired:
		if f := s.Files.At(e.index); !f.Gone {
			return s.dropFile(*f)
		}
		return nil
	}
	j := *s.Jobs.At(e.index)
	switch {
	case e.kind == jobValidated && j.Status == Validating:
		return s.validated(j)
	case e.kind == jobRan && j.Status == InProgress:
		j.Done = j.Scan.Lines
		j.Status, j.Finalizing = Finalizing, s.Now
		s.setJob(j)
		s.schedule(s.Now.Add(j.Behaviour.Finalizing), jobFinalized, e.index)
	case e.kind == jobFinalized && j.Status == Finalizing:
		return s.finalized(j, Completed)
	case e.kind == jobCancelled && j.Status == Cancelling:
		if j.Behaviour.CancelLoses && !j.Started.IsZero() {
			return s.finalized(j, Completed)
		}
		return s.finalized(j, Cancelled)
	case e.kind == jobExpired && !j.Terminal():
		j.Done = s.done(&j)
		return s.finalized(j, Expired)
	}
	return nil
}

// validated ends the validation of a job: it fails with the first kind of problem,
// or runs.
func (s *State) validated(j Job) []Effect {
	if problems := s.validate(&j); len(problems) > 0 {
		return s.fail(j, problems)
	}
	j.Status, j.Started = InProgress, s.Now
	s.setJob(j)
	s.schedule(s.Now.Add(j.running()), jobRan, indexOf(j.ID))
	return nil
}

// validate looks for problems in this order (A823): the blob, the file's lines, the
// deployment, the tokens.
func (s *State) validate(j *Job) []Problem {
	if j.Window != window {
		return []Problem{{Code: "invalid_request", Param: "completion_window", Message: fmt.Sprintf("completion_window is %q, must be %q.", j.Window, window)}}
	}
	if problem := s.blobProblem(j); problem != nil {
		return []Problem{*problem}
	}
	if problems := j.Scan.failure(); len(problems) > 0 {
		return problems
	}
	account, _ := s.account(j.Account)
	d, ok := account.deployment(j.Scan.Model)
	switch {
	case !ok:
		return []Problem{{Code: "model_not_found", Param: "body.model", Message: fmt.Sprintf("The deployment %q does not exist in this resource.", j.Scan.Model)}}
	case !d.batch():
		return []Problem{{Code: "invalid_request", Param: "body.model", Message: fmt.Sprintf("The deployment %q is %s, which takes no batch jobs.", d.Name, d.SKU)}}
	}
	exact := j.Scan.Tokens
	if j.Over || exact-j.Held > s.room(account, d) {
		return []Problem{{Code: "token_limit_exceeded", Message: tokenLimit(d)}}
	}
	j.Deployment = d.Name
	s.hold(j, exact)
	return nil
}

// blobProblem tells what is wrong with the blobs of a job, if it has some (A837).
func (s *State) blobProblem(j *Job) *Problem {
	if j.InputBlob == "" {
		return nil
	}
	blob, ok := s.Blobs[j.InputBlob]
	switch {
	case !ok || s.denied(j.InputBlob):
		return &Problem{Code: "input_no_permissions", Param: "input_blob", Message: "The input blob cannot be read by the identity of the resource."}
	case blob.Version != j.BlobVersion:
		return &Problem{Code: "input_modified", Param: "input_blob", Message: "The input blob has changed since the batch was created."}
	case s.denied(j.OutputFolder):
		return &Problem{Code: "input_no_permissions", Param: "output_folder", Message: "The output folder cannot be written by the identity of the resource."}
	}
	return nil
}

func (s *State) fail(j Job, problems []Problem) []Effect {
	j.Problems = problems
	return s.end(&j, Failed)
}

// end puts a job into a terminal state and gives its tokens back: only now (A829).
func (s *State) end(j *Job, status string) []Effect {
	s.hold(j, 0)
	j.Status, j.Ended = status, s.Now
	s.setJob(*j)
	return s.read(j, -1)
}

// finalized ends a job that has run, with the rows that are done.
func (s *State) finalized(j Job, status string) []Effect {
	if problem := s.blobProblem(&j); problem != nil {
		return s.fail(j, []Problem{*problem})
	}
	var effects []Effect
	if !j.Started.IsZero() {
		failures := j.failures(j.Done)
		render := s.render(&j, "", "")
		if j.InputBlob != "" {
			s.outputBlobs(&j, render, failures)
		} else {
			s.outputFiles(&j, render, failures)
		}
		effects = append(effects, Effect{Render: render})
	}
	return append(effects, s.end(&j, status)...)
}

// outputFiles makes the files of results. There is an error file even when no row
// failed, and no output file when all did (A842).
func (s *State) outputFiles(j *Job, r *Render, failures int) {
	errors := s.output(j, "errors")
	j.ErrorFile, r.Errors = errors.ID, errors.Content
	if failures < j.Done {
		output := s.output(j, "output")
		j.OutputFile, r.Output = output.ID, output.Content
	}
}
