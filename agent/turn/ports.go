package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"bordereau/agent/journal"
	"bordereau/agent/model"
)

// Toolbox gives a turn its tools.
type Toolbox interface {
	// Open mints the turn's token (its epoch is t.Epoch) and checks that everything the turn may use answers: the
	// preflight. What the MCP server lists must equal the allow-list. A failure here, best a *Failure, ends the turn
	// as infrastructure before the model is asked. Open must not wait for a sandbox: fetch it beside the first model
	// call and let the first Call that needs it wait.
	Open(ctx context.Context, t journal.Turn, o Observer) (Tools, error)
}

// Tools are the tools of one turn under one epoch. The loop calls them from one goroutine at a time.
type Tools interface {
	// List is the same for the whole turn.
	List() []model.Tool
	// Call runs one tool. What the model can mend (bad SQL, refused, a program's own failure) is a Result with Error set.
	// An error ends the turn: best a *Failure; ErrUnknownOutcome when Call.Again is set and the earlier run can be
	// neither joined nor repeated. Cancelling ctx stops the work.
	Call(ctx context.Context, c Call) (Result, error)
	// Collect returns the files below /workspace/artifacts that are new or changed since the last Collect of this turn,
	// their bytes already in the artifact store. ID, Org, Conversation, Turn and Created may be left empty.
	Collect(ctx context.Context) ([]journal.Artifact, error)
	// Save keeps a tool's whole output in the workspace, when only part of it is shown to the model, and says where.
	Save(ctx context.Context, name string, content []byte) (path string, err error)
	// Close stops what the tools started and forgets the token; it works with an ended ctx's values under a bound of its own.
	Close(ctx context.Context) error
}

// Observer takes what happens beside the results. Its methods may be called from any goroutine and never block.
type Observer interface {
	// Progress says how far a call is: shown to people, never to the model.
	Progress(call string, p Progress)
	// Waited records time spent waiting for a part: "sandbox", "governance", …
	Waited(component string, began time.Time, took time.Duration, note string)
}

// Progress is how far a tool call is.
type Progress struct {
	Message string
	Done    float64
	Total   float64
}

// Call is one tool call.
type Call struct {
	ID    string // the model's id of the call
	Name  string
	Input json.RawMessage // a JSON object
	Key   string          // idempotency key "<turn>:<step>": the same key joins the running call or returns its stored result
	Again bool            // an earlier attempt under this key may have run: its runner died before it could tell
}

// Result is what a tool answers.
type Result struct {
	Text      string             // what the model reads; the loop cuts it to its budget and saves the whole
	Error     bool               // the tool failed in a way that the model can mend
	Output    json.RawMessage    // what people see; nil: Text
	Artifacts []journal.Artifact // files that the tool delivered, their bytes already in the artifact store
	AuditIDs  []string           // governance's records of what was asked
}

// ErrUnknownOutcome is a call whose earlier run can be neither joined nor repeated.
var ErrUnknownOutcome = errors.New("turn: outcome of the interrupted call is unknown")

// Failure is an error that names what failed, for the person and for whoever runs the system.
type Failure struct {
	Component string      // "governance", "sandbox", "model", "journal", "events", "artifacts", "toolbox"
	Class     string      // "auth", "unavailable", "timeout", "internal", …: fault.Code or model.Class
	Fault     model.Fault // empty: infrastructure
	Message   string      // a sentence, safe to show
	Hint      string
	Cause     error // for the log
}

func (f *Failure) Error() string {
	return fmt.Sprintf("%s: %s: %s", f.Component, f.Class, f.Message)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// Models finds the model that a turn asked for.
type Models interface {
	// Model returns the adapter for a name as in journal.Turn.Model; "" is the default. An unknown name is an error.
	Model(name string) (model.Model, error)
}

// Names finds the name of an organisation to greet it by; optional.
type Names interface {
	OrgName(ctx context.Context, org string) (string, error)
}
