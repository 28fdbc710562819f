package desk_test

import (
	"encoding/json"
	"errors"
	"io"
	"testing"

	"bordereau/governance/fault"
	"bordereau/governance/run"
	"bordereau/migrations/storetest"
)

// books reads a workbook that is JSON here; the real one is read in the whole program's tests.
type books struct{}

type book struct {
	Run      string        `json:"run"`
	Revision int64         `json:"revision"`
	Said     []run.Opinion `json:"said"`
}

func (books) read(raw []byte) (b book, err error) {
	if json.Unmarshal(raw, &b) != nil || b.Run == "" {
		return b, &fault.Error{Code: fault.Invalid, Component: "desk", Message: "no workbook"}
	}
	return b, nil
}

func (x books) Head(raw []byte) (string, int64, error) {
	b, err := x.read(raw)
	return b.Run, b.Revision, err
}

func (x books) Opinions(raw []byte, of io.Reader) ([]run.Opinion, error) {
	if body, err := io.ReadAll(of); err != nil || !json.Valid(body) {
		return nil, errors.Join(err, errors.New("not the run's JSON"))
	}
	b, err := x.read(raw)
	return b.Said, err
}

func reviewedWorkbookIsImported(t *testing.T, open storetest.Open) {
	t.Helper()
	s := bench(t, open)
	const to = "/api/runs/r-una/reviews/workbook"
	b := book{Run: "r-una", Said: []run.Opinion{{Finding: "F-0001", Disposition: "waived", Comment: "Agreed by phone."}, {Finding: "F-0002"}}}
	ask(t, s, "auditor/ada", "POST", to, b, 403)
	ask(t, s, "underwriter/uwe", "POST", to, b, 404)
	ask(t, s, "underwriter/una", "POST", to, book{Run: "r-uwe"}, 422)
	ask(t, s, "underwriter/una", "POST", to, "no workbook", 422)
	ask(t, s, "underwriter/una", "POST", to, book{Run: "r-una", Said: []run.Opinion{{Finding: "F-0009", Disposition: "waived"}}}, 422)
	if got := ask(t, s, "underwriter/una", "POST", to, b, 200); got["reviewed"] != 1.0 || got["unchanged"] != 1.0 || got["revision"] != 1.0 {
		t.Errorf("%v", got)
	}
	f, _ := ask(t, s, "underwriter/una", "GET", "/api/runs/r-una/findings/F-0001", nil, 200)["finding"].(map[string]any)
	if f["disposition"] != "waived" || f["comment"] != "Agreed by phone." || f["reviewed_by"] != "name of una" {
		t.Errorf("%v", f)
	}
	// Another person's copy is older than that.
	old := book{Run: "r-una", Said: []run.Opinion{{Finding: "F-0001", Disposition: "accepted"}}}
	got := ask(t, s, "analyst/ana", "POST", to, old, 200)
	clashes, _ := got["conflicts"].([]any)
	if len(clashes) != 1 || got["reviewed"] != 0.0 {
		t.Fatalf("%v", got)
	}
	if theirs, _ := clashes[0].(map[string]any)["theirs"].(map[string]any); theirs["person"] != "name of una" {
		t.Errorf("%v", clashes)
	}
	if got := ask(t, s, "analyst/ana", "POST", to+"?overwrite=true", old, 200); got["reviewed"] != 1.0 {
		t.Errorf("%v", got)
	}
}
