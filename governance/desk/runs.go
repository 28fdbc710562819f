package desk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/run"
)

// buffer takes a run's JSON.
type buffer struct{ bytes.Buffer }

// body is what is read of a run's JSON; its whole form is the report's.
type body struct {
	Guidelines  []json.RawMessage `json:"guidelines"`
	Submissions []struct {
		ID       string `json:"id"`
		Insured  string `json:"insured"`
		Decision string `json:"decision"`
	} `json:"submissions"`
	Findings []Finding `json:"findings"`
}

func (b *buffer) report() (body, error) { return parse(b.Bytes()) }

func parse(raw []byte) (out body, err error) {
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("reading a run: %w", err)
	}
	return out, nil
}

// Finding is one thing that an underwriter should see, with what was said of it.
type Finding struct {
	ID           string            `json:"id"`
	SubmissionID string            `json:"submission_id"`
	RuleID       string            `json:"rule_id"`
	Guideline    string            `json:"guideline,omitempty"`
	Severity     string            `json:"severity"`
	Action       string            `json:"action"`
	Outcome      string            `json:"outcome"`
	Class        string            `json:"class"`
	Entity       string            `json:"entity"`
	Field        string            `json:"field"`
	Message      string            `json:"message"`
	Stated       string            `json:"stated,omitempty"`
	Expected     string            `json:"expected,omitempty"`
	Explanation  string            `json:"explanation,omitempty"`
	Missing      []string          `json:"missing,omitempty"`
	Confidence   float64           `json:"confidence"`
	Evidence     []json.RawMessage `json:"evidence,omitempty"`
	Disposition  string            `json:"disposition,omitempty"`
	Comment      string            `json:"comment,omitempty"`
	ReviewedBy   string            `json:"reviewed_by,omitempty"`
	ReviewedAt   *time.Time        `json:"reviewed_at,omitempty"`
}

// Head is a run in a list.
type Head struct {
	ID           string    `json:"id"`
	Person       string    `json:"person"`
	Conversation string    `json:"conversation,omitempty"`
	Created      time.Time `json:"created"`
	Guideline    string    `json:"guideline"`
	Submissions  int       `json:"submissions"`
	Findings     int       `json:"findings"`
}

// RunList is a page of runs, the newest first.
type RunList struct {
	Runs []Head `json:"runs"`
}

// RunShown is one run.
type RunShown struct {
	Run          Head            `json:"run"`
	Head         json.RawMessage `json:"head"`         // what the tool answered
	Dispositions []string        `json:"dispositions"` // that a finding may get
	SHA256       string          `json:"sha256"`       // of the run's body
}

// mine tells whether a person may see a run: her own, or any for who reads the organisation's.
func mine(p gate.Principal, r run.Run) bool { return p.Role != underwriter || r.Person == p.Subject }

// maxLooked bounds how many runs of others a list passes over.
const maxLooked = 2000

func (d *Desk) listRuns(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	const limit = 50
	var before time.Time
	if text := r.URL.Query().Get("before"); text != "" {
		var err error
		if before, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return &fault.Error{Code: fault.Invalid, Component: component, Message: "before is no moment", Hint: "Write it as 2026-11-29T12:00:00Z."}
		}
	}
	heads, who := []Head{}, []string{}
	for looked := 0; len(heads) < limit && looked < maxLooked; {
		runs, err := d.c.Runs.List(r.Context(), p.Org, before, 200)
		if err != nil {
			return err
		}
		for _, x := range runs {
			before = x.Created
			if looked++; mine(p, x) && len(heads) < limit {
				heads, who = append(heads, Head{x.ID, x.Person, x.Conversation, x.Created, x.Guideline, x.Submissions, x.Findings}), append(who, x.Person)
			}
		}
		if len(runs) < 200 {
			break
		}
	}
	names, err := d.c.People.Names(r.Context(), p.Org, who)
	if err != nil {
		return err
	}
	for i := range heads {
		heads[i].Person = names[heads[i].Person]
	}
	answer(w, http.StatusOK, RunList{heads})
	return nil
}

// run finds a run that the person may see.
func (d *Desk) run(r *http.Request, p gate.Principal) (run.Run, error) {
	x, err := d.c.Runs.Get(r.Context(), p.Org, r.PathValue("id"))
	if err == nil && !mine(p, x) {
		err = run.ErrNotFound
	}
	return x, err
}

func (d *Desk) getRun(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	x, err := d.run(r, p)
	if err != nil {
		return err
	}
	names, err := d.c.People.Names(r.Context(), p.Org, []string{x.Person})
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, RunShown{
		Run: Head{x.ID, names[x.Person], x.Conversation, x.Created, x.Guideline, x.Submissions, x.Findings}, Head: x.Head, Dispositions: run.Dispositions(), SHA256: x.SHA256,
	})
	return nil
}
