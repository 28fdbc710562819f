package main

import (
	"database/sql"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/httpapi"
	"bordereau/agent/identity"
	"bordereau/governance/desk"
	"bordereau/governance/guidelines"
	runs "bordereau/governance/run"
	"bordereau/tools/guideline"
	"bordereau/tools/vin"
)

// openGuidelines opens what organisations have written beside what comes with the program.
func openGuidelines(db *sql.DB) (*guidelines.Store, error) {
	base, err := guideline.Embedded()
	if err != nil {
		return nil, err
	}
	return guidelines.NewStore(db, base)
}

// serveDesk returns the endpoints of guidelines and runs over a data plane.
func serveDesk(p *dataPlane, decoder *vin.Decoder, people desk.People, log *slog.Logger) ([]httpapi.Endpoint, error) {
	rules, err := openGuidelines(p.db)
	if err != nil {
		return nil, err
	}
	trier, err := newReconciler(p.gate, decoder, rules)
	if err != nil {
		return nil, err
	}
	kept, err := runs.NewStore(p.db)
	if err != nil {
		return nil, err
	}
	d, err := desk.New(desk.Config{
		Authorise: consolePrincipal, Guidelines: rules, Runs: kept, Workbooks: workbooks{}, Trier: trier, People: people, Log: log, Now: time.Now, NewID: uuid.NewString,
	})
	if err != nil {
		return nil, err
	}
	return deskEndpoints(d), nil
}

// deskEndpoints says who may call the desk's addresses.
func deskEndpoints(d *desk.Desk) (all []httpapi.Endpoint) {
	for _, e := range d.Endpoints() {
		scope := identity.ScopeRead
		switch {
		case slices.Equal(e.Roles, []string{identity.Admin}):
			scope = identity.ScopeAdmin
		case !strings.HasPrefix(e.Pattern, "GET "):
			scope = identity.ScopeEdit
		}
		access := httpapi.Anyone(scope)
		if e.Roles != nil {
			access = httpapi.Only(scope, e.Roles...)
		}
		all = append(all, httpapi.Endpoint{Pattern: e.Pattern, Access: access, Handler: e.Handler})
	}
	return all
}
