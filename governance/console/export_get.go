package console

import (
	"io"
	"net/http"
	"strconv"

	"bordereau/governance/export"
	"bordereau/governance/gate"
)

// getExport answers GET /api/console/exports/{id} with the file, to who made it alone.
func (c *Console) getExport(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	e, content, err := c.c.Exports.Open(r.Context(), p.Org, owner(p), r.PathValue("id"))
	if err != nil {
		return err
	}
	defer content.Close()
	name := string(e.Format)
	if e.Format == export.Guarded {
		name = "csv"
	}
	_, contentType, extension, _ := files(name)
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", `attachment; filename="rows-`+e.ID+"."+extension+`"`)
	h.Set("Content-Length", strconv.FormatInt(e.Bytes, 10))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	_, err = io.Copy(deadlined{w}, content)
	return err
}
