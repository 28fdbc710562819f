package reconcile

import "time"

// Schema names the JSON form of a Run. It is the form that reports read.
const Schema = "bordereau.run/1"

// Run is one reconciliation: what was compared, against what, and what was found, with the proof of each figure.
type Run struct {
	Schema      string             `json:"schema"`
	RunID       string             `json:"run_id"`
	Org         string             `json:"org"`
	Title       string             `json:"title"`
	Scope       RunScope           `json:"scope"`
	Guideline   RunGuideline       `json:"guideline"`
	Guidelines  []RunGuideline     `json:"guidelines,omitempty"` // all that were applied, when there are several
	Clock       time.Time          `json:"clock"`
	Generation  string             `json:"generation"`
	CutShort    string             `json:"cut_short,omitempty"`
	Submissions []SubmissionResult `json:"submissions"`
	Findings    []Finding          `json:"findings"`
	Queries     []Query            `json:"queries"`
	Log         []LogEntry         `json:"log"`
}

// RunScope is what the run was asked to look at, as reports show it.
type RunScope struct {
	From        string   `json:"from,omitempty"`
	To          string   `json:"to,omitempty"`
	Workflow    string   `json:"workflow,omitempty"`
	Submissions []string `json:"submission_ids,omitempty"`
}

// RunGuideline is the version of a carrier's rules that the run applied.
type RunGuideline struct {
	ID        string    `json:"id"`
	Carrier   string    `json:"carrier"`
	Name      string    `json:"name"`
	Version   string    `json:"version"`
	Effective string    `json:"effective"`
	SHA256    string    `json:"sha256"`
	Rules     []RunRule `json:"rules"`
}

// RunRule is one rule of a RunGuideline.
type RunRule struct {
	ID         string            `json:"id"`
	Text       string            `json:"text"`
	Severity   string            `json:"severity"`
	Action     string            `json:"action"`
	Scope      string            `json:"scope"`
	Basis      string            `json:"basis,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

// SubmissionResult is one submission as the run saw it.
type SubmissionResult struct {
	ID        string           `json:"id"`
	Insured   string           `json:"insured"`
	Broker    string           `json:"broker"`
	Workflow  string           `json:"workflow"`
	Received  time.Time        `json:"received"`
	Effective string           `json:"effective,omitempty"`
	Guideline string           `json:"guideline,omitempty"` // "id@version"
	Decision  string           `json:"decision"`
	Documents []DocumentResult `json:"documents"`
	Vehicles  []Item           `json:"vehicles"`
	Drivers   []Item           `json:"drivers"`
	Losses    []Item           `json:"losses"`
	Coverages []Item           `json:"coverages"`
}

// DocumentResult is one file of a submission.
type DocumentResult struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Filename string `json:"filename"`
	Pages    int    `json:"pages"`
	SHA256   string `json:"sha256,omitempty"`
}

// Item is a row of a schedule beside what was computed for it.
type Item struct {
	ID         string   `json:"id"`
	DocumentID string   `json:"document_id"`
	Label      string   `json:"label"`
	Cells      []Cell   `json:"cells"`
	Findings   []string `json:"findings,omitempty"`
}

// Cell is one value of an Item.
type Cell struct {
	Field    string `json:"field"`
	Value    string `json:"value"`
	Expected string `json:"expected,omitempty"`
	Verdict  string `json:"verdict,omitempty"` // agrees, variant, conflict, unresolved
}

// Finding is one thing that an underwriter should see.
type Finding struct {
	ID           string     `json:"id"`
	SubmissionID string     `json:"submission_id"`
	RuleID       string     `json:"rule_id"`
	Guideline    string     `json:"guideline,omitempty"` // "id@version" of the rule
	Severity     string     `json:"severity"`
	Action       string     `json:"action"`
	Outcome      string     `json:"outcome"` // fail, unknown; pass only for a declared supersession
	Class        string     `json:"class"`   // conflict, supersession, unresolved
	Entity       string     `json:"entity"`
	EntityID     string     `json:"entity_id,omitempty"`
	Field        string     `json:"field"`
	Message      string     `json:"message"`
	Stated       string     `json:"stated,omitempty"`
	Expected     string     `json:"expected,omitempty"`
	Explanation  string     `json:"explanation,omitempty"`
	Missing      []string   `json:"missing,omitempty"`
	Confidence   float64    `json:"confidence"`
	Evidence     []Evidence `json:"evidence"`
	Disposition  string     `json:"disposition,omitempty"`
	Comment      string     `json:"comment,omitempty"`
}

// Evidence is one source of a finding.
type Evidence struct {
	Kind       string     `json:"kind"` // document, decode, query
	AuditID    string     `json:"audit_id,omitempty"`
	DocumentID string     `json:"document_id,omitempty"`
	Filename   string     `json:"filename,omitempty"`
	DocType    string     `json:"document_type,omitempty"`
	FieldID    string     `json:"field_id,omitempty"`
	Field      string     `json:"field,omitempty"`
	Page       int        `json:"page,omitempty"`
	Box        [4]float64 `json:"box"`
	Raw        string     `json:"raw,omitempty"`
	Value      string     `json:"value,omitempty"`
	Confidence float64    `json:"confidence,omitempty"`
	EditedBy   string     `json:"edited_by,omitempty"`
	Source     string     `json:"source,omitempty"`
}

// Query is one governed query that the run read its data by.
type Query struct {
	AuditID string `json:"audit_id"`
	Purpose string `json:"purpose"`
	SQL     string `json:"sql"`
	Rows    int    `json:"rows"`
}

// LogEntry is one line of the run log.
type LogEntry struct {
	At      time.Time `json:"at"`
	Message string    `json:"message"`
}
