package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"bordereau/governance/audit"
	"bordereau/governance/gate"
)

// listed is a statement in a list.
type listed struct {
	AuditID      string    `json:"audit_id"`
	Asked        time.Time `json:"asked_at"`
	Seq          int64     `json:"seq"`
	Person       string    `json:"person"`
	Role         string    `json:"role"`
	Via          string    `json:"via"`
	Conversation string    `json:"conversation,omitempty"`
	Turn         string    `json:"turn,omitempty"`
	SQL          string    `json:"sql"` // its beginning
	Decision     string    `json:"decision"`
	Rule         string    `json:"rule,omitempty"`
	Outcome      string    `json:"outcome"`
	Relations    []string  `json:"relations"`
	Generation   string    `json:"generation,omitempty"`
	Rows         int64     `json:"rows"`
	Bytes        int64     `json:"bytes"`
	Truncated    bool      `json:"truncated"`
	QueueMillis  float64   `json:"queue_ms"`
	RunMillis    float64   `json:"run_ms"`
}

// shownSQL is how much of a statement a list shows.
const shownSQL = 400

func listedOf(s audit.Statement) listed {
	l := listed{
		AuditID: s.AuditID, Asked: s.Asked, Seq: s.First, Person: s.Subject, Role: s.Role, Via: s.Via, Conversation: s.Conversation, Turn: s.Turn,
		SQL: s.SQLAsked, Decision: s.Decision, Rule: s.Rule, Outcome: s.Outcome, Relations: s.Relations, Generation: s.Generation,
		Rows: s.Rows, Bytes: s.Bytes, Truncated: s.Truncated, QueueMillis: millis(s.Queue), RunMillis: millis(s.Run),
	}
	if s.Event == audit.Asked {
		l.Outcome = audit.Running
	}
	if len(l.SQL) > shownSQL {
		l.SQL = strings.ToValidUTF8(l.SQL[:shownSQL], "") + "…"
	}
	if l.Relations == nil {
		l.Relations = []string{}
	}
	return l
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

type statementList struct {
	Statements []listed          `json:"statements"`
	People     map[string]string `json:"people"`           // names of the persons in the list
	Next       string            `json:"next,omitempty"`   // after: of the next page. With it a page may be short, even empty: the search goes on there
	Looked     *time.Time        `json:"looked,omitempty"` // with next: everything asked since has been looked at
}

// listStatements answers GET /api/console/statements.
func (c *Console) listStatements(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	search, err := searchOf(r.URL.Query())
	if err != nil {
		return err
	}
	search.Org = p.Org
	out := statementList{Statements: []listed{}, People: map[string]string{}}
	if own(p) {
		if search.Subject != "" && search.Subject != p.Subject {
			writeJSON(w, http.StatusOK, out)
			return nil
		}
		search.Subject = p.Subject
	}
	page, err := c.c.Record.Search(r.Context(), search)
	if err != nil {
		return err
	}
	var subjects []string
	for _, s := range page.Statements {
		out.Statements = append(out.Statements, listedOf(s))
		subjects = append(subjects, s.Subject)
	}
	if page.Next != nil {
		out.Next = fmt.Sprintf("%d.%d", page.Next.AtUS, page.Next.Seq)
		out.Looked = &page.Looked
	}
	if out.People, err = c.names(r.Context(), p.Org, subjects); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func (c *Console) names(ctx context.Context, org string, subjects []string) (map[string]string, error) {
	names, err := c.c.People.Names(ctx, org, subjects)
	if err != nil {
		return nil, fmt.Errorf("reading people's names: %w", err)
	}
	if names == nil {
		names = map[string]string{}
	}
	return names, nil
}

// searchOf reads the filters of an address. One that there isn't is refused: it would choose more than was meant.
func searchOf(q url.Values) (audit.Search, error) {
	var s audit.Search
	for name, values := range q {
		v := values[0]
		if v == "" {
			continue
		}
		var err error
		switch name {
		case "person":
			s.Subject = v
		case "via":
			s.Via = v
		case "turn":
			s.Turn = v
		case "conversation":
			s.Conversation = v
		case "decision":
			s.Decision = v
		case "rule":
			s.Rule = v
		case "outcome":
			s.Outcome = v
		case "relation":
			s.Relation = strings.ToLower(v)
		case "column":
			s.Column = strings.ToLower(v)
			if relation, column, ok := strings.Cut(s.Column, "."); !ok || relation == "" || column == "" {
				err = invalid("column is no relation.column", "Write it as drivers.license_number.")
			}
		case "text":
			s.Text = v
		case "from":
			s.From, err = moment(name, v)
		case "to":
			s.To, err = moment(name, v)
		case "min_ms":
			s.MinRun, err = duration(name, v)
		case "max_ms":
			s.MaxRun, err = duration(name, v)
		case "after":
			s.After, err = place(v)
		case "limit":
			if s.Limit, err = strconv.Atoi(v); err != nil || s.Limit < 1 || s.Limit > 500 {
				err = invalid("limit is no number from 1 to 500", "")
			}
		default:
			err = invalid("there is no filter "+name, "Filters are person, turn, conversation, via, relation, column, decision, rule, outcome, text, from, to, min_ms and max_ms.")
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// moment reads a time, or a UTC day, which begins at midnight.
func moment(name, v string) (time.Time, error) {
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(form, v); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, invalid(name+" is no moment", "Write it as 2026-11-29 or 2026-11-29T12:00:00Z.")
}

func duration(name, v string) (time.Duration, error) {
	ms, err := strconv.ParseFloat(v, 64)
	if err != nil || !(ms >= 0 && ms <= 1e9) {
		return 0, invalid(name+" is no number of milliseconds", "")
	}
	return time.Duration(ms * float64(time.Millisecond)), nil
}

func place(v string) (audit.Place, error) {
	at, seq, ok := strings.Cut(v, ".")
	a, err1 := strconv.ParseInt(at, 10, 64)
	s, err2 := strconv.ParseInt(seq, 10, 64)
	if !ok || err1 != nil || err2 != nil {
		return audit.Place{}, invalid("after is no place in a list", "Use the next of the page before.")
	}
	return audit.Place{AtUS: a, Seq: s}, nil
}
