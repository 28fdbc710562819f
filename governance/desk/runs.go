package desk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
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
	answer(w, http.StatusOK, map[string]any{"runs": heads})
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

// reviewed reads a run's findings with what was said of them, and the run's revision.
func (d *Desk) reviewed(r *http.Request, p gate.Principal) (body, int64, error) {
	head, err := d.run(r, p)
	if err != nil {
		return body{}, 0, err
	}
	raw, err := d.c.Runs.Body(r.Context(), p.Org, head.ID)
	if err != nil {
		return body{}, 0, err
	}
	b, err := parse(raw)
	if err != nil {
		return b, 0, err
	}
	all, err := d.c.Runs.Reviews(r.Context(), p.Org, head.ID, 0)
	if err != nil {
		return b, 0, err
	}
	latest := run.Latest(all)
	var who []string
	for _, v := range latest {
		who = append(who, v.Person)
	}
	names, err := d.c.People.Names(r.Context(), p.Org, who)
	if err != nil {
		return b, 0, err
	}
	for i := range b.Findings {
		if v, ok := latest[b.Findings[i].ID]; ok {
			f := &b.Findings[i]
			f.Disposition, f.Comment, f.ReviewedBy, f.ReviewedAt = v.Disposition, v.Comment, names[v.Person], &v.At
		}
	}
	revision := int64(0)
	if len(all) > 0 {
		revision = all[len(all)-1].Seq
	}
	return b, revision, nil
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
	answer(w, http.StatusOK, map[string]any{
		"run": Head{x.ID, names[x.Person], x.Conversation, x.Created, x.Guideline, x.Submissions, x.Findings}, "head": x.Head, "dispositions": run.Dispositions(), "sha256": x.SHA256,
	})
	return nil
}

// maxFindings is the most findings of one answer.
const maxFindings = 20_000

func (d *Desk) listFindings(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	b, revision, err := d.reviewed(r, p)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	offset, _ := strconv.Atoi(q.Get("offset")) // not a number is the beginning
	wanted := func(f Finding) bool {
		for have, want := range map[string]string{f.Severity: q.Get("severity"), f.RuleID: q.Get("rule"), f.SubmissionID: q.Get("submission"), f.Outcome: q.Get("outcome")} {
			if want != "" && have != want {
				return false
			}
		}
		switch v := q.Get("disposition"); {
		case v == "open" && f.Disposition != "", v != "" && v != "open" && f.Disposition != v:
			return false
		}
		text := strings.ToLower(q.Get("q"))
		return text == "" || strings.Contains(strings.ToLower(f.Message+" "+f.Entity+" "+f.SubmissionID+" "+f.RuleID+" "+f.Comment), text)
	}
	total, page := 0, []Finding{}
	for _, f := range b.Findings {
		if !wanted(f) {
			continue
		}
		if total++; total > max(offset, 0) && len(page) < maxFindings {
			f.Evidence = nil // it comes with the one finding
			page = append(page, f)
		}
	}
	answer(w, http.StatusOK, map[string]any{"findings": page, "total": total, "revision": revision})
	return nil
}

func (d *Desk) getFinding(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	b, revision, err := d.reviewed(r, p)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(b.Findings, func(f Finding) bool { return f.ID == r.PathValue("finding") })
	if i < 0 {
		return run.ErrNotFound
	}
	answer(w, http.StatusOK, map[string]any{"finding": b.Findings[i], "revision": revision})
	return nil
}

func (d *Desk) reviewFinding(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	x, err := d.run(r, p)
	if err != nil {
		return err
	}
	var in struct {
		Disposition string `json:"disposition"`
		Comment     string `json:"comment"`
		Revision    int64  `json:"revision"`
		Overwrite   bool   `json:"overwrite"`
	}
	if err := read(r, &in); err != nil {
		return err
	}
	out, err := d.c.Runs.Review(r.Context(), run.Reviewing{
		Org: p.Org, Run: x.ID, Person: p.Subject, Via: "page", At: d.c.Now(), Base: in.Revision, Overwrite: in.Overwrite,
		Opinions: []run.Opinion{{Finding: r.PathValue("finding"), Disposition: in.Disposition, Comment: in.Comment}},
	})
	if err != nil {
		return err
	}
	if len(out.Conflicts) > 0 {
		names, err := d.c.People.Names(r.Context(), p.Org, []string{out.Conflicts[0].Theirs.Person})
		if err != nil {
			return err
		}
		theirs := out.Conflicts[0].Theirs
		answer(w, http.StatusConflict, map[string]any{"error": &fault.Error{
			Code: fault.Invalid, Component: component, Message: fmt.Sprintf("%s said %q of this finding in the meantime", names[theirs.Person], strings.Trim(theirs.Disposition+": "+theirs.Comment, ": ")),
			Hint: "Load it again, then say what you think.",
		}})
		return nil
	}
	answer(w, http.StatusOK, map[string]any{"revision": out.Revision})
	return nil
}
