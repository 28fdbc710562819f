// Package desk is the HTTP API of guidelines and reconciliation runs: people read them, edit and publish rules, and say what they
// think of findings.
package desk

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"bordereau/governance/gate"
	"bordereau/governance/guidelines"
	"bordereau/governance/run"
	"bordereau/tools/guideline"
)

// component names this part in the errors that it makes itself.
const component = "desk"

// The roles, as tokens and sessions name them.
const (
	underwriter = "underwriter"
	analyst     = "analyst"
	admin       = "admin"
)

// Trier judges one submission by a guideline that isn't published, and writes the run's JSON.
type Trier interface {
	Try(ctx context.Context, as gate.Principal, library *guideline.Library, g *guideline.Guideline, submission string, body io.Writer) error
}

// People calls people by their names.
type People interface {
	Names(ctx context.Context, org string, subjects []string) (map[string]string, error)
}

// Config is what a Desk needs. All of it is required.
type Config struct {
	// Authorise says who asks, under which role. Its error is what the caller gets.
	Authorise  func(*http.Request) (gate.Principal, error)
	Guidelines *guidelines.Store
	Runs       *run.Store
	Workbooks  Workbooks
	Trier      Trier
	People     People
	Log        *slog.Logger
	Now        func() time.Time
	NewID      func() string
}

// Desk answers requests.
type Desk struct{ c Config }

// New returns a Desk.
func New(c Config) (*Desk, error) {
	if c.Authorise == nil || c.Guidelines == nil || c.Runs == nil || c.Workbooks == nil || c.Trier == nil || c.People == nil || c.Log == nil || c.Now == nil || c.NewID == nil {
		return nil, errors.New("desk: every field of Config is required")
	}
	return &Desk{c}, nil
}

// Endpoint is an address, the roles that may call it, and what answers.
type Endpoint struct {
	Pattern string   // of http.ServeMux, with its method
	Roles   []string // nil: every role
	Handler http.Handler
}

// Endpoints lists all that a Desk answers. Whoever mounts them holds back other roles.
func (d *Desk) Endpoints() []Endpoint {
	writers := []string{analyst, admin}
	reviewers := []string{underwriter, analyst, admin}
	var all []Endpoint
	for _, e := range []struct {
		pattern string
		roles   []string
		handle  handle
	}{
		{"GET /api/guidelines", nil, d.listGuidelines},
		{"GET /api/guidelines/names", nil, d.listNames},
		{"GET /api/guidelines/diff", nil, d.diffGuidelines},
		{"GET /api/guidelines/versions/{key}", nil, d.getGuideline},
		{"POST /api/guidelines/check", nil, d.checkGuideline},
		{"POST /api/guidelines/try", nil, d.tryGuideline},
		{"GET /api/guidelines/drafts/{id}", writers, d.getDraft},
		{"POST /api/guidelines/drafts", writers, d.createDraft},
		{"PUT /api/guidelines/drafts/{id}", writers, d.saveDraft},
		{"DELETE /api/guidelines/drafts/{id}", writers, d.discardDraft},
		{"POST /api/guidelines/drafts/{id}/publish", []string{admin}, d.publishDraft},
		{"GET /api/runs", nil, d.listRuns},
		{"GET /api/runs/{id}", nil, d.getRun},
		{"GET /api/runs/{id}/findings", nil, d.listFindings},
		{"GET /api/runs/{id}/findings/{finding}", nil, d.getFinding},
		{"PUT /api/runs/{id}/findings/{finding}/review", reviewers, d.reviewFinding},
	} {
		all = append(all, Endpoint{Pattern: e.pattern, Roles: e.roles, Handler: d.handler(e.roles, maxBody, e.handle)})
	}
	return append(all, Endpoint{Pattern: "POST /api/runs/{id}/reviews/workbook", Roles: reviewers, Handler: d.handler(reviewers, maxWorkbook, d.importWorkbook)})
}
