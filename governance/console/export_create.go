package console

import (
	"net/http"

	"bordereau/governance/export"
	"bordereau/governance/gate"
)

// exporting is a statement whose whole result shall be a file.
type exporting struct {
	asking
	Format string `json:"format"`
}

// exported is a file that can be fetched until it expires.
type exported struct {
	ID         string `json:"id"`
	URL        string `json:"url"`
	Format     string `json:"format"`
	Rows       int64  `json:"rows"`
	Bytes      int64  `json:"bytes"`
	SHA256     string `json:"sha256"`
	AuditID    string `json:"audit_id"`
	Generation string `json:"generation"`
	Truncated  bool   `json:"truncated"` // the policy's limit cut the rest
}

// files says of each format how it is written for people, and what a browser is told of it.
func files(format string) (f export.Format, contentType, extension string, ok bool) {
	switch format {
	case "csv":
		return export.Guarded, "text/csv; charset=utf-8", "csv", true
	case "xlsx":
		return export.Excel, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx", true
	case "parquet":
		return export.Parquet, "application/vnd.apache.parquet", "parquet", true
	case "arrow":
		return export.Arrow, "application/vnd.apache.arrow.stream", "arrows", true
	}
	return "", "", "", false
}

// owner is whose an export is: a person's, where tools' exports are their turn's. No turn has such an id.
func owner(p gate.Principal) string { return "console of " + p.Subject }

// createExport answers POST /api/console/exports. The file is whole before it can be fetched, so a failure is an answer and no half file.
func (c *Console) createExport(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	var ask exporting
	if err := decode(r, &ask); err != nil {
		return err
	}
	format, _, _, ok := files(ask.Format)
	if !ok {
		return invalid("there is no format of that name", "Formats are csv, xlsx, parquet and arrow.")
	}
	request, err := ask.request()
	if err != nil {
		return err
	}
	file, err := c.c.Exports.Create(r.Context(), p.Org, owner(p), format)
	if err != nil {
		return err
	}
	sink := &remembering{Sink: file}
	answer, err := c.c.Gate.Query(r.Context(), p, request, sink)
	if sink.failed != nil { // the gate would call it interrupted
		err = sink.failed
	}
	if err != nil {
		file.Abort()
		return err
	}
	e, err := file.Commit(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, exported{
		ID: e.ID, URL: "/api/console/exports/" + e.ID, Format: ask.Format, Rows: e.Rows, Bytes: e.Bytes, SHA256: e.SHA256,
		AuditID: answer.AuditID, Generation: answer.Generation, Truncated: answer.Truncated,
	})
	return nil
}

// remembering keeps why a sink failed.
type remembering struct {
	gate.Sink
	failed error
}

// Begin implements gate.Sink.
func (s *remembering) Begin(columns []gate.Column) error {
	s.failed = s.Sink.Begin(columns)
	return s.failed
}

// Row implements gate.Sink.
func (s *remembering) Row(values []any) error {
	s.failed = s.Sink.Row(values)
	return s.failed
}
