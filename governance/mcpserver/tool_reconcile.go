package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"bordereau/governance/fault"
	"bordereau/governance/run"
)

// headFindings is how many findings an answer shows; the run has them all.
const headFindings = 20

// storedRun is what is read of a run's JSON; reports.Report is the whole of it.
type storedRun struct {
	Schema     string `json:"schema"`
	RunID      string `json:"run_id"`
	Generation string `json:"generation"`
	CutShort   string `json:"cut_short"`
	Guideline  struct {
		ID      string `json:"id"`
		Carrier string `json:"carrier"`
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"guideline"`
	Submissions []struct {
		Decision string `json:"decision"`
	} `json:"submissions"`
	Findings []headFinding `json:"findings"`
	Queries  []struct {
		AuditID string `json:"audit_id"`
	} `json:"queries"`
}

type headFinding struct {
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

type reconcileAnswer struct {
	RunID       string          `json:"run_id"`
	URI         string          `json:"uri"`
	Parts       int             `json:"parts"`
	Generation  string          `json:"generation"`
	Guideline   json.RawMessage `json:"guideline"`
	Submissions int             `json:"submissions"`
	Decisions   map[string]int  `json:"decisions"`
	Severities  map[string]int  `json:"severities"`
	Rules       map[string]int  `json:"rules"`
	Total       int             `json:"finding_count"`
	Findings    []headFinding   `json:"findings"`
	Note        string          `json:"note,omitempty"`
	AuditIDs    []string        `json:"audit_ids"`
}

// reconcile runs the engine as the caller and stores the run.
func (s *Server) reconcile(ctx context.Context, a asked) (any, error) {
	var ask ReconcileAsk
	if err := decode(a, &ask); err != nil {
		return nil, err
	}
	for field, day := range map[string]string{"from": ask.From, "to": ask.To} {
		if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
			return nil, &fault.Error{Code: fault.Invalid, Component: "reconcile", Message: field + " is a day such as 2026-11-29, not " + strconv.Quote(day), Hint: "there is no such day"}
		}
	}
	ask.Org = a.who.Org
	id := s.c.NewID()
	made, err := s.c.Reconciler.Reconcile(ctx, id, principal(a.who, "reconcile"), ask, a.progress.say)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(made)
	if err != nil {
		return nil, fmt.Errorf("a run as JSON: %w", err)
	}
	var r storedRun
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("reading a run: %w", err)
	}
	if r.RunID != id {
		return nil, &fault.Error{Code: fault.Internal, Component: "reconcile", Message: "the run has another id than it was given"}
	}
	answer := summary(r)
	head, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("a run's head as JSON: %w", err)
	}
	stored, err := s.c.Runs.Save(ctx, run.Run{
		ID: id, Org: a.who.Org, Role: a.who.Role, Person: a.who.Person, Conversation: a.who.Conversation, Turn: a.who.Turn, Created: s.c.Now(),
		Generation: r.Generation, Guideline: r.Guideline.ID, Submissions: len(r.Submissions), Findings: len(r.Findings), Head: head,
	}, body)
	if err != nil {
		return nil, (&fault.Error{Code: fault.Unavailable, Component: "run", Message: "the run could not be stored", Retryable: true}).Because(err)
	}
	answer.Parts = stored.Parts
	return answer, nil
}

func summary(r storedRun) reconcileAnswer {
	out := reconcileAnswer{
		RunID: r.RunID, URI: runURI(r.RunID), Generation: r.Generation, Submissions: len(r.Submissions), Total: len(r.Findings),
		Decisions:  map[string]int{"decline": 0, "refer": 0, "clear": 0},
		Severities: map[string]int{"critical": 0, "major": 0, "minor": 0, "note": 0},
		Rules:      map[string]int{}, Findings: []headFinding{}, AuditIDs: []string{},
	}
	if g, err := json.Marshal(r.Guideline); err == nil {
		out.Guideline = g
	}
	for _, s := range r.Submissions {
		out.Decisions[s.Decision]++
	}
	for _, f := range r.Findings {
		out.Severities[f.Severity]++
		out.Rules[f.RuleID]++
	}
	out.Findings = append(out.Findings, r.Findings[:min(headFindings, len(r.Findings))]...)
	for _, q := range r.Queries {
		out.AuditIDs = append(out.AuditIDs, q.AuditID)
	}
	switch {
	case r.CutShort != "":
		out.Note = "The run was cut short: " + r.CutShort + "."
	case len(r.Findings) > headFindings:
		out.Note = fmt.Sprintf("Showing %d of %d findings; publish_report renders them all.", headFindings, len(r.Findings))
	}
	return out
}
