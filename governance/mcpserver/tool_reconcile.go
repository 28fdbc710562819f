package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"bordereau/governance/fault"
	"bordereau/governance/run"
)

type reconcileAnswer struct {
	RunID       string         `json:"run_id"`
	URI         string         `json:"uri"`
	Parts       int            `json:"parts"`
	Generation  string         `json:"generation"`
	Guideline   Guideline      `json:"guideline"`
	Submissions int            `json:"submissions"`
	Decisions   map[string]int `json:"decisions"`
	Severities  map[string]int `json:"severities"`
	Rules       map[string]int `json:"rules"`
	Total       int            `json:"finding_count"`
	Findings    []Finding      `json:"findings"`
	Note        string         `json:"note,omitempty"`
	AuditIDs    []string       `json:"audit_ids"`
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
	body, err := os.CreateTemp("", "run-*.json")
	if err != nil {
		return nil, (&fault.Error{Code: fault.Unavailable, Component: "run", Message: "there is no room for the run", Retryable: true}).Because(err)
	}
	defer func() {
		_ = body.Close()
		_ = os.Remove(body.Name())
	}()
	made, err := s.c.Reconciler.Reconcile(ctx, id, principal(a.who, "reconcile"), ask, a.progress.say, body)
	if err != nil {
		return nil, err
	}
	answer := reconcileAnswer{
		RunID: id, URI: runURI(id), Generation: made.Generation, Guideline: made.Guideline, Submissions: made.Submissions, Decisions: made.Decisions,
		Severities: made.Severities, Rules: made.Rules, Total: made.Findings, Findings: made.Gravest, AuditIDs: made.AuditIDs,
	}
	switch {
	case made.CutShort != "":
		answer.Note = "The run was cut short: " + made.CutShort + "."
	case made.Findings > len(made.Gravest):
		answer.Note = fmt.Sprintf("Showing the %d gravest of %d findings; publish_report renders them all.", len(made.Gravest), made.Findings)
	}
	head, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("a run's head as JSON: %w", err)
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading a run: %w", err)
	}
	stored, err := s.c.Runs.Save(ctx, run.Run{
		ID: id, Org: a.who.Org, Role: a.who.Role, Person: a.who.Person, Conversation: a.who.Conversation, Turn: a.who.Turn, Created: s.c.Now(),
		Generation: made.Generation, Guideline: made.Guideline.ID, Submissions: made.Submissions, Findings: made.Findings, Head: head,
	}, body)
	if err != nil {
		return nil, (&fault.Error{Code: fault.Unavailable, Component: "run", Message: "the run could not be stored", Retryable: true}).Because(err)
	}
	answer.Parts = stored.Parts
	return answer, nil
}
