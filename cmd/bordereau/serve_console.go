package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/httpapi"
	"bordereau/agent/identity"
	"bordereau/governance/console"
	"bordereau/governance/fault"
	"bordereau/governance/gate"
	runs "bordereau/governance/run"
)

// serveConsole returns the SQL audit console's endpoints over a data plane.
func serveConsole(p *dataPlane, people console.People, log *slog.Logger) ([]httpapi.Endpoint, error) {
	kept, err := runs.NewStore(p.db)
	if err != nil {
		return nil, err
	}
	server, err := console.New(console.Config{
		Authorise: consolePrincipal, Gate: p.gate, DB: p.db, Record: p.audit, Runs: kept, Exports: p.exports, People: people, Policy: p.policy,
		Log: log, Now: time.Now, NewID: uuid.NewString,
	})
	if err != nil {
		return nil, err
	}
	return consoleEndpoints(server), nil
}

// consoleEndpoints says who may call the console's addresses.
func consoleEndpoints(server *console.Console) (all []httpapi.Endpoint) {
	for _, e := range server.Endpoints() {
		access := httpapi.Anyone(identity.ScopeQuery)
		if e.Roles != nil {
			access = httpapi.Only(identity.ScopeQuery, e.Roles...)
		}
		all = append(all, httpapi.Endpoint{Pattern: e.Pattern, Access: access, Handler: e.Handler})
	}
	return all
}

// consolePrincipal is who asks the console; the guard has let her through.
func consolePrincipal(r *http.Request) (gate.Principal, error) {
	p, ok := identity.From(r.Context())
	if !ok {
		return gate.Principal{}, (&fault.Error{Code: fault.Internal, Component: "console", Message: "internal error"}).Because(errors.New("no principal in the request's context"))
	}
	return gate.Principal{Org: p.Org, Subject: p.Person, Role: p.Role, Via: "console"}, nil
}

// peopleNames calls the subjects of the audit by their names.
type peopleNames struct{ directory *identity.Directory }

// Names implements console.People.
func (n peopleNames) Names(ctx context.Context, org string, subjects []string) (map[string]string, error) {
	if len(subjects) == 0 {
		return map[string]string{}, nil
	}
	people, err := n.directory.People(ctx, org)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, p := range people {
		if slices.Contains(subjects, p.ID) {
			names[p.ID] = p.Name
		}
	}
	return names, nil
}
