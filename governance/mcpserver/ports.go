package mcpserver

import (
	"context"
	"io"
	"time"

	"bordereau/governance/gate"
	"bordereau/tools/vin"
)

// Refusals records each refused token and each call of a tool that a token doesn't list. A failure to record is logged;
// the refusal stands either way.
type Refusals interface {
	Refused(ctx context.Context, r Refusal) error
}

// Refusal is one refused call. Org, Turn and TokenID are what the token claims: they are verified only if Verified says so.
type Refusal struct {
	At       time.Time
	Kind     string // "malformed", "expired", "sandbox", "dead", "tool", "missing", "unavailable", "config", "stamp", "proof", "replayed"
	Verified bool   // the token itself was good: it is the tool that was refused
	Org      string
	Turn     string
	TokenID  string
	Sandbox  string // that the stamp vouches for, "" without a good one
	Tool     string // that was asked for, if the token was good
	Remote   string
	Token    string // SHA-256 of its text, in hex, "" without one
}

// VINs decodes vehicle schedules.
type VINs interface {
	DataDate() string
	Check(rows []vin.Row) []vin.Checked
}

// Reconciler compares submissions with carriers' guidelines. It reads them through the gate on behalf of the caller.
type Reconciler interface {
	// Reconcile writes a run as JSON, which is that of reports.Report, and says what it came to. Its run_id is id. progress may be
	// called with what is being done.
	Reconcile(ctx context.Context, id string, as gate.Principal, ask ReconcileAsk, progress func(message string), body io.Writer) (Reconciled, error)
}

// Reconciled is what a run came to.
type Reconciled struct {
	Generation  string
	CutShort    string
	Guideline   Guideline
	Submissions int
	Findings    int
	Decisions   map[string]int
	Severities  map[string]int
	Rules       map[string]int
	Gravest     []Finding // the first of the gravest findings
	AuditIDs    []string
}

// Finding is one of them, in short.
type Finding struct {
	ID           string `json:"id"`
	SubmissionID string `json:"submission_id"`
	RuleID       string `json:"rule_id"`
	Severity     string `json:"severity"`
	Action       string `json:"action"`
	Outcome      string `json:"outcome"`
	Entity       string `json:"entity"`
	Field        string `json:"field"`
	Message      string `json:"message"`
}

// ReconcileAsk says what to reconcile. Zero fields don't narrow.
type ReconcileAsk struct {
	Org           string   `json:"-"`
	From          string   `json:"from"` // UTC days of receipt, inclusive
	To            string   `json:"to"`
	Workflow      string   `json:"workflow"`
	SubmissionIDs []string `json:"submission_ids"`
	Guideline     string   `json:"guideline"` // id; "": each submission's carrier's
}

// Guidelines lists the guidelines that an organisation can reconcile against.
type Guidelines interface {
	Guidelines(ctx context.Context, org string) ([]Guideline, error)
}

// Guideline is one of them.
type Guideline struct {
	ID        string `json:"id"`
	Carrier   string `json:"carrier"`
	Name      string `json:"name"`
	Version   string `json:"version"`
	Effective string `json:"effective,omitempty"`
}

// Documents opens the file of a document of an organisation. An error that is fault.NotFound says that there is none.
type Documents interface {
	Document(ctx context.Context, org, id string) (io.ReadCloser, error)
}
