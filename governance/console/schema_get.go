package console

import (
	"net/http"

	"bordereau/governance/gate"
	"bordereau/governance/policy"
	"bordereau/governance/relation"
	"bordereau/governance/statement"
)

// schema is what a role can name.
type schema struct {
	Role      string           `json:"role"`
	Relations []schemaRelation `json:"relations"`
	Functions []string         `json:"functions"`
}

type schemaRelation struct {
	Name     string         `json:"name"`
	Meaning  string         `json:"meaning"`
	Example  string         `json:"example"`
	Filtered bool           `json:"filtered"` // the role sees some rows of it only
	Columns  []schemaColumn `json:"columns"`
}

type schemaColumn struct {
	relation.Column
	Mask string `json:"mask,omitempty"` // how it is masked for the role; some: of some fields
}

// someFields is the mask of columns that hold any field's value.
const someFields = "some"

// getSchema answers GET /api/console/schema.
func (c *Console) getSchema(w http.ResponseWriter, _ *http.Request, p gate.Principal) error {
	out := schema{Role: p.Role, Relations: []schemaRelation{}, Functions: statement.Functions()}
	role := c.c.Policy.Roles[p.Role]
	mask := c.c.Policy.Profiles[role.Profile].Mask
	for _, r := range relation.Seen(c.relations, c.c.Policy, p.Role) {
		s := schemaRelation{Name: r.Name, Meaning: r.Meaning, Example: r.Example, Filtered: role.Rows[r.Name].SQL != "", Columns: []schemaColumn{}}
		for _, column := range r.Columns {
			s.Columns = append(s.Columns, schemaColumn{column, maskOf(c.c.Policy, mask, column.Name)})
		}
		out.Relations = append(out.Relations, s)
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func maskOf(p *policy.Policy, mask map[string]policy.Mask, column string) string {
	if m, ok := mask[column]; ok {
		return string(m)
	}
	if len(mask) > 0 && p.Sensitive(column) {
		for _, profile := range p.Profiles {
			if _, named := profile.Mask[column]; named {
				return "" // another profile masks it by its name; this one doesn't
			}
		}
		return someFields
	}
	return ""
}
