package desk

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/run"
)

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

// maxFindings is the most findings of one answer.
const maxFindings = 20_000

// listFindings answers the findings that the filters choose: a page of them, in the run's order, or with order=severity the gravest first.
func (d *Desk) listFindings(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	q := r.URL.Query()
	offset, limit, err := pageOf(q)
	if err != nil {
		return err
	}
	b, revision, err := d.reviewed(r, p)
	if err != nil {
		return err
	}
	found := slices.DeleteFunc(b.Findings, func(f Finding) bool { return !chosen(f, q) })
	if q.Get("order") == "severity" {
		slices.SortStableFunc(found, func(a, b Finding) int { return rank(a.Severity) - rank(b.Severity) })
	}
	page := append([]Finding{}, found[min(offset, len(found)):min(offset+limit, len(found))]...)
	for i := range page {
		page[i].Evidence = nil // it comes with the one finding
	}
	answer(w, http.StatusOK, FindingList{Findings: page, Total: len(found), Revision: revision})
	return nil
}

// FindingList is a page of a run's findings.
type FindingList struct {
	Findings []Finding `json:"findings"`
	Total    int       `json:"total"`    // that the filters choose
	Revision int64     `json:"revision"` // of what was said of them
}

func pageOf(q url.Values) (offset, limit int, err error) {
	limit = maxFindings
	for name, into := range map[string]*int{"offset": &offset, "limit": &limit} {
		if text := q.Get(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 || n > 1<<30 {
				return 0, 0, &fault.Error{Code: fault.Invalid, Component: component, Message: name + " is no number of findings", Hint: "Write a number of 0 or more."}
			}
			*into = n
		}
	}
	return offset, min(limit, maxFindings), nil
}

func rank(severity string) int {
	all := []string{"critical", "major", "minor", "note"}
	if i := slices.Index(all, severity); i >= 0 {
		return i
	}
	return len(all)
}

// chosen tells whether a finding fits the filters.
func chosen(f Finding, q url.Values) bool {
	for name, have := range map[string]string{"severity": f.Severity, "rule": f.RuleID, "submission": f.SubmissionID, "outcome": f.Outcome} {
		if want := q.Get(name); want != "" && have != want {
			return false
		}
	}
	switch v := q.Get("disposition"); {
	case v == "open" && f.Disposition != "", v != "" && v != "open" && f.Disposition != v:
		return false
	}
	text := strings.ToLower(q.Get("q"))
	return text == "" || strings.Contains(strings.ToLower(f.Message+" "+f.Entity+" "+f.Field+" "+f.SubmissionID+" "+f.RuleID+" "+f.Comment), text)
}

// FindingShown is one finding with its evidence.
type FindingShown struct {
	Finding  Finding `json:"finding"`
	Revision int64   `json:"revision"`
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
	answer(w, http.StatusOK, FindingShown{b.Findings[i], revision})
	return nil
}

// Review is what a person says of a finding, over the revision that she saw.
type Review struct {
	Disposition string `json:"disposition"`
	Comment     string `json:"comment"`
	Revision    int64  `json:"revision"`
	Overwrite   bool   `json:"overwrite"` // what was said since
}

// Reviewed is the revision that a review made.
type Reviewed struct {
	Revision int64 `json:"revision"`
}

func (d *Desk) reviewFinding(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	x, err := d.run(r, p)
	if err != nil {
		return err
	}
	var in Review
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
	answer(w, http.StatusOK, Reviewed{out.Revision})
	return nil
}
