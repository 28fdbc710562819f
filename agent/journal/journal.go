// Package journal is the durable record of conversations, turns and their steps, which a turn survives a crash by.
package journal

import (
	"encoding/json"
	"errors"
	"time"

	"bordereau/agent/model"
)

// Kinds of failure.
var (
	ErrNotFound = errors.New("journal: not found") // also for what belongs to another organisation
	ErrFenced   = errors.New("journal: lease lost to a newer epoch")
	ErrBusy     = errors.New("journal: conversation has a running turn")
	ErrConflict = errors.New("journal: conflict")
)

// Owner scopes every look-up: a row of another organisation is not found.
type Owner struct {
	Org    string
	Person string
	Role   string // "underwriter", "analyst", "auditor", "admin"
}

// Conversation is a talk between a person and the analyst.
type Conversation struct {
	ID      string
	Org     string
	Person  string
	Title   string
	Created time.Time
	Updated time.Time
}

// Message is one stored message of a conversation.
type Message struct {
	ID           string
	Conversation string
	Turn         string // "" while no turn has taken it
	Position     int64  // order in the conversation
	Content      model.Message
	Created      time.Time
}

// Status is where a turn is. Queued and Running are live; the others are terminal.
type Status string

// The statuses.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Completed Status = "completed"
	CutShort  Status = "cut_short"
	Cancelled Status = "cancelled"
	Failed    Status = "failed"
)

// Live tells whether a turn may still do anything.
func (s Status) Live() bool { return s == Queued || s == Running }

// Outcome is how a turn ended.
type Outcome struct {
	Status    Status `json:"status"`
	Reason    string `json:"reason,omitempty"`    // of CutShort: "steps", "tokens", "money", "deadline", "context", …
	Class     string `json:"class,omitempty"`     // of Failed: the error's class or code
	Fault     string `json:"fault,omitempty"`     // of Failed: "infrastructure" or "model"
	Component string `json:"component,omitempty"` // of Failed: "governance", "sandbox", "model", "journal", …
	Message   string `json:"message,omitempty"`   // a sentence for a person
	Hint      string `json:"hint,omitempty"`
	Step      int    `json:"step,omitempty"`
	Attempt   int    `json:"attempt,omitempty"`
}

// Turn is one answer in the making.
type Turn struct {
	ID           string
	Org          string
	Conversation string
	Person       string
	Role         string
	Model        string // the adapter that was asked for
	Outcome      Outcome
	Runner       string // who holds the lease
	Epoch        int64  // the fencing token
	LeaseUntil   time.Time
	Cancel       bool
	Created      time.Time
	Started      time.Time
	Ended        time.Time
	Deadline     time.Time
}

// StepKind says what a step does.
type StepKind string

// The kinds of step.
const (
	ModelStep StepKind = "model"
	ToolStep  StepKind = "tool"
)

// StepState is where a step is. A step found Started after a crash has an unknown outcome.
type StepState string

// The states.
const (
	Started  StepState = "started"
	Finished StepState = "done"
	StepFail StepState = "failed"
)

// Step is one side effect of a turn: a model call or a tool call.
type Step struct {
	Turn       string
	N          int // 1, 2, 3, …
	Kind       StepKind
	Name       string // the model's or the tool's
	State      StepState
	Epoch      int64
	Attempt    int
	Request    json.RawMessage
	Result     json.RawMessage
	ErrorClass string
	Started    time.Time
	Ended      time.Time
}

// Charge is one row of the usage ledger, unique by turn, step and attempt.
type Charge struct {
	Turn      string
	N         int
	Attempt   int
	Model     string
	Usage     model.Usage
	Estimated bool // the attempt's end was never seen
	At        time.Time
}

// Artifact is a file that a turn delivered. Its bytes are in the artifact store under SHA256.
type Artifact struct {
	ID           string
	Org          string
	Conversation string
	Turn         string
	Name         string // cleaned: no folder, no control character
	MediaType    string
	Size         int64
	SHA256       string
	Created      time.Time
}
