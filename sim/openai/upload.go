package openai

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"onedoor/sim/openai/core"
)

// upload takes a file as it comes in: its content goes to the store line by line. The
// fields beside it may come before or after.
func (s *Service) upload(r *core.Request, req *http.Request) (core.Answer, error) {
	parts, err := req.MultipartReader()
	if err != nil {
		return core.Refused(core.Invalid("", "The body must be multipart/form-data: %v", err)), nil
	}
	file, fields, refusal, err := s.parts(parts)
	if err == nil && refusal == nil {
		refusal = fill(file, fields)
	}
	if err != nil || refusal != nil {
		if file != nil {
			err = errors.Join(err, s.store.Remove(file.Content))
		}
		err = errors.Join(err, drain(req))
		if refusal != nil {
			return core.Refused(refusal), err
		}
		return core.Answer{}, err
	}
	r.File = file
	answer, err := s.apply(*r)
	if answer.Error != nil {
		err = errors.Join(err, s.store.Remove(file.Content))
	}
	return answer, err
}

// parts reads the form.
func (s *Service) parts(parts *multipart.Reader) (file *core.NewFile, fields map[string]string, refusal *core.Error, err error) {
	fields = map[string]string{}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return file, fields, nil, nil
		}
		if err != nil {
			return file, nil, core.Invalid("", "The form cannot be read: %v", err), nil
		}
		if part.FormName() != "file" {
			value, err := io.ReadAll(io.LimitReader(part, 1<<10))
			if err != nil {
				return file, nil, core.Invalid(part.FormName(), "The field cannot be read: %v", err), nil
			}
			// Both expires_after.seconds and expires_after[seconds] are sent.
			fields[strings.TrimSuffix(strings.ReplaceAll(part.FormName(), "[", "."), "]")] = string(value)
			continue
		}
		switch {
		case file != nil:
			return file, nil, core.Invalid("file", "The form holds more than one file."), nil
		case part.Header.Get("Content-Type") == "":
			return nil, nil, core.Invalid("file", "The part of the file has no Content-Type."), nil // A818
		}
		name, scan, err := s.take(part)
		if errors.Is(err, errTooLarge) {
			return nil, nil, core.TooLarge(s.State().Limits), nil
		}
		if err != nil {
			return nil, nil, nil, err
		}
		file = &core.NewFile{Name: part.FileName(), Content: name, Scan: scan}
	}
}

// fill puts the fields into the file.
func fill(file *core.NewFile, fields map[string]string) *core.Error {
	if file == nil {
		return core.Invalid("file", "The form holds no file.")
	}
	file.Purpose, file.Anchor = fields["purpose"], fields["expires_after.anchor"]
	if text := fields["expires_after.seconds"]; text != "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds < 1 || seconds > int64(time.Duration(1<<62)/time.Second) {
			return core.Invalid("expires_after.seconds", "expires_after.seconds is %q, must be a number of seconds.", text)
		}
		file.Expiry = time.Duration(seconds) * time.Second
	}
	return nil
}
