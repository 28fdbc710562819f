package desk

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/guidelines"
	"bordereau/tools/guideline"
)

// Listed is a guideline in a list.
type Listed struct {
	Key       string     `json:"key"`
	ID        string     `json:"id"`
	Carrier   string     `json:"carrier"`
	Name      string     `json:"name"`
	Version   string     `json:"version"`
	Effective string     `json:"effective"`
	Rules     int        `json:"rules"`
	Own       bool       `json:"own"`      // published by the organisation; else it comes with the program
	InForce   bool       `json:"in_force"` // what its carrier's submissions are judged by today
	Published *time.Time `json:"published,omitempty"`
	Person    string     `json:"person,omitempty"`
}

type guidelineList struct {
	Guidelines []Listed           `json:"guidelines"`
	Drafts     []guidelines.Draft `json:"drafts"` // none for who may not write
}

func (d *Desk) listGuidelines(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	library, err := d.c.Guidelines.Library(r.Context(), p.Org)
	if err != nil {
		return err
	}
	versions, err := d.c.Guidelines.Versions(r.Context(), p.Org)
	if err != nil {
		return err
	}
	out := guidelineList{Guidelines: []Listed{}, Drafts: []guidelines.Draft{}}
	if slices.Contains([]string{analyst, admin}, p.Role) {
		drafts, err := d.c.Guidelines.Drafts(r.Context(), p.Org)
		if err != nil {
			return err
		}
		out.Drafts = append(out.Drafts, drafts...)
	}
	var who []string
	for _, v := range versions {
		who = append(who, v.Person)
	}
	for _, x := range out.Drafts {
		who = append(who, x.Person)
	}
	names, err := d.c.People.Names(r.Context(), p.Org, who)
	if err != nil {
		return err
	}
	for i := range out.Drafts {
		out.Drafts[i].Person = names[out.Drafts[i].Person]
	}
	today := d.c.Now().UTC()
	for _, g := range library.All() {
		l := Listed{Key: g.Key(), ID: g.ID, Carrier: g.Carrier, Name: g.Name, Version: g.Version, Effective: g.Effective.Format(time.DateOnly), Rules: len(g.Rules)}
		if best, err := library.For(g.Carrier, today); err == nil {
			l.InForce = best.Key() == g.Key()
		}
		for _, v := range versions {
			if v.Key == l.Key {
				l.Own, l.Published, l.Person = true, &v.At, names[v.Person]
			}
		}
		out.Guidelines = append(out.Guidelines, l)
	}
	answer(w, http.StatusOK, out)
	return nil
}

// Rule is one rule, as people read it.
type Rule struct {
	ID       string `json:"id"`
	Text     string `json:"text"`
	Severity string `json:"severity"`
	Action   string `json:"action"`
	Scope    string `json:"scope"`
	Basis    string `json:"basis,omitempty"`
}

type shown struct {
	Listed
	SHA256     string            `json:"sha256"`
	Text       string            `json:"text,omitempty"` // of one's own
	Parameters map[string]string `json:"parameters"`
	RuleList   []Rule            `json:"rule_list"`
}

func (d *Desk) getGuideline(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	library, err := d.c.Guidelines.Library(r.Context(), p.Org)
	if err != nil {
		return err
	}
	g, err := library.ByKey(r.PathValue("key"))
	if err != nil {
		return err
	}
	out := show(g)
	versions, err := d.c.Guidelines.Versions(r.Context(), p.Org)
	if err != nil {
		return err
	}
	for _, v := range versions {
		if v.Key == g.Key() {
			out.Own, out.Text, out.Published = true, v.Text, &v.At
		}
	}
	answer(w, http.StatusOK, out)
	return nil
}

func show(g *guideline.Guideline) shown {
	out := shown{
		Listed: Listed{Key: g.Key(), ID: g.ID, Carrier: g.Carrier, Name: g.Name, Version: g.Version, Effective: g.Effective.Format(time.DateOnly), Rules: len(g.Rules)},
		SHA256: g.SHA256, Parameters: map[string]string{}, RuleList: []Rule{},
	}
	for _, x := range g.Parameters {
		out.Parameters[x.Name] = x.String()
	}
	for _, x := range g.Rules {
		out.RuleList = append(out.RuleList, Rule{ID: x.ID, Text: x.Text, Severity: x.Severity, Action: x.Action, Scope: string(x.Scope), Basis: x.Basis})
	}
	return out
}

// Name is what a rule may speak of.
type Name struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Meaning string `json:"meaning"`
}

// NameList is the vocabulary of rules.
type NameList struct {
	Names []Name `json:"names"`
}

func (d *Desk) listNames(w http.ResponseWriter, _ *http.Request, _ gate.Principal) error {
	all := []Name{}
	for _, n := range guideline.NewVocabulary().Names() {
		all = append(all, Name{n.Name, string(n.Kind), n.Meaning})
	}
	answer(w, http.StatusOK, NameList{all})
	return nil
}

// ChangeList is what differs between two guidelines.
type ChangeList struct {
	Changes []guideline.Change `json:"changes"`
}

func (d *Desk) diffGuidelines(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	library, err := d.c.Guidelines.Library(r.Context(), p.Org)
	if err != nil {
		return err
	}
	from, err := library.ByKey(r.URL.Query().Get("from"))
	if err != nil {
		return err
	}
	to, err := library.ByKey(r.URL.Query().Get("to"))
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, ChangeList{append([]guideline.Change{}, guideline.Diff(from, to)...)})
	return nil
}

// written is a text that a person is writing.
type written struct {
	Text string `json:"text"`
}

// checked is what is wrong with a text, or what it comes to.
type checked struct {
	Problems  []guideline.Problem `json:"problems"`
	Guideline *shown              `json:"guideline,omitempty"`
	Against   string              `json:"against,omitempty"` // the version in force of that id, which Changes compare with
	Changes   []guideline.Change  `json:"changes,omitempty"`
}

// checkGuideline is asked while somebody types: problems are its answer, and no failure.
func (d *Desk) checkGuideline(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	var in written
	if err := read(r, &in); err != nil {
		return err
	}
	g, err := d.c.Guidelines.Check(r.Context(), p.Org, in.Text)
	out := checked{Problems: []guideline.Problem{}}
	var problems guideline.Problems
	switch {
	case errors.As(err, &problems):
		out.Problems = append(out.Problems, problems...)
	case err != nil:
		return err
	default:
		s := show(g)
		out.Guideline = &s
		library, err := d.c.Guidelines.Library(r.Context(), p.Org)
		if err != nil {
			return err
		}
		if old, err := library.Named(g.ID, d.c.Now().UTC()); err == nil {
			out.Against, out.Changes = old.Key(), guideline.Diff(old, g)
		}
	}
	answer(w, http.StatusOK, out)
	return nil
}

func (d *Desk) createDraft(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	var in written
	if err := read(r, &in); err != nil {
		return err
	}
	made, err := d.c.Guidelines.Save(r.Context(), p.Org, guidelines.Draft{ID: d.c.NewID(), Text: in.Text, Person: p.Subject, At: d.c.Now()})
	if err != nil {
		return err
	}
	answer(w, http.StatusCreated, made)
	return nil
}

func (d *Desk) getDraft(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	draft, err := d.c.Guidelines.Draft(r.Context(), p.Org, r.PathValue("id"))
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, draft)
	return nil
}

// revised is a text over the revision that its writer saw.
type revised struct {
	Text     string `json:"text"`
	Revision int64  `json:"revision"`
}

func (d *Desk) saveDraft(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	var in revised
	if err := read(r, &in); err != nil {
		return err
	}
	if in.Revision < 1 {
		return guidelines.ErrChanged
	}
	saved, err := d.c.Guidelines.Save(r.Context(), p.Org, guidelines.Draft{ID: r.PathValue("id"), Revision: in.Revision, Text: in.Text, Person: p.Subject, At: d.c.Now()})
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, saved)
	return nil
}

func (d *Desk) discardDraft(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	if err := d.c.Guidelines.Discard(r.Context(), p.Org, r.PathValue("id"), p.Subject, d.c.Now()); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// publishing is the revision that its publisher saw.
type publishing struct {
	Revision int64 `json:"revision"`
}

func (d *Desk) publishDraft(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	var in publishing
	if err := read(r, &in); err != nil {
		return err
	}
	v, err := d.c.Guidelines.Publish(r.Context(), p.Org, r.PathValue("id"), in.Revision, p.Subject, d.c.Now())
	if err != nil {
		return err
	}
	d.c.Log.InfoContext(r.Context(), "a guideline is published", "org", p.Org, "guideline", v.Key, "person", p.Subject, "effective", v.Effective, "sha256", v.SHA256)
	answer(w, http.StatusCreated, v)
	return nil
}

// trying is a text to judge one submission by.
type trying struct {
	Text       string `json:"text"`
	Submission string `json:"submission"`
}

// tried is what came of it.
type tried struct {
	Decision string    `json:"decision"`
	Findings []Finding `json:"findings"`
}

// tryGuideline judges one submission by a text that is being written. Nothing is stored but the audit of what was read.
func (d *Desk) tryGuideline(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	var in trying
	if err := read(r, &in); err != nil {
		return err
	}
	if in.Submission == "" {
		return &fault.Error{Code: fault.Invalid, Component: component, Message: "no submission is named", Hint: "Give the id of one, such as from a list of submissions."}
	}
	g, err := d.c.Guidelines.Check(r.Context(), p.Org, in.Text)
	if err != nil {
		return err
	}
	library, err := d.c.Guidelines.Library(r.Context(), p.Org)
	if err != nil {
		return err
	}
	var body buffer
	if err := d.c.Trier.Try(r.Context(), p, library, g, in.Submission, &body); err != nil {
		return err
	}
	made, err := body.report()
	if err != nil {
		return err
	}
	if len(made.Submissions) == 0 {
		return &fault.Error{Code: fault.NotFound, Component: component, Message: "there is no submission with that id", Hint: "List submissions to find one."}
	}
	answer(w, http.StatusOK, tried{made.Submissions[0].Decision, append([]Finding{}, made.Findings...)})
	return nil
}
