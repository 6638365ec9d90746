package openai

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"onedoor/sim/openai/core"
)

// Config describes a Service.
type Config struct {
	core.Config
	// Rules are what the model makes of requests; the zero value will do.
	Rules core.Rules
	// Store keeps what files hold; nil keeps it in memory.
	Store Store
	// Issued tells to whom a bearer token was issued; false for one that nobody
	// issued.
	Issued func(token string) (core.Principal, bool)
}

// Service is one simulated Azure OpenAI with all its accounts. All its methods may be
// called at the same time.
type Service struct {
	rules  core.Rules
	store  Store
	issued func(token string) (core.Principal, bool)

	mu     sync.Mutex
	state  core.State
	faults []*Fault
	log    []LogEntry
	stored int // counts contents, to name them
}

// New returns a Service.
func New(c Config) *Service {
	s := &Service{rules: c.Rules, store: c.Store, issued: c.Issued, state: core.New(c.Config)}
	if s.store == nil {
		s.store = NewMemory()
	}
	return s
}

// State returns the present state; it never changes under the caller.
func (s *Service) State() core.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Now is the virtual time.
func (s *Service) Now() time.Time { return s.State().Now }

// Advance moves the virtual clock; what is due happens, in order. The error is of the
// Store.
func (s *Service) Advance(d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, effects := core.Advance(s.state, s.state.Now.Add(d))
	s.state = next
	return s.carryOut(effects)
}

// Change replaces how files and jobs go from now on.
func (s *Service) Change(change func(*core.Behaviour)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state.Behaviour)
}

// DeleteDeployment takes a deployment away, as somebody might while a job runs.
func (s *Service) DeleteDeployment(account, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = core.DeleteDeployment(s.state, account, name)
}

// Deny takes the right to the container of a blob's URL from the accounts'
// identities, or gives it back.
func (s *Service) Deny(url string, denied bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = core.Deny(s.state, url, denied)
}

// PutBlob stores a blob that jobs and imports can read, or replaces one.
func (s *Service) PutBlob(url string, content io.Reader) error {
	name, scan, err := s.take(content)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = core.PutBlob(s.state, url, name, scan)
	return nil
}

// Blob opens a blob that a job has written or PutBlob has stored.
func (s *Service) Blob(url string) (io.ReadCloser, error) {
	blob, ok := s.State().Blobs[url]
	if !ok {
		return nil, fmt.Errorf("blob %q is not there", url)
	}
	r, _, err := s.store.Open(blob.Content)
	return r, err
}

// apply answers a request, and carries out what follows from it.
func (s *Service) apply(r core.Request) (core.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, answer, effects := core.Apply(s.state, s.rules, r)
	s.state = next
	return answer, s.carryOut(effects)
}

// carryOut is called with the lock held.
func (s *Service) carryOut(effects []core.Effect) error {
	for _, e := range effects {
		if e.Render != nil {
			sizes, err := render(s.store, s.rules, e.Render)
			if err != nil {
				return err
			}
			for content, size := range sizes {
				s.state = core.Stored(s.state, content, size)
			}
		}
		if e.Remove != "" {
			if err := s.store.Remove(e.Remove); err != nil {
				return err
			}
		}
	}
	return nil
}

// take streams content to the store and scans it on the way.
func (s *Service) take(content io.Reader) (name string, scan *core.Scan, err error) {
	s.mu.Lock()
	s.stored++
	name, limits := fmt.Sprintf("content-%06d", s.stored), s.state.Limits
	s.mu.Unlock()
	scan, err = scanTo(s.store, name, content, limits, s.rules)
	return name, scan, err
}

// LogEntry is one request, as a row of the category RequestResponse shows it.
type LogEntry struct {
	Time      time.Time
	Account   string
	Operation core.Operation
	// ObjectID is that of the caller; empty for an api-key and for nobody.
	ObjectID string
	// Status is the HTTP status that the client saw; 0 if the connection broke.
	Status int
	// Target is the file or job of the path.
	Target string
}

// Log returns the requests so far, in the order in which they were answered.
func (s *Service) Log() []LogEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

func (s *Service) record(r core.Request, status int) {
	e := LogEntry{Account: r.Account, Operation: r.Operation, Status: status, Target: r.ID}
	if r.Caller != nil {
		e.ObjectID = r.Caller.ID
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Time = s.state.Now
	s.log = append(s.log, e)
}
