package jobs

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"math"
	"time"
)

// Prefixes of ids, as OpenAI's clients know them.
const (
	filePrefix = "file-"
	jobPrefix  = "batch_"
)

var letters = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding) // sorts as its bytes do

// id is an id that sorts before all older ones, as lists have them: newest first.
// It says when something was made, and nothing else; ten bytes of it cannot be
// guessed.
func id(prefix string, made time.Time, unique []byte) string {
	text := binary.BigEndian.AppendUint64(nil, math.MaxInt64-uint64(made.UnixNano()))
	return prefix + letters.EncodeToString(append(text, unique[:10]...))
}

func random() []byte {
	b := make([]byte, 10)
	_, _ = rand.Read(b) // which never fails
	return b
}

// NewFileID is an id for a file that is made now.
func NewFileID(now time.Time) string { return id(filePrefix, now, random()) }

// NewJobID is an id for a job that is made now.
func NewJobID(now time.Time) string { return id(jobPrefix, now, random()) }

// Run are the ids of the file and the job of a declared job's run: the same however
// often they are asked for.
func Run(name string, at time.Time) (file, job string) {
	sum := sha256.Sum256([]byte(name))
	return id(filePrefix, at, sum[:]), id(jobPrefix, at, sum[:])
}

// OutputID and ErrorsID are those of the files of a job.
func OutputID(job string) string { return filePrefix + job[len(jobPrefix):] + "-output" }

// ErrorsID is the id of the job's file of errors.
func ErrorsID(job string) string { return filePrefix + job[len(jobPrefix):] + "-errors" }
