// Package reports is a discrepancy report for an underwriter and her carrier's auditor, whatever its format.
package reports

import "time"

// Schema names the JSON form of a Report; a reconciliation run is stored and sent so.
const Schema = "bordereau.run/1"

// Report is one reconciliation run: what was compared, against what, and what was found, with the proof of each figure.
type Report struct {
	Schema      string       `json:"schema"`
	RunID       string       `json:"run_id"`
	Org         string       `json:"org"`
	Title       string       `json:"title"`
	Scope       Scope        `json:"scope"`
	Guideline   Guideline    `json:"guideline"`
	Guidelines  []Guideline  `json:"guidelines,omitempty"` // all that were applied, when there are several
	Clock       time.Time    `json:"clock"`                // the run's "now"; the same input, guideline and clock give the same run
	Generation  string       `json:"generation"`           // the data that was read
	CutShort    string       `json:"cut_short,omitempty"`
	Revision    int64        `json:"revision,omitempty"` // of the reviews that the findings carry
	Console     string       `json:"console,omitempty"`  // address of the console that links of the workbook open, such as https://bordereau.example
	Excerpts    string       `json:"excerpts,omitempty"` // Shown, or the sentence why pages of documents are left out
	Submissions []Submission `json:"submissions"`
	Findings    []Finding    `json:"findings"`
	Queries     []Query      `json:"queries"`
	Log         []LogEntry   `json:"log"`
}

// Shown is said of excerpts that a report holds.
const Shown = "shown"

// Applied is every guideline that the run applied.
func (r *Report) Applied() []Guideline {
	if len(r.Guidelines) > 0 {
		return r.Guidelines
	}
	return []Guideline{r.Guideline}
}

// Scope is what a run was asked to look at.
type Scope struct {
	From        string   `json:"from,omitempty"` // dates, inclusive, by UTC day of receipt
	To          string   `json:"to,omitempty"`
	Workflow    string   `json:"workflow,omitempty"`
	Submissions []string `json:"submission_ids,omitempty"`
}

// Guideline is the version of the carrier's rules that a run applied.
type Guideline struct {
	ID        string `json:"id"`
	Carrier   string `json:"carrier"`
	Name      string `json:"name"`
	Version   string `json:"version"`
	Effective string `json:"effective"`
	SHA256    string `json:"sha256"`
	Rules     []Rule `json:"rules"`
}

// Rule is one rule of a guideline.
type Rule struct {
	ID         string            `json:"id"`
	Text       string            `json:"text"`
	Severity   string            `json:"severity"` // critical, major, minor, note
	Action     string            `json:"action"`   // decline, refer, note
	Scope      string            `json:"scope"`    // submission, vehicle, driver, loss, coverage
	Basis      string            `json:"basis,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

// Submission is one submission as a run saw it.
type Submission struct {
	ID        string     `json:"id"`
	Insured   string     `json:"insured"`
	Broker    string     `json:"broker"`
	Workflow  string     `json:"workflow"`
	Received  time.Time  `json:"received"`
	Effective string     `json:"effective,omitempty"`
	Guideline string     `json:"guideline,omitempty"` // "id@version" of the rules applied
	Decision  string     `json:"decision"`            // decline, refer, clear: the strongest action of its findings
	Documents []Document `json:"documents"`
	Vehicles  []Item     `json:"vehicles"`
	Drivers   []Item     `json:"drivers"`
	Losses    []Item     `json:"losses"`
	Coverages []Item     `json:"coverages"`
}

// Document is one file of a submission.
type Document struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Filename string `json:"filename"`
	Pages    int    `json:"pages"`
	SHA256   string `json:"sha256,omitempty"`
}

// Item is a row of a schedule beside what was computed for it, such as a VIN's decode.
type Item struct {
	ID         string   `json:"id"` // the extracted row's
	DocumentID string   `json:"document_id"`
	Label      string   `json:"label"` // "unit 3", "driver Mary Major"
	Cells      []Cell   `json:"cells"` // in the order to show them
	Findings   []string `json:"findings,omitempty"`
}

// Cell is one value of an Item. Expected is "" where nothing was computed.
type Cell struct {
	Field    string `json:"field"`
	Value    string `json:"value"`
	Expected string `json:"expected,omitempty"`
	Verdict  string `json:"verdict,omitempty"` // agrees, variant, conflict, unresolved
}

// Finding is one thing that an underwriter should see.
type Finding struct {
	ID           string     `json:"id"` // the same for the same run, "F-0001", …
	SubmissionID string     `json:"submission_id"`
	RuleID       string     `json:"rule_id"`
	Guideline    string     `json:"guideline,omitempty"` // "id@version" of the rule
	Severity     string     `json:"severity"`
	Action       string     `json:"action"`
	Outcome      string     `json:"outcome"` // fail; unknown: can't be told, see Missing
	Class        string     `json:"class"`   // conflict, benign_variant, supersession, unresolved
	Entity       string     `json:"entity"`  // "unit 3", "driver Mary Major", "submission"
	EntityID     string     `json:"entity_id,omitempty"`
	Field        string     `json:"field"`
	Message      string     `json:"message"` // one sentence, with the figures
	Stated       string     `json:"stated,omitempty"`
	Expected     string     `json:"expected,omitempty"`
	Explanation  string     `json:"explanation,omitempty"` // how names, addresses or people were matched
	Missing      []string   `json:"missing,omitempty"`
	Confidence   float64    `json:"confidence"` // 0 to 1: the weakest evidence's
	Evidence     []Evidence `json:"evidence"`
	Disposition  string     `json:"disposition,omitempty"` // a reviewer's: accepted, waived, to_broker, error
	Comment      string     `json:"comment,omitempty"`
	ReviewedBy   string     `json:"reviewed_by,omitempty"`
	ReviewedAt   time.Time  `json:"reviewed_at,omitzero"`
}

// Review is what a person said of a finding of a run. Of several the newest is in force.
type Review struct {
	Seq         int64     `json:"seq"`
	Finding     string    `json:"finding"`
	Disposition string    `json:"disposition"`
	Comment     string    `json:"comment"`
	Person      string    `json:"person"`
	At          time.Time `json:"at"`
}

// Dispositions are what a reviewer may say of a finding.
func Dispositions() []string { return []string{"accepted", "waived", "to_broker", "error"} }

// Review puts what people said, in its order, on the findings.
func (r *Report) Review(all []Review) {
	at := make(map[string]*Finding, len(r.Findings))
	for i := range r.Findings {
		at[r.Findings[i].ID] = &r.Findings[i]
	}
	for _, v := range all {
		r.Revision = max(r.Revision, v.Seq)
		if f := at[v.Finding]; f != nil {
			f.Disposition, f.Comment, f.ReviewedBy, f.ReviewedAt = v.Disposition, v.Comment, v.Person, v.At
		}
	}
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
	Box        [4]float64 `json:"box"` // x0, y0, x1, y1 of the page, 0 to 1 from the top left
	Raw        string     `json:"raw,omitempty"`
	Value      string     `json:"value,omitempty"`
	Confidence float64    `json:"confidence,omitempty"`
	EditedBy   string     `json:"edited_by,omitempty"`
	Source     string     `json:"source,omitempty"` // of a decode: data set date, schema and key
}

// Query is one governed query that a run read its data by.
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
