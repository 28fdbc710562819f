package desk

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/run"
)

// maxWorkbook is the most bytes of a reviewed workbook.
const maxWorkbook = 64 << 20

// Workbooks reads what a reviewer left in a report's workbook.
type Workbooks interface {
	// Head names the run that a workbook is of, and the revision of the reviews that it held when it was written.
	Head(workbook []byte) (run string, revision int64, err error)
	// Opinions returns what stands beside the findings of the run, which is read as JSON.
	Opinions(workbook []byte, run io.Reader) ([]run.Opinion, error)
}

// clash is an opinion of a workbook that was not kept, since somebody said something else after it was written.
type clash struct {
	Finding     string `json:"finding"`
	Disposition string `json:"disposition"` // the workbook's
	Comment     string `json:"comment"`
	Theirs      theirs `json:"theirs"`
}

// theirs is what somebody else said.
type theirs struct {
	Disposition string `json:"disposition"`
	Comment     string `json:"comment"`
	Person      string `json:"person"`
}

// imported is what a workbook came to.
type imported struct {
	Revision  int64   `json:"revision"`
	Reviewed  int     `json:"reviewed"`
	Unchanged int     `json:"unchanged"`
	Conflicts []clash `json:"conflicts"`
}

// importWorkbook takes dispositions and comments out of a reviewed workbook, which is the request's body.
func (d *Desk) importWorkbook(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	x, err := d.run(r, p)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			return &fault.Error{Code: fault.TooLarge, Component: component, Message: "the workbook is too large", Hint: fmt.Sprintf("A reviewed workbook has at most %d MiB.", maxWorkbook>>20)}
		}
		return err
	}
	of, revision, err := d.c.Workbooks.Head(raw)
	if err != nil {
		return err
	}
	if of != x.ID {
		return &fault.Error{Code: fault.Invalid, Component: component, Message: fmt.Sprintf("the workbook is of run %.100q, not of this one", of), Hint: "Import it into its own run."}
	}
	body, err := d.c.Runs.Open(r.Context(), p.Org, x.ID)
	if err != nil {
		return err
	}
	said, err := d.c.Workbooks.Opinions(raw, body)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	took, err := d.c.Runs.Review(r.Context(), run.Reviewing{
		Org: p.Org, Run: x.ID, Person: p.Subject, Via: "workbook", Source: hex.EncodeToString(sum[:]), At: d.c.Now(),
		Base: revision, Overwrite: r.URL.Query().Get("overwrite") == "true", Opinions: said,
	})
	if err != nil {
		return err
	}
	clashes, err := d.clashes(r, p, took.Conflicts)
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, imported{took.Revision, len(took.Stored), took.Unchanged, clashes})
	return nil
}

func (d *Desk) clashes(r *http.Request, p gate.Principal, all []run.Conflict) ([]clash, error) {
	var who []string
	for _, c := range all {
		who = append(who, c.Theirs.Person)
	}
	names, err := d.c.People.Names(r.Context(), p.Org, who)
	if err != nil {
		return nil, err
	}
	out := make([]clash, len(all))
	for i, c := range all {
		out[i] = clash{c.Yours.Finding, c.Yours.Disposition, c.Yours.Comment, theirs{c.Theirs.Disposition, c.Theirs.Comment, names[c.Theirs.Person]}}
	}
	return out, nil
}
