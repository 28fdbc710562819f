package console

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"bordereau/governance/audit"
	"bordereau/governance/gate"
	"bordereau/governance/policy"
	"bordereau/governance/relation"
)

// applied is the policy as it applies to one person.
type applied struct {
	Role      string              `json:"role"`
	Profile   string              `json:"profile"`
	Relations []string            `json:"relations"`
	Masked    map[string]string   `json:"masked"` // how, by field
	Hidden    map[string][]string `json:"hidden"` // columns by relation
	Rows      map[string]string   `json:"rows"`   // conditions in SQL by relation
	Limits    limits              `json:"limits"` // of one statement
	Budgets   []budget            `json:"budgets"`
}

type limits struct {
	Rows    int     `json:"rows"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	Memory  int64   `json:"memory"`
}

type budget struct {
	Of   string `json:"of"`  // person, organisation
	Per  string `json:"per"` // day
	Have spent  `json:"have"`
	Used spent  `json:"used"`
}

type spent struct {
	Queries int64   `json:"queries"`
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"`
}

// getPolicy answers GET /api/console/policy.
func (c *Console) getPolicy(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	used, err := c.c.Record.Spent(r.Context(), audit.Scope{Org: p.Org, Subject: p.Subject, Window: 24 * time.Hour})
	if err != nil {
		return err
	}
	role := c.c.Policy.Roles[p.Role]
	out := applied{
		Role: p.Role, Profile: role.Profile, Relations: []string{}, Masked: map[string]string{}, Hidden: map[string][]string{}, Rows: map[string]string{},
		Limits: limits{role.Limits.Rows, role.Limits.Bytes, role.Limits.Time.Seconds(), role.Limits.Memory},
		Budgets: []budget{
			budgetOf("person", c.c.Policy.Budgets.Person, used.Person), budgetOf("organisation", c.c.Policy.Budgets.Organisation, used.Org),
		},
	}
	for _, seen := range relation.Seen(c.relations, c.c.Policy, p.Role) {
		out.Relations = append(out.Relations, seen.Name)
	}
	for field, mask := range c.c.Policy.Profiles[role.Profile].Mask {
		out.Masked[field] = string(mask)
	}
	for _, name := range slices.Sorted(maps.Keys(role.Hidden)) {
		out.Hidden[name] = role.Hidden[name]
	}
	for name, filter := range role.Rows {
		out.Rows[name] = filter.SQL
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func budgetOf(of string, have policy.Budget, used audit.Use) budget {
	return budget{
		Of: of, Per: "day", Have: spent{have.Queries, have.Run.Seconds(), have.Bytes}, Used: spent{used.Queries, used.Run.Seconds(), used.Bytes},
	}
}
