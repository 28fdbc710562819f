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
	ErrInvalid  = errors.New("journal: invalid")
	ErrTooLarge = errors.New("journal: too large")
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
	AfterStep    int    // the turn took it after this step; of an answer: its last step
	Content      model.Message
	UI           json.RawMessage // of an answer: its parts as people see them (AI SDK UIMessage.parts); nil for a person's message
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
	Model        string // the adapter that was asked for; "" is the default
	Cause        string // what started it: "chat", "schedule", "api"
	Today        string // the day that "today" means, such as 2026-11-30; "" is the day on which it runs
	Outcome      Outcome
	Runner       string // who holds the lease
	Epoch        int64  // the fencing token
	LeaseUntil   time.Time
	IdleClaims   int   // claims since the last finished step
	EventMark    int64 // no event with a higher sequence number was ever published
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

// Attempt is one try of a step: a retry after a failure in passing, or by another runner after a crash.
type Attempt struct {
	Turn       string
	N          int
	Attempt    int
	Epoch      int64
	State      StepState
	ErrorClass string
	Error      string
	Started    time.Time
	FirstByte  time.Time // of a model's reply
	Ended      time.Time
}

// Chunk is a run of consecutive events of a turn, kept as they were published.
type Chunk struct {
	First  int64 // sequence number of Events[0]
	Epoch  int64
	Events []json.RawMessage
}

// Last is the sequence number of the last event; First-1 for an empty chunk.
func (c Chunk) Last() int64 { return c.First + int64(len(c.Events)) - 1 }

// Mark is one line of a turn's timeline.
type Mark struct {
	At    time.Time
	N     int // the step, 0 outside steps
	Epoch int64
	Kind  string // "queued", "claimed", "preflight", "first_byte", "sandbox", "governance", …
	Took  time.Duration
	Note  string
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
	Run          string // the reconciliation run that a report was rendered from; "" for other files
	Created      time.Time
}
