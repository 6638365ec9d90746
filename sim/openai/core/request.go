package core

import "time"

// Operation is what a request asks for.
type Operation string

// The operations, each with the data action that it needs (A802).
const (
	CreateFile  Operation = "files.create"
	ImportFile  Operation = "files.import"
	ListFiles   Operation = "files.list"
	GetFile     Operation = "files.get"
	FileContent Operation = "files.content"
	DeleteFile  Operation = "files.delete"
	CreateBatch Operation = "batches.create"
	ListBatches Operation = "batches.list"
	GetBatch    Operation = "batches.get"
	CancelBatch Operation = "batches.cancel"
	ListModels  Operation = "models.list"
	Chat        Operation = "chat.completions"
	Embeddings  Operation = "embeddings"
	Responses   Operation = "responses"
)

// Request is one request, as far as the wire has understood it.
type Request struct {
	Operation Operation
	// Account is the name of the account that it was sent to.
	Account string
	// Network is the label of the network that it came from.
	Network string
	// Caller is who the token was issued to; nil without a token, or with one
	// that nobody issued.
	Caller *Principal
	// Key says that the caller showed an api-key.
	Key bool
	// Dated says that the path was of the API with an api-version.
	Dated bool
	// ID is the file or job of the path.
	ID string
	// File is set for CreateFile and ImportFile.
	File *NewFile
	// Batch is set for CreateBatch.
	Batch *NewBatch
	// Page is set for lists.
	Page Page
	// Model is the deployment that a synchronous call names; Body is the call.
	Model string
	Body  []byte
}

// NewFile is a file that has been uploaded or is to be imported.
type NewFile struct {
	Name    string
	Purpose string
	// Expiry is how long the file lives; 0 means it does not expire.
	Expiry time.Duration
	// Anchor is what Expiry counts from; only "created_at" is allowed.
	Anchor string
	// Content names the content in the store; Scan is what was found in it.
	Content string
	Scan    *Scan
	// Source is the URL to import from.
	Source string
}

// NewBatch is the body of a request to create a job.
type NewBatch struct {
	InputFileID      string            `json:"input_file_id"`
	InputBlob        string            `json:"input_blob"`
	OutputFolder     *OutputFolder     `json:"output_folder"`
	Endpoint         string            `json:"endpoint"`
	CompletionWindow string            `json:"completion_window"`
	Metadata         map[string]string `json:"metadata"`
	OutputExpires    *ExpiresAfter     `json:"output_expires_after"`
}

// OutputFolder is where a job that reads a blob puts its results.
type OutputFolder struct {
	URL string `json:"url"`
}

// ExpiresAfter is the life of the files that a job makes.
type ExpiresAfter struct {
	Seconds int64  `json:"seconds"`
	Anchor  string `json:"anchor"`
}

// Page is which part of a list is asked for.
type Page struct {
	After   string
	Limit   int // 0 means the default, 20
	Purpose string
}

// Answer is what the service says.
type Answer struct {
	// Status is the HTTP status, also that of Error.
	Status int
	// Header is beyond the usual: quota, Retry-After, Location.
	Header map[string]string
	// Body is written as JSON; nil together with Content.
	Body any
	// Content names stored content that is the answer.
	Content string
	// Error is the refusal; then the state is as it was.
	Error *Error
}

// Effect is a change of stored content that follows from a step of the core.
type Effect struct {
	// Remove names content that nobody refers to any more.
	Remove string
	// Render, if set, is results to write.
	Render *Render
}
