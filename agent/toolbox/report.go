package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"bordereau/agent/artifact"
	"bordereau/agent/journal"
	"bordereau/agent/turn"
	"bordereau/reports"
)

// Bounds of what is rendered: the JSON of a run, and that of its reviews.
const (
	maxRun     = 1 << 30
	maxReviews = 256 << 20
)

var runID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

// publish renders a stored run to a workbook and a PDF.
func (s *session) publish(ctx context.Context, c turn.Call) (turn.Result, error) {
	var in struct {
		RunID string `json:"run_id"`
		Title string `json:"title"`
	}
	if err := decode(c, &in); err != nil {
		return turn.Result{}, err
	}
	if !runID.MatchString(in.RunID) {
		return turn.Result{}, invalid("run_id is no id of a run", "use the run_id that reconcile answered")
	}
	s.observer.Progress(c.ID, turn.Progress{Message: "reading the run"})
	report, err := s.report(ctx, in.RunID)
	if err != nil {
		return turn.Result{}, err
	}
	if title := strings.TrimSpace(in.Title); title != "" {
		report.Title = cutTitle(title)
	}
	s.observer.Progress(c.ID, turn.Progress{Message: fmt.Sprintf("rendering %d findings of %d submissions", len(report.Findings), len(report.Submissions))})
	report.Excerpts = s.mayShow(ctx, report)
	documents, err := s.c.Renderer.Render(ctx, report, s.opener(report))
	if err != nil {
		return turn.Result{}, (&fault{Code: "internal", Component: "reports", Message: "the report could not be rendered", Hint: "the log has the details"}).failure(err)
	}
	return s.deliver(ctx, report, documents)
}

func (s *session) deliver(ctx context.Context, report *reports.Report, documents []Document) (turn.Result, error) {
	type file struct {
		Name   string `json:"name"`
		Size   int64  `json:"size"`
		SHA256 string `json:"sha256"`
	}
	var files []file
	var artifacts []journal.Artifact
	for _, d := range documents {
		name := artifact.CleanName(d.Name)
		kept, err := s.c.Files.Put(ctx, artifact.Put{Org: s.turn.Org, Name: name, Content: bytes.NewReader(d.Content)})
		if err != nil {
			return turn.Result{}, (&fault{Code: "unavailable", Component: "artifacts", Message: "a report could not be kept", Hint: "the artifact store may be full or down"}).failure(err)
		}
		files = append(files, file{name, kept.Size, kept.SHA256})
		artifacts = append(artifacts, journal.Artifact{
			Org: s.turn.Org, Conversation: s.turn.Conversation, Turn: s.turn.ID, Name: name,
			MediaType: kept.MediaType, Size: kept.Size, SHA256: kept.SHA256, Run: report.RunID,
		})
	}
	severities := map[string]int{}
	for _, f := range report.Findings {
		severities[f.Severity]++
	}
	r, err := answer(map[string]any{
		"run_id": report.RunID, "artifacts": files, "findings": len(report.Findings), "severities": severities,
		"submissions": len(report.Submissions), "first": first(report.Findings),
	})
	r.Artifacts = artifacts
	return r, err
}

// maxFirst bounds the findings in the answer, in number and in bytes of their messages.
const (
	maxFirst      = 60
	maxFirstBytes = 9 << 10
)

// brief is a finding as the answer shows it.
type brief struct {
	ID           string `json:"id"`
	SubmissionID string `json:"submission_id"`
	RuleID       string `json:"rule_id"`
	Severity     string `json:"severity"`
	Outcome      string `json:"outcome"`
	Entity       string `json:"entity"`
	Message      string `json:"message"`
}

// first picks the gravest findings, in the report's order among equals.
func first(all []reports.Finding) []brief {
	order := []string{"critical", "major", "minor", "note"}
	rank := func(f reports.Finding) int {
		if i := slices.Index(order, f.Severity); i >= 0 {
			return i
		}
		return len(order)
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b reports.Finding) int { return rank(a) - rank(b) })
	out, size := []brief{}, 0
	for _, f := range sorted {
		message := f.Message
		if r := []rune(message); len(r) > 240 {
			message = string(r[:239]) + "…"
		}
		if size += len(message); size > maxFirstBytes || len(out) == maxFirst {
			break
		}
		out = append(out, brief{f.ID, f.SubmissionID, f.RuleID, f.Severity, f.Outcome, f.Entity, message})
	}
	return out
}

// report reads a run and what people said of its findings since.
func (s *session) report(ctx context.Context, id string) (*reports.Report, error) {
	r, err := reports.Read(&resourceReader{ctx: ctx, s: s, kind: "run", id: id, left: maxRun})
	if err != nil {
		return nil, unreadable("run", err)
	}
	if r.Schema != reports.Schema || r.RunID != id {
		return nil, (&fault{Code: "internal", Component: "governance", Message: fmt.Sprintf("the run is of schema %q, wanted %q", r.Schema, reports.Schema)}).failure(nil)
	}
	var reviews []reports.Review
	if err := json.NewDecoder(&resourceReader{ctx: ctx, s: s, kind: "review", id: id, left: maxReviews}).Decode(&reviews); err != nil {
		return nil, unreadable("review", err)
	}
	r.Review(reviews)
	return r, nil
}

// unreadable passes on why a resource could not be fetched, or says that its content is wrong.
func unreadable(kind string, err error) error {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	return (&fault{Code: "internal", Component: "governance", Message: "the " + kind + " can't be read"}).failure(err)
}

// resourceReader reads a resource part by part, each when it is wanted, so that a long one is never held as a whole.
type resourceReader struct {
	ctx  context.Context //nolint:containedctx // an io.Reader has no other way to be stopped
	s    *session
	kind string
	id   string
	left int // how much more may come
	n    int // parts so far
	part []byte
}

func (r *resourceReader) Read(p []byte) (int, error) {
	for len(r.part) == 0 {
		r.n++
		part, err := r.s.resource(r.ctx, fmt.Sprintf("bordereau://%s/%s/%d", r.kind, r.id, r.n))
		var f *fault
		switch {
		case r.n > 1 && errors.As(err, &f) && f.Code == "not_found":
			return 0, io.EOF
		case err != nil:
			return 0, err
		}
		if r.part, r.left = part, r.left-len(part); r.left < 0 {
			return 0, &fault{Code: "too_large", Component: "reports", Message: fmt.Sprintf("the %s is larger than a report can be made of", r.kind), Hint: "reconcile fewer submissions at once"}
		}
	}
	n := copy(p, r.part)
	r.part = r.part[n:]
	return n, nil
}

// whole reads the parts of a resource, until done says that these are all or there are no more.
func (s *session) whole(ctx context.Context, kind, id string, most int, done func([]byte) bool) ([]byte, error) {
	var raw []byte
	for n := 1; n <= maxParts; n++ {
		part, err := s.resource(ctx, fmt.Sprintf("bordereau://%s/%s/%d", kind, id, n))
		var f *fault
		if n > 1 && errors.As(err, &f) && f.Code == "not_found" {
			break
		}
		if err != nil {
			return nil, err
		}
		if raw = append(raw, part...); len(raw) > most {
			return nil, &fault{Code: "too_large", Component: "reports", Message: fmt.Sprintf("the %s has more than %d bytes", kind, most), Hint: "reconcile fewer submissions at once"}
		}
		if done(raw) {
			break
		}
	}
	return raw, nil
}

func cutTitle(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	if r := []rune(title); len(r) > 160 {
		title = string(r[:159]) + "…"
	}
	return title
}
