package schedule

import (
	"context"
	"database/sql"
	"io"
	"time"

	"bordereau/agent/artifact"
	"bordereau/agent/identity"
	"bordereau/agent/journal"
)

// Journal makes the turns that the clock starts and tells how they ended.
type Journal interface {
	// PostWith stores what also writes in the same transaction.
	PostWith(ctx context.Context, p journal.Post, also func(tx *sql.Tx, posted journal.Posted) error) (journal.Posted, error)
	Find(ctx context.Context, turn string) (journal.Turn, error)
	StepsOf(ctx context.Context, turn string) ([]journal.Step, error)
	ArtifactsOf(ctx context.Context, turn string) ([]journal.Artifact, error)
	Messages(ctx context.Context, o journal.Owner, conversation string, after int64, limit int) ([]journal.Message, error)
}

// People tells who a schedule's person is now: her role, and whether she is still one of the organisation.
type People interface {
	FindPerson(ctx context.Context, org, id string) (identity.Person, error)
}

// Files opens what turns delivered.
type Files interface {
	Open(ctx context.Context, org, sha string) (io.ReadSeekCloser, int64, error)
}

// Models knows which models a turn may ask for, the default first.
type Models interface{ Names() []string }

// Deliverer brings a letter to one destination. An error is best a *Refusal; any other is tried again.
type Deliverer interface {
	Deliver(ctx context.Context, to Destination, l Letter) (receipt string, err error)
}

// Letter is what is delivered.
type Letter struct {
	ID      string // the same at each attempt, so that a receiver can drop a repetition
	Parcel  Parcel
	Org     string
	Subject string
	Text    string // plain text, written by a model: untrusted
	Link    string // to the conversation
	Event   Event
	Files   []File
	Attempt int
	At      time.Time // when the run ended
}

// Event is a letter for programs.
type Event struct {
	Schedule     string    `json:"schedule"`
	Name         string    `json:"name"`
	Run          string    `json:"run"`
	Tick         time.Time `json:"tick"`
	Status       string    `json:"status"`
	Alert        string    `json:"alert,omitempty"`
	Found        *int      `json:"found,omitempty"`
	Conversation string    `json:"conversation"`
	Turn         string    `json:"turn"`
	URL          string    `json:"url,omitempty"`
	Text         string    `json:"text"`
}

// File is a file of a letter.
type File struct {
	Name      string
	MediaType string
	Size      int64
	SHA256    string
	Link      string
	Open      func(ctx context.Context) (io.ReadSeekCloser, error)
}

// Refusal says why a delivery failed. One that isn't Final is tried again.
type Refusal struct {
	Final   bool
	Message string // a sentence that names who refused what
	Hint    string
	Cause   error // for the log
}

func (r *Refusal) Error() string { return r.Message }

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

var (
	_ Journal = (*journal.Store)(nil)
	_ People  = (*identity.Directory)(nil)
	_ Files   = (*artifact.Store)(nil)
)
