package mcpserver

import (
	"context"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/tools/extraction"
	"bordereau/tools/submission"
	"bordereau/tools/table"
)

// governed is the gate for one caller, as the domain tools ask it.
type governed struct {
	gate gate.Querier
	as   gate.Principal
	max  int // rows of one answer; more is an error, since the tools need all of them
}

var (
	_ submission.Querier = governed{}
	_ extraction.Querier = governed{}
)

// Query runs one statement and holds its rows.
func (g governed) Query(ctx context.Context, statement string) (table.Table, error) {
	rows := &collected{}
	answer, err := g.gate.Query(ctx, g.as, gate.Request{SQL: statement, MaxRows: g.max}, rows)
	if err != nil {
		return table.Table{}, err
	}
	if answer.Truncated {
		return table.Table{}, &fault.Error{
			Code: fault.TooLarge, Component: component, AuditID: answer.AuditID,
			Message: "there is more data than one answer may hold", Hint: "ask for less: fewer days, one submission, a smaller page",
		}
	}
	return table.Table{AuditID: answer.AuditID, Rows: rows.rows}, nil
}

// collected is a sink that keeps the rows.
type collected struct{ rows []table.Row }

func (c *collected) Begin([]gate.Column) error { return nil }

func (c *collected) Row(values []any) error {
	c.rows = append(c.rows, append(table.Row(nil), values...)) // the gate may use its slice again
	return nil
}
