package console

import (
	"context"
	"net/http"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
)

// comparing names two results and the columns by which their rows belong together.
type comparing struct {
	Left  side     `json:"left"`
	Right side     `json:"right"`
	Key   []string `json:"key"` // none: rows are the same or they aren't
}

// side is a statement to run, or one on record to run again: on the generation that it was run on, unless one is named.
type side struct {
	SQL        string `json:"sql"`
	AuditID    string `json:"audit_id"`
	Generation string `json:"generation"` // "newest" for the newest of a recorded one
}

// newest names the newest generation where "" would mean the recorded one.
const newest = "newest"

// compared is what differs between two results.
type compared struct {
	Left    comparedSide `json:"left"`
	Right   comparedSide `json:"right"`
	Columns []columnDiff `json:"columns"` // that only one has, or with another type
	diff
}

type comparedSide struct {
	AuditID    string        `json:"audit_id"` // of this run
	Generation string        `json:"generation"`
	SQLRun     string        `json:"sql_run"`
	Columns    []gate.Column `json:"columns"`
	Rows       int           `json:"rows"`
	Millis     float64       `json:"ms"`
}

type columnDiff struct {
	Name  string `json:"name"`
	Left  string `json:"left,omitempty"` // its type there
	Right string `json:"right,omitempty"`
}

// compare answers POST /api/console/compare. Both sides run now, through the gate, each with a record of its own.
func (c *Console) compare(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	var ask comparing
	if err := decode(r, &ask); err != nil {
		return err
	}
	if len(ask.Key) > maxKey {
		return invalid("the key has too many columns", "Name the few columns that tell rows apart.")
	}
	left, leftSide, err := c.side(r.Context(), p, ask.Left)
	if err != nil {
		return err
	}
	right, rightSide, err := c.side(r.Context(), p, ask.Right)
	if err != nil {
		return err
	}
	d, err := differ(left, right, ask.Key)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, compared{Left: leftSide, Right: rightSide, Columns: columnDiffs(left.columns, right.columns), diff: d})
	return nil
}

// side runs one side and holds its rows.
func (c *Console) side(ctx context.Context, p gate.Principal, s side) (*held, comparedSide, error) {
	if (s.SQL == "") == (s.AuditID == "") {
		return nil, comparedSide{}, invalid("a side is a statement or the audit id of one", "Send sql or audit_id for left and for right.")
	}
	if s.AuditID != "" {
		recorded, err := c.statement(ctx, p, s.AuditID)
		if err != nil {
			return nil, comparedSide{}, err
		}
		if s.SQL, err = again(recorded); err != nil {
			return nil, comparedSide{}, err
		}
		if s.Generation == "" {
			s.Generation = recorded.Generation
		}
	}
	if s.Generation == newest {
		s.Generation = ""
	}
	rows := &held{}
	answer, err := c.c.Gate.Query(ctx, p, gate.Request{SQL: s.SQL, MaxRows: maxCompared, Generation: s.Generation}, rows)
	if rows.failed != nil {
		err = rows.failed
	}
	if err != nil {
		return nil, comparedSide{}, err
	}
	if answer.Truncated {
		return nil, comparedSide{}, &fault.Error{
			Code: fault.TooLarge, Component: component, AuditID: answer.AuditID, Message: "a side has more rows than can be compared",
			Hint: "Filter or aggregate both statements in the same way.",
		}
	}
	return rows, comparedSide{
		AuditID: answer.AuditID, Generation: answer.Generation, SQLRun: answer.SQLAsRun, Columns: rows.columns, Rows: len(rows.rows), Millis: answer.MillisRun,
	}, nil
}

func columnDiffs(left, right []gate.Column) []columnDiff {
	out := []columnDiff{}
	there := map[string]string{}
	for _, c := range right {
		there[c.Name] = c.Type
	}
	for _, c := range left {
		if there[c.Name] != c.Type {
			out = append(out, columnDiff{c.Name, c.Type, there[c.Name]})
		}
		delete(there, c.Name)
	}
	for _, c := range right {
		if _, ok := there[c.Name]; ok {
			out = append(out, columnDiff{Name: c.Name, Right: c.Type})
		}
	}
	return out
}
