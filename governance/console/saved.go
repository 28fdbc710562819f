package console

import (
	"net/http"

	"bordereau/governance/gate"
)

// saving is what a person wants to keep.
type saving struct {
	Name   string `json:"name"`
	SQL    string `json:"sql"`
	Shared bool   `json:"shared"`
}

type savedList struct {
	Saved  []saved           `json:"saved"`
	People map[string]string `json:"people"` // names of who shared them
}

// listSaved answers GET /api/console/saved: one's own, and those that others share.
func (c *Console) listSaved(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	all, err := c.savedOf(r.Context(), p)
	if err != nil {
		return err
	}
	var subjects []string
	for _, s := range all {
		subjects = append(subjects, s.Person)
	}
	names, err := c.names(r.Context(), p.Org, subjects)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, savedList{all, names})
	return nil
}

// createSaved answers POST /api/console/saved.
func (c *Console) createSaved(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	s, err := savingOf(r)
	if err != nil {
		return err
	}
	if err := c.keep(r.Context(), p, &s); err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, s)
	return nil
}

// updateSaved answers PUT /api/console/saved/{id}.
func (c *Console) updateSaved(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	s, err := savingOf(r)
	if err != nil {
		return err
	}
	s.ID = r.PathValue("id")
	if err := c.change(r.Context(), p, &s); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, s)
	return nil
}

// deleteSaved answers DELETE /api/console/saved/{id}.
func (c *Console) deleteSaved(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	if err := c.forget(r.Context(), p, r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func savingOf(r *http.Request) (saved, error) {
	var ask saving
	if err := decode(r, &ask); err != nil {
		return saved{}, err
	}
	s := saved{Name: ask.Name, SQL: ask.SQL, Shared: ask.Shared}
	return s, s.check()
}
