// Package console is the HTTP API of the SQL audit console: what was asked of the data, by whom and with what result, and SQL of one's own
// through the same gate.
package console

import (
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"bordereau/governance/gate"
	"bordereau/governance/policy"
	"bordereau/governance/relation"
)

// component names this part in the errors that it makes itself.
const component = "console"

// The roles, as tokens and sessions name them.
const (
	underwriter = "underwriter"
	analyst     = "analyst"
	auditor     = "auditor"
	admin       = "admin"
)

// Config is what a Console needs. All of it is required.
type Config struct {
	// Authorise says who asks, under which role. Its error is what the caller gets.
	Authorise func(*http.Request) (gate.Principal, error)
	Gate      gate.Querier
	DB        *sql.DB // the governance database
	Record    Record
	Runs      Runs
	Exports   Exports
	People    People
	Policy    *policy.Policy
	Log       *slog.Logger
	Now       func() time.Time
	NewID     func() string // of saved statements
}

// Console answers the console's requests.
type Console struct {
	c         Config
	relations []relation.Relation
}

// New returns a Console.
func New(c Config) (*Console, error) {
	if c.Authorise == nil || c.Gate == nil || c.DB == nil || c.Record == nil || c.Runs == nil || c.Exports == nil || c.People == nil ||
		c.Policy == nil || c.Log == nil || c.Now == nil || c.NewID == nil {
		return nil, errors.New("console: every field of Config is required")
	}
	relations, err := relation.All()
	if err != nil {
		return nil, err
	}
	return &Console{c: c, relations: relations}, nil
}

// Endpoint is an address, the roles that may call it, and what answers.
type Endpoint struct {
	Pattern string   // of http.ServeMux, with its method
	Roles   []string // nil: every role
	Handler http.Handler
}

// handle answers a request of a principal. An error that it returns is written as the answer, unless one has begun.
type handle func(w http.ResponseWriter, r *http.Request, p gate.Principal) error

// Endpoints lists all that a Console answers. Whoever mounts them holds back other roles; what one of these roles may not see is
// not found.
func (c *Console) Endpoints() []Endpoint {
	readers := []string{analyst, auditor, admin}
	var all []Endpoint
	for _, e := range []struct {
		pattern string
		roles   []string
		handle  handle
	}{
		{"GET /api/console/statements", nil, c.listStatements},
		{"GET /api/console/statements/{id}", nil, c.getStatement},
		{"POST /api/console/statements/{id}/plan", nil, c.planStatement},
		{"GET /api/console/people", readers, c.listPeople},
		{"POST /api/console/query", nil, c.runQuery},
		{"POST /api/console/explain", nil, c.explain},
		{"POST /api/console/compare", nil, c.compare},
		{"POST /api/console/exports", nil, c.createExport},
		{"GET /api/console/exports/{id}", nil, c.getExport},
		{"GET /api/console/schema", nil, c.getSchema},
		{"GET /api/console/policy", nil, c.getPolicy},
		{"POST /api/console/verify", readers, c.verify},
		{"GET /api/console/saved", nil, c.listSaved},
		{"POST /api/console/saved", nil, c.createSaved},
		{"PUT /api/console/saved/{id}", nil, c.updateSaved},
		{"DELETE /api/console/saved/{id}", nil, c.deleteSaved},
	} {
		all = append(all, Endpoint{Pattern: e.pattern, Roles: e.roles, Handler: c.handler(e.roles, e.handle)})
	}
	return all
}
