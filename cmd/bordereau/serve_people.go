package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bordereau/agent/httpapi"
	"bordereau/agent/identity"
	"bordereau/agent/identity/oidc"
	"bordereau/governance/fault"
)

// newGuard is what stands before every endpoint for people.
func newGuard(c config, directory *identity.Directory, log *slog.Logger) (*httpapi.Guard, error) {
	return httpapi.NewGuard(httpapi.GuardConfig{
		Identity: directory, Log: log, Origin: c.PublicURL, Secure: c.secure(), BehindProxy: c.BehindProxy,
	})
}

// newOIDC is nil where no organisation has an identity provider.
func newOIDC(c config, directory *identity.Directory) (httpapi.OIDC, error) {
	if len(c.OIDC) == 0 {
		return nil, nil
	}
	seal, err := secret(c.path("keys", "oidc"))
	if err != nil {
		return nil, err
	}
	providers := make([]oidc.Provider, 0, len(c.OIDC))
	for _, p := range c.OIDC {
		domains := make([]string, len(p.Domains))
		for i, d := range p.Domains {
			domains[i] = strings.ToLower(d)
		}
		providers = append(providers, oidc.Provider{
			Organisation: p.Organisation, Issuer: p.Issuer, ClientID: p.ClientID, Secret: p.secret, Domains: domains, DefaultRole: p.DefaultRole,
		})
	}
	return oidc.New(oidc.Config{Providers: providers, Directory: directory, Origin: c.origin(), Seal: seal})
}

// printFirstLinks gives whoever starts the program a one-time link for each organisation in which nobody is an administrator.
func printFirstLinks(ctx context.Context, origin string, directory *identity.Directory, w io.Writer) error {
	lacking, err := directory.WithoutAdmin(ctx)
	if err != nil {
		return err
	}
	for _, o := range lacking {
		token, expires, err := directory.IssueLink(ctx, o.ID, "")
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %s has no administrator. Whoever opens this link becomes the first, once, until %s:\n  %s\n",
			o.ID, expires.Local().Format(time.DateTime), origin+httpapi.WelcomePath+token)
	}
	return nil
}

// notePolicy puts into the admin log under which policy the data is served.
func notePolicy(ctx context.Context, c config, directory *identity.Directory) error {
	name := "the built-in policy"
	if c.Governance.Policy != "" {
		raw, err := os.ReadFile(c.Governance.Policy)
		if err != nil {
			return fmt.Errorf("reading the policy: %w", err)
		}
		name = fmt.Sprintf("%s, SHA-256 %x", filepath.Base(c.Governance.Policy), sha256.Sum256(raw))
	}
	return directory.NotePolicy(ctx, name)
}

// front is everything that people's browsers and programs reach. What is added says who may call it.
type front struct {
	guard     *httpapi.Guard
	mux       *http.ServeMux
	endpoints []httpapi.Endpoint
}

func newFront(guard *httpapi.Guard) *front { return &front{guard: guard, mux: http.NewServeMux()} }

// add puts endpoints behind the guard.
func (f *front) add(all ...httpapi.Endpoint) {
	for _, e := range all {
		f.mux.Handle(e.Pattern, f.guard.Wrap(e.Access, e.Handler))
		f.endpoints = append(f.endpoints, e)
	}
}

// api adds the agent's own face, which guards each of its endpoints itself.
func (f *front) api(api *httpapi.API) {
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
