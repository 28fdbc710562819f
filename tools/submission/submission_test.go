package submission_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"bordereau/tools/submission"
	"bordereau/tools/table"
)

// script answers statements in turn and keeps them.
type script struct {
	replies []table.Table
	asked   []string
}

func (s *script) Query(_ context.Context, statement string) (table.Table, error) {
	s.asked = append(s.asked, statement)
	if len(s.asked) > len(s.replies) {
		return table.Table{}, errors.New("asked too often")
	}
	return s.replies[len(s.asked)-1], nil
}

func TestListBindsWhatNarrows(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 9, 12, 0, 0, time.UTC)
	s := &script{replies: []table.Table{
		{AuditID: "a1", Rows: []table.Row{{"S-1", "Claims Intake", "received", "O'Brien Haulage", "B", "northstar", "commercial_auto", at, at, at, nil, int64(7)}}},
		{AuditID: "a2", Rows: []table.Row{{"S-1", "D-1", "loss_run", "loss.pdf", int64(3)}, {"S-9", "D-9", "other", "x", int64(1)}}},
	}}
	l, err := submission.Lister{SQL: s}.List(t.Context(), submission.Ask{From: "2026-11-29", Insured: "o'b", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if l.Total != 7 || len(l.Submissions) != 1 || l.AuditID != "a1" || len(l.AuditIDs) != 2 {
		t.Errorf("list %+v", l)
	}
	got := l.Submissions[0]
	if got.Received != "2026-11-29T09:12:00Z" || got.Effective != "2026-11-29" || got.Completed != "" || len(got.Documents) != 1 || got.Documents[0].Pages != 3 {
		t.Errorf("submission %+v", got)
	}
	for _, want := range []string{"(DATE '2026-11-29' IS NULL OR", "(NULL IS NULL OR s.workflow = NULL)", "lower('o''b')", "LIMIT 1 OFFSET 0"} {
		if !strings.Contains(s.asked[0], want) {
			t.Errorf("%q isn't in %s", want, s.asked[0])
		}
	}
}

func TestListRefuses(t *testing.T) {
	t.Parallel()
	for _, ask := range []submission.Ask{{From: "29.11.2026"}, {To: "2026-02-30"}, {Limit: 201}, {Limit: -1}, {Offset: -1}, {Insured: "a\x00"}} {
		if _, err := (submission.Lister{SQL: &script{}}).List(t.Context(), ask); !errors.Is(err, submission.ErrAsk) {
			t.Errorf("%+v: %v", ask, err)
		}
	}
}

func TestPageBeyondTheLastKeepsTheTotal(t *testing.T) {
	t.Parallel()
	s := &script{replies: []table.Table{{AuditID: "a1"}, {AuditID: "a2", Rows: []table.Row{{int64(7)}}}}}
	l, err := submission.Lister{SQL: s}.List(t.Context(), submission.Ask{Offset: 50})
	if err != nil || l.Total != 7 || len(l.Submissions) != 0 {
		t.Errorf("%+v, %v", l, err)
	}
}
