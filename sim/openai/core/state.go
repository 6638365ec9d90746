package core

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strconv"
	"time"
)

// State is everything the service knows. It is a value: Apply and Advance return
// a new one and leave the one they were given as it was. What maps hold
// never changes once stored; a change stores another value.
type State struct {
	// Now is the virtual time.
	Now      time.Time
	Accounts []Account
	Limits   Limits
	// Behaviour holds for what is created from now on.
	Behaviour Behaviour
	// Files and Jobs are in the order of their creation; an id holds the index.
	Files Table[File]
	Jobs  Table[Job]
	// Blobs are what jobs and imports can read, by URL.
	Blobs map[string]*Blob
	// Denied are the URLs of containers that the accounts may no longer reach.
	Denied map[string]bool

	pools  map[Pool]int64 // limits
	held   map[holder]int64
	pooled map[Pool]int64 // what is held of each pool
	spent  map[holder]spent
	inputs map[string]inputs // by account
	agenda *agenda           // what happens by itself
	// scheduled counts what has been put on the agenda.
	scheduled int
}

// holder is a deployment of an account.
type holder struct{ account, deployment string }

// New returns the state that a configuration describes.
func New(c Config) State {
	return State{
		Now: c.Start.UTC().Truncate(time.Second), Accounts: c.Accounts, Limits: c.Limits.withDefaults(), Behaviour: c.Behaviour,
		pools: c.Pools,
	}
}

// File is a file of an account. It is never changed after it was stored.
type File struct {
	ID, Account, Name, Purpose string
	// Content names what is stored; Bytes is its size.
	Content string
	Bytes   int64
	Scan    *Scan // nil for the files that jobs make
	Created time.Time
	Expires time.Time // zero means never
	Status  string    // pending, processed, error
	Source  string    // of an import
	Gone    bool      // deleted or expired
	Readers int       // jobs that read it and have not ended
	Owner   string    // object id of who made it; a job's files have the job's
}

// Job is a batch job. It is never changed after it was stored.
type Job struct {
	ID, Account, Owner string
	Behaviour          Behaviour
	Endpoint           string
	Window             string
	Metadata           map[string]string
	InputFile          string // id; empty for a blob
	InputBlob          string
	OutputFolder       string
	OutputExpiry       time.Duration
	Content            string // of the input
	Scan               *Scan
	BlobVersion        int // of the input blob when the job was made
	Deployment         string
	Status             string
	Problems           []Problem
	Held               int64 // tokens that count against the quota
	Over               bool  // did not fit when it was created
	Created            time.Time
	Started            time.Time // in_progress
	Finalizing         time.Time
	Cancelling         time.Time
	Ended              time.Time
	Done               int // rows that are finished, set when the job stops running
	OutputFile         string
	ErrorFile          string
	OutputBlob         string
	ErrorBlob          string
	// GoneAt is the row from which the deployment was no longer there; -1 if it
	// stayed (A834).
	GoneAt int
}

// Blob is a blob of the subscription's storage.
type Blob struct {
	Content string
	Version int // counts writes, as an etag would tell them apart
	Scan    *Scan
}

// The states of a job.
const (
	Validating = "validating"
	InProgress = "in_progress"
	Finalizing = "finalizing"
	Completed  = "completed"
	Failed     = "failed"
	Cancelling = "cancelling"
	Cancelled  = "cancelled"
	Expired    = "expired"
)

// Terminal tells whether a job has ended.
func (j *Job) Terminal() bool {
	return j.Status == Completed || j.Status == Failed || j.Status == Cancelled || j.Status == Expired
}

func (s State) account(name string) (Account, bool) {
	for _, a := range s.Accounts {
		if a.Name == name {
			return a, true
		}
	}
	return Account{}, false
}

// Ids are made of what they name, so that two runs agree; the last eight digits
// are the index (A804).
func id(prefix, account string, index int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s|%s|%d", prefix, account, index))
	return fmt.Sprintf("%s%s%08x", prefix, hex.EncodeToString(sum[:12]), index)
}

func indexOf(id string) int {
	if len(id) < 8 {
		return -1
	}
	n, err := strconv.ParseUint(id[len(id)-8:], 16, 31)
	if err != nil {
		return -1
	}
	return int(n)
}

// File returns a file that is there.
func (s State) File(account, id string) (*File, bool) {
	i := indexOf(id)
	if i < 0 || i >= s.Files.Len() {
		return nil, false
	}
	f := s.Files.At(i)
	return f, f.ID == id && f.Account == account && !f.Gone
}

// Job returns a job.
func (s State) Job(account, id string) (*Job, bool) {
	i := indexOf(id)
	if i < 0 || i >= s.Jobs.Len() {
		return nil, false
	}
	j := s.Jobs.At(i)
	return j, j.ID == id && j.Account == account
}

// with is m with one value replaced; m stays as it was.
func with[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	out := maps.Clone(m)
	if out == nil {
		out = map[K]V{}
	}
	out[key] = value
	return out
}

func (s *State) addFile(f File) *File {
	f.ID = id("file-", f.Account, s.Files.Len())
	s.Files = s.Files.with(f)
	return s.Files.At(s.Files.Len() - 1)
}

func (s *State) setFile(f File) { s.Files = s.Files.replace(indexOf(f.ID), f) }
func (s *State) setJob(j Job)   { s.Jobs = s.Jobs.replace(indexOf(j.ID), j) }
