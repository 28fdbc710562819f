package console

import (
	"context"
	"io"

	"bordereau/governance/audit"
	"bordereau/governance/export"
	"bordereau/governance/run"
)

// Record is the audit log, as far as it is read.
type Record interface {
	Search(ctx context.Context, s audit.Search) (audit.Page, error)
	Statement(ctx context.Context, org, auditID string) (audit.Statement, error)
	Subjects(ctx context.Context, org string) ([]string, error)
	Spent(ctx context.Context, s audit.Scope) (audit.Spent, error)
}

// Runs are the stored reconciliation runs.
type Runs interface {
	OfTurn(ctx context.Context, org, turn string) ([]run.Run, error)
	Body(ctx context.Context, org, id string) ([]byte, error)
}

// Exports keeps whole results until they are fetched or expire.
type Exports interface {
	Create(ctx context.Context, org, owner string, format export.Format) (*export.Writer, error)
	Open(ctx context.Context, org, owner, id string) (export.Export, io.ReadCloser, error)
}

// People knows what the subjects of an organisation are called. One that it doesn't know is left out.
type People interface {
	Names(ctx context.Context, org string, subjects []string) (map[string]string, error)
}

var (
	_ Record  = (*audit.Log)(nil)
	_ Runs    = (*run.Store)(nil)
	_ Exports = (*export.Store)(nil)
)
