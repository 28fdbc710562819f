package gate

import (
	"context"
	"time"

	"bordereau/governance/audit"
)

// Pinned is a generation that can't be retired while it is pinned.
type Pinned struct {
	Generation string // its id, cited in each answer
	Path       string // absolute path of an immutable native DuckDB file, never used twice
	SHA256     string // of that file
}

// Pinner gives a generation of an organisation, "" for its newest, masked as profile says ("standard" or "full").
// release is called once the answer is out.
type Pinner interface {
	Pin(ctx context.Context, org, profile, generation string) (p Pinned, release func(), err error)
}

// Job is one checked statement for a worker.
type Job struct {
	Org  string
	Path string
	SQL  string
	// Relations are those that the statement was found to read. A worker refuses a plan that touches others; nil: it doesn't look.
	Relations []string
	Explain   bool          // give the plan instead of running it
	Timeout   time.Duration // of the run; waiting for a worker isn't counted
	MaxRows   int           // one row more makes the answer truncated
	MaxBytes  int64         // of encoded rows
	Memory    int64         // bytes DuckDB may use
}

// Ran is what a worker says of a job, also of one that failed.
type Ran struct {
	Columns   []Column
	Rows      int
	Bytes     int64
	Truncated bool
	Queue     time.Duration // waiting for a worker
	Run       time.Duration // from there to the last row
}

// Runner runs a job in a worker process that is killed when it overstays. Errors are *fault.Error.
type Runner interface {
	Run(ctx context.Context, job Job, sink Sink) (Ran, error)
}

// Recorder is the audit log: Asked before anything is done, Outcome when it is over.
type Recorder interface {
	Asked(ctx context.Context, e audit.Entry) error
	Outcome(ctx context.Context, e audit.Entry) error
	Spent(ctx context.Context, s audit.Scope) (audit.Spent, error)
}
