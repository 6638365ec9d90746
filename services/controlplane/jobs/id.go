package jobs

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"math"
	"strings"
	"time"
)

// Prefixes of ids, as OpenAI's clients know them.
const (
	filePrefix = "file-"
	jobPrefix  = "batch_"
)

var letters = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding) // sorts as its bytes do

// unique is how many bytes of an id tell what was made at the same time apart. They
// cannot be guessed.
const unique = 10

// id is an id that sorts before all older ones, as lists have them: newest first.
// It says when something was made, and nothing else.
func id(prefix string, made time.Time, rest []byte) string {
	text := binary.BigEndian.AppendUint64(nil, math.MaxInt64-uint64(made.UnixNano()))
	return prefix + letters.EncodeToString(append(text, rest[:unique]...))
}

func random() []byte {
	b := make([]byte, unique)
	_, _ = rand.Read(b) // which never fails
	return b
}

// NewFileID is an id for a file that is made now.
func NewFileID(now time.Time) string { return id(filePrefix, now, random()) }

// NewJobID is an id for a job that is made now.
func NewJobID(now time.Time) string { return id(jobPrefix, now, random()) }

// Before are the ids that files and jobs which were made before that time come behind
// in lists.
func Before(t time.Time) (file, job string) {
	last := bytes.Repeat([]byte{0xff}, unique)
	return id(filePrefix, t, last), id(jobPrefix, t, last)
}

// Made is when the job of an id was made; false if the id is of another form.
func Made(job string) (time.Time, bool) {
	text, ok := strings.CutPrefix(job, jobPrefix)
	data, err := letters.DecodeString(text)
	if !ok || err != nil || len(data) != 8+unique {
		return time.Time{}, false
	}
	return time.Unix(0, math.MaxInt64-int64(binary.BigEndian.Uint64(data))).UTC(), true //nolint:gosec // the sum that id took apart
}

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
