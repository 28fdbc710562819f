// Package dataset keeps each organisation's data: it imports facts, builds immutable generations from them and pins them for readers.
package dataset

import (
	"time"
)

// The masking profiles, each a file of every generation. The server chooses one from the role, never from SQL.
const (
	Standard = "standard" // SSN, FEIN, licence number and birth date are masked
	Full     = "full"     // as imported
)

// Profiles lists the masking profiles.
func Profiles() []string { return []string{Standard, Full} }

// Pinned is one immutable DuckDB file of one organisation. It stays where it is until it is released.
type Pinned struct {
	Path       string // of the file, unique for ever: nothing else is ever found under this name
	Generation string // such as "000012-5f0c2a9be1d4", what an answer cites
	SHA256     string // of the file, in hex; of its hash and its log's, when changes lie beside it in a log
	Profile    string
}

// Counts says what an import did with the records of one kind.
type Counts struct {
	New       int64 `json:"new"`
	Replaced  int64 `json:"replaced"`
	Unchanged int64 `json:"unchanged"`
}

// ImportResult is what an import did.
type ImportResult struct {
	Generation string            `json:"generation"` // the one that holds what was imported
	Changed    bool              `json:"changed"`    // false: all was there already, and no generation was made
	Records    map[string]Counts `json:"records"`    // by kind: submission, document, row, field, edit
	Relations  map[string]int64  `json:"relations"`  // rows of each relation now
	Took       time.Duration     `json:"took"`
	// CompactionDue: so many rows were replaced since the files were last written in order that Compact is worth its time.
	CompactionDue bool `json:"compaction_due"`
	// Steps tells where the time went, in milliseconds.
	Steps map[string]int64 `json:"steps"`
}

// Organisation is what is known of an organisation that has data.
type Organisation struct {
	Org        string           `json:"org"`
	Generation string           `json:"generation"`
	Published  time.Time        `json:"published"`
	Relations  map[string]int64 `json:"relations"`
}

// DocumentMeta describes the stored file of a document.
type DocumentMeta struct {
	DocumentID string `json:"document_id"`
	Filename   string `json:"filename"`
	MediaType  string `json:"media_type"`
	SHA256     string `json:"sha256"`
	Bytes      int64  `json:"bytes"`
}

// Retired is what a retirement took away.
type Retired struct {
	Generations []string `json:"generations"` // gone
	Pinned      []string `json:"pinned"`      // due, but still read by somebody
	Bytes       int64    `json:"bytes"`
}
