package console

import (
	"net/http"

	"bordereau/governance/gate"
)

type person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type peopleList struct {
	People []person `json:"people"`
}

// listPeople answers GET /api/console/people: who has asked anything.
func (c *Console) listPeople(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	subjects, err := c.c.Record.Subjects(r.Context(), p.Org)
	if err != nil {
		return err
	}
	names, err := c.names(r.Context(), p.Org, subjects)
	if err != nil {
		return err
	}
	out := peopleList{People: []person{}}
	for _, id := range subjects {
		name := names[id]
		if name == "" {
			name = id
		}
		out.People = append(out.People, person{id, name})
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}
