package main

import (
	"errors"
	"log/slog"
	"net/http"

	"bordereau/agent/httpapi"
	"bordereau/agent/identity"
	"bordereau/governance/fault"
)

// newGuard is what stands before every endpoint for people.
func newGuard(c config, directory *identity.Directory, log *slog.Logger) (*httpapi.Guard, error) {
	return httpapi.NewGuard(httpapi.GuardConfig{
		Identity: directory, Log: log, Origin: c.PublicURL, Secure: c.secure(), BehindProxy: c.BehindProxy,
	})
}

// face is everything that people's browsers and programs reach. What is added says who may call it.
type face struct {
	guard     *httpapi.Guard
	mux       *http.ServeMux
	endpoints []httpapi.Endpoint
}

func newFace(guard *httpapi.Guard) *face { return &face{guard: guard, mux: http.NewServeMux()} }

// add puts endpoints behind the guard.
func (f *face) add(all ...httpapi.Endpoint) {
	for _, e := range all {
		f.mux.Handle(e.Pattern, f.guard.Wrap(e.Access, e.Handler))
		f.endpoints = append(f.endpoints, e)
	}
}

// api adds the agent's own face, which guards each of its endpoints itself.
func (f *face) api(api *httpapi.API) {
	for _, e := range api.Endpoints() {
		f.mux.Handle(e.Pattern, e.Handler)
		f.endpoints = append(f.endpoints, e)
	}
	f.mux.Handle("/api/", api.Handler()) // says that there is no such address
}

// importingOrg is the organisation of who imports; the guard has let her through.
func importingOrg(r *http.Request) (string, error) {
	p, ok := identity.From(r.Context())
	if !ok {
		return "", (&fault.Error{Code: fault.Internal, Component: "import", Message: "internal error"}).Because(errors.New("no principal in the request's context"))
	}
	return p.Org, nil
}
