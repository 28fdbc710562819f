package generation

import (
	"crypto/sha256"
	"encoding/hex"

	"bordereau/governance/dataset/record"
)

// Job is what the builder process is told, as JSON on its standard input.
type Job struct {
	Mode string `json:"mode"` // one of the modes
	Dir  string `json:"dir"`  // an empty folder to build in
	Key  []byte `json:"key"`  // the organisation's, for masks that join
	// Masks are how the standard profile is masked, see ReadMasks. What starts from files and doesn't mask them anew names those of the files.
	Masks     map[string]string `json:"masks"`
	Full      string            `json:"full"` // the files to start from, "" for none
	Standard  string            `json:"standard"`
	Grow      bool              `json:"grow"`      // of an import: the two are the builder's own twins of what was published; only their logs may grow
	Relations map[string]int64  `json:"relations"` // with Grow: how many rows each relation has, for it takes long to count them; nil: they are counted
	Files     []Input           `json:"files"`     // of an import
	Facts     []string          `json:"facts"`     // of a rebuild: the folders of facts, oldest first
	Documents string            `json:"documents"` // the folder that keeps documents' files by hash
	Threads   int               `json:"threads"`
	MemoryMB  int               `json:"memory_mb"`
}

// The modes.
const (
	Import  = "import"
	Fold    = "fold" // the same data, with what the logs hold taken into the files
	Compact = "compact"
	Rebuild = "rebuild"
	Mask    = "mask" // the same data, masked anew
	Keys    = "keys" // writes what twins are looked up by, and nothing else
)

// Input is one file of an import.
type Input struct {
	Path      string `json:"path"`
	Name      string `json:"name"`
	Format    string `json:"format"`
	Documents string `json:"documents"`
}

// Result is what the builder process answers, as JSON on its standard output.
type Result struct {
	Problems  []record.Problem  `json:"problems,omitempty"` // if any, nothing was built
	Changed   bool              `json:"changed"`
	Counts    map[string]Counts `json:"counts"`
	Relations map[string]int64  `json:"relations"`
	Churn     int64             `json:"churn"` // rows of extracted_fields that this build replaced
	Full      Built             `json:"full"`
	Standard  Built             `json:"standard"`
	Facts     []Built           `json:"facts"`
	Overgrown bool              `json:"overgrown,omitempty"` // the changes don't fit a log: the same import must go without Grow
	Stored    string            `json:"stored"`              // a file with a JSON line for each document that came with its bytes
	Millis    map[string]int64  `json:"millis"`              // by step
	Error     string            `json:"error,omitempty"`
}

// Counts is what became of the records of one kind.
type Counts struct {
	New       int64 `json:"new"`
	Replaced  int64 `json:"replaced"`
	Unchanged int64 `json:"unchanged"`
}

// Built is one file that was built.
type Built struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Rows   int64  `json:"rows,omitempty"`
	// Log lies beside the file, as DuckDB's write-ahead log, and holds what changed since the file was written.
	Log *Built `json:"log,omitempty"`
	// Object is where a bucket has the file when several generations share it; "": at Path.
	Object string `json:"object,omitempty"`
}

// LogSuffix is what DuckDB adds to a file's name for its log.
const LogSuffix = ".wal"

// Sum identifies the content: the file's hash, or that of its and its log's hashes one after the other.
func (b Built) Sum() string {
	if b.Log == nil {
		return b.SHA256
	}
	both := sha256.Sum256([]byte(b.SHA256 + b.Log.SHA256))
	return hex.EncodeToString(both[:])
}

// Stored is one document whose file is kept.
type Stored struct {
	DocumentID string `json:"document_id"`
	SHA256     string `json:"sha256"`
	Bytes      int64  `json:"bytes"`
	Filename   string `json:"filename"`
	MediaType  string `json:"media_type"`
}

// maxProblems ends an import early: whoever mends a file mends these first.
const maxProblems = 20
