package toolbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"

	"bordereau/agent/artifact"
	"bordereau/agent/turn"
	"bordereau/sandbox"
)

// maxParts bounds how many parts of a resource are read: 4 GiB in parts of 1 MiB.
const maxParts = 4096

// export is where governance keeps the whole result of a query.
type export struct {
	URI    string `json:"uri"`
	Format string `json:"format"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Parts  int    `json:"parts"`
}

// fetchExport puts the whole result of a query into the workspace and tells the model where, beside the preview.
func (s *session) fetchExport(ctx context.Context, c turn.Call, r turn.Result) (turn.Result, error) {
	raw := r.Output
	if raw == nil {
		raw = json.RawMessage(r.Text)
	}
	var head struct {
		AuditID string  `json:"audit_id"`
		Export  *export `json:"export"`
	}
	if json.Unmarshal(raw, &head) != nil || head.Export == nil || head.Export.URI == "" {
		return r, nil //nolint:nilerr // an answer that names no export, readable or not, is all there is
	}
	e := *head.Export
	if e.Parts < 1 || e.Parts > maxParts {
		return r, &turn.Failure{Component: "governance", Class: "internal", Message: "governance named an export of an impossible size"}
	}
	file := path.Join(sandbox.WorkspaceDir, "data", artifact.CleanName("query-"+head.AuditID+"."+e.Format))
	s.space.touch()
	err := s.space.do(ctx, func(id string) error {
		in := &parts{ctx: ctx, s: s, base: e.URI, count: e.Parts, sum: sha256.New(), progress: func(n int) {
			s.observer.Progress(c.ID, turn.Progress{Message: "fetching the whole result", Done: float64(n), Total: float64(e.Parts)})
		}}
		if err := s.c.Sandboxes.WriteFile(ctx, id, file, in); err != nil {
			return errors.Join(in.failed, err)
		}
		if got := hex.EncodeToString(in.sum.Sum(nil)); e.SHA256 != "" && got != e.SHA256 {
			return &fault{Code: "internal", Component: "governance", Message: "the export arrived damaged"}
		}
		return nil
	})
	if err != nil {
		var f *fault
		if !errors.As(err, &f) {
			f = ofSandbox(err)
		}
		if f.mendable() {
			return f.result(), nil
		}
		return turn.Result{}, f.failure(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(raw, &whole); err != nil {
		return turn.Result{}, fmt.Errorf("reading an answer: %w", err)
	}
	whole["export"] = map[string]any{"path": file, "format": e.Format, "rows": e.Rows, "bytes": e.Bytes, "sha256": e.SHA256}
	out, err := answer(whole)
	out.AuditIDs = r.AuditIDs
	return out, err
}

// parts reads a resource's parts one after the other.
type parts struct {
	ctx      context.Context //nolint:containedctx // an io.Reader has no other way to be stopped
	s        *session
	base     string
	count    int
	next     int
	rest     []byte
	sum      hash.Hash
	failed   error
	progress func(n int)
}

func (p *parts) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.next == p.count {
			return 0, io.EOF
		}
		p.next++
		part, err := p.s.resource(p.ctx, fmt.Sprintf("%s/%d", p.base, p.next))
		if err != nil {
			p.failed = err
			return 0, err
		}
		p.sum.Write(part)
		p.rest = part
		p.progress(p.next)
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
