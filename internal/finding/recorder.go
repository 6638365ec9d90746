package finding

import (
	"fmt"
	"sync"
)

// Recorder gathers findings. Several checks may use it at the same time.
type Recorder struct {
	codes map[string]Code

	mu       sync.Mutex
	judged   map[string]int
	findings []Finding
}

// NewRecorder returns a Recorder of these codes.
func NewRecorder(codes []Code) *Recorder {
	r := &Recorder{codes: map[string]Code{}, judged: map[string]int{}}
	for _, c := range codes {
		r.codes[c.ID] = c
	}
	return r
}

// Judged notes that a thing was looked at for the codes, whatever was found.
func (r *Recorder) Judged(codes ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, code := range codes {
		r.judged[r.known(code).ID]++
	}
}

// Found notes a finding of the code.
func (r *Recorder) Found(code, subject, format string, args ...any) {
	c := r.known(code)
	r.add(c, c.Severity, subject, fmt.Sprintf(format, args...), c.Remedy)
}

// NotChecked notes that the codes could not be judged about subject, and why.
func (r *Recorder) NotChecked(subject, why string, codes ...string) {
	for _, code := range codes {
		r.add(r.known(code), NotChecked, subject, why, "mend what stands in the way, and run again")
	}
}

// Results are what was judged and found so far.
func (r *Recorder) Results() (judged map[string]int, findings []Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.judged, r.findings
}

func (r *Recorder) add(c Code, severity Severity, subject, message, remedy string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.findings = append(r.findings, Finding{Code: c.ID, Severity: severity, Subject: subject, Message: message, Remedy: remedy, Page: c.Page})
}

// known is the code's entry; a code without one is a fault of the program.
func (r *Recorder) known(code string) Code {
	c, ok := r.codes[code]
	if !ok {
		panic("finding: no code " + code)
	}
	return c
}
