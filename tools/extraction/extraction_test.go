package extraction_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"bordereau/tools/extraction"
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

func field(id string, edits int64, value any) table.Row {
	at := time.Date(2026, 11, 29, 9, 12, 0, 500000000, time.UTC)
	return table.Row{id, "D-1", "S-1", "loss_run", "Claims Intake", nil, nil, nil, "vin", "1X", value, nil, 0.5, int64(2), 0.1, 0.2, 0.3, 0.4, at, edits > 0, edits > 0, edits, int64(2)}
}

func TestFieldsComeWithTheirEdits(t *testing.T) {
	t.Parallel()
	s := &script{replies: []table.Table{
		{AuditID: "a1", Rows: []table.Row{field("F-1", 0, nil), field("F-2", 1, "1Y")}},
		{AuditID: "a2", Rows: []table.Row{{"F-2", "E-1", "1X", "1Y", "ann", "human", time.Unix(0, 0), "typo"}}},
	}}
	x, err := extraction.Reader{SQL: s}.Read(t.Context(), extraction.Ask{DocumentID: "D'1"})
	if err != nil {
		t.Fatal(err)
	}
	if x.Total != 2 || len(x.AuditIDs) != 2 || x.Fields[0].Value != nil || len(x.Fields[0].Edits) != 0 || *x.Fields[1].Value != "1Y" {
		t.Errorf("%+v", x)
	}
	if e := x.Fields[1].Edits; len(e) != 1 || e[0].By != "ann" || *e[0].From != "1X" || e[0].At != "1970-01-01T00:00:00Z" {
		t.Errorf("edits %+v", e)
	}
	if b := x.Fields[0].Box; b == nil || *b != [4]float64{0.1, 0.2, 0.3, 0.4} || x.Fields[0].Extracted != "2026-11-29T09:12:00.5Z" {
		t.Errorf("field %+v", x.Fields[0])
	}
	if !strings.Contains(s.asked[0], "f.document_id = 'D''1'") || !strings.Contains(s.asked[1], "LIMIT 200 OFFSET 0") {
		t.Errorf("asked %q", s.asked)
	}
}

func TestNothingIsNotNotFound(t *testing.T) {
	t.Parallel()
	one, zero := []table.Row{{int64(1)}}, []table.Row{{int64(0)}}
	s := &script{replies: []table.Table{{}, {Rows: one}}}
	if x, err := (extraction.Reader{SQL: s}).Read(t.Context(), extraction.Ask{SubmissionID: "S-1"}); err != nil || len(x.Fields) != 0 {
		t.Errorf("a submission without fields: %+v, %v", x, err)
	}
	s = &script{replies: []table.Table{{}, {Rows: zero}}}
	if _, err := (extraction.Reader{SQL: s}).Read(t.Context(), extraction.Ask{SubmissionID: "S-1"}); !errors.Is(err, extraction.ErrNotFound) {
		t.Errorf("no submission: %v", err)
	}
	s = &script{replies: []table.Table{{}}}
	if _, err := (extraction.Reader{SQL: s}).Read(t.Context(), extraction.Ask{FieldID: "F-1"}); !errors.Is(err, extraction.ErrNotFound) {
		t.Errorf("no field: %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for _, ask := range []extraction.Ask{{}, {SubmissionID: "a", FieldID: "b"}, {FieldID: "a", Limit: 1001}, {FieldID: "a", Offset: -1}, {FieldID: "a\x00"}} {
		if _, err := (extraction.Reader{SQL: &script{}}).Read(t.Context(), ask); !errors.Is(err, extraction.ErrAsk) {
			t.Errorf("%+v: %v", ask, err)
		}
	}
}
