package toolbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"bordereau/reports"
)

// reader is a renderer that opens every document.
type reader struct {
	report    *reports.Report
	documents map[string]string // id -> what was read, or why nothing was
}

func (p *reader) Render(ctx context.Context, r *reports.Report, open func(context.Context, string) ([]byte, error)) ([]Document, error) {
	p.report, p.documents = r, map[string]string{}
	for _, d := range r.Submissions[0].Documents {
		raw, err := open(ctx, d.ID)
		if err != nil {
			raw = []byte(err.Error())
		}
		p.documents[d.ID] = hex.EncodeToString(sum(raw))
		if len(raw) < 100 {
			p.documents[d.ID] = string(raw)
		}
	}
	return []Document{{"discrepancies.pdf", []byte("%PDF-1.7")}}, nil
}

func sum(raw []byte) []byte { s := sha256.Sum256(raw); return s[:] }

// TestReportCarriesReviewsAndDocuments publishes a run that a person has reviewed, with documents of several parts.
func TestReportCarriesReviewsAndDocuments(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("0123456789abcdef"), 1<<16+5) // two parts
	whole := bytes.Repeat([]byte("fedcba9876543210"), 1<<16)  // one part to the last byte
	hash := func(raw []byte) string { return hex.EncodeToString(sum(raw)) }
	run, err := json.Marshal(reports.Report{
		Schema: reports.Schema, RunID: "run-1",
		Submissions: []reports.Submission{{ID: "S-1", Documents: []reports.Document{
			{ID: "D-long", SHA256: hash(long)}, {ID: "D-whole", SHA256: hash(whole)}, {ID: "D-other", SHA256: hash([]byte("what the run read"))}, {ID: "D-gone"},
		}}},
		Findings: []reports.Finding{{ID: "F-0001"}, {ID: "F-0002", Evidence: []reports.Evidence{{Kind: "document", DocumentID: "D-long"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := &reader{}
	r := newRig(t, func(g *gov, c *Config) {
		c.Renderer = seen
		g.parts["bordereau://run/run-1/1"] = run
		g.parts["bordereau://review/run-1/1"] = []byte(`[{"seq":1,"finding":"F-0001","disposition":"error","person":"john","at":"2026-11-29T10:00:00Z"},
			{"seq":4,"finding":"F-0001","disposition":"waived","comment":"seen","person":"mary","at":"2026-11-29T12:00:00Z"}]`)
		g.parts["bordereau://document/D-long/1"], g.parts["bordereau://document/D-long/2"] = long[:1<<20], long[1<<20:]
		g.parts["bordereau://document/D-whole/1"] = whole
		g.parts["bordereau://document/D-other/1"] = []byte("another")
	})
	if got := call(t, r.open(t, 1), "publish_report", map[string]any{"run_id": "run-1"}); got.Error {
		t.Fatalf("got %s", got.Text)
	}
	if f := seen.report.Findings[0]; f.Disposition != "waived" || f.Comment != "seen" || f.ReviewedBy != "mary" || seen.report.Revision != 4 {
		t.Errorf("revision %d, %+v", seen.report.Revision, f)
	}
	if seen.report.Excerpts != reports.Shown {
		t.Errorf("excerpts: %q", seen.report.Excerpts)
	}
	for id, want := range map[string]string{
		"D-long": hash(long), "D-whole": hash(whole), "D-other": "The document is not the one that the run read.", "D-gone": "The document could not be read.",
	} {
		if got := seen.documents[id]; got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}
