package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"bordereau/agent/httpapi"
	"bordereau/agent/identity"
	"bordereau/governance/console"
	"bordereau/governance/dataset"
	"bordereau/governance/desk"
	"bordereau/governance/fault"
	"bordereau/governance/turntoken"
	"bordereau/tools/vin"
)

// What governance answers to people: imports, the console, guidelines and runs. On one machine the front has it as it is. Apart, the
// agent lets people in, vouches for them, and passes their requests on; governance asks it what they are called.

// maxImport is the most bytes of one import over HTTP.
const maxImport = 8 << 30

// dataEndpoints are governance's, over a data plane. Their handlers find who asks in the request's context.
func dataEndpoints(c config, p *dataPlane, decoder *vin.Decoder, people console.People, log *slog.Logger) ([]httpapi.Endpoint, error) {
	imports, err := dataset.NewHandler(dataset.HandlerConfig{Store: p.store, Authorise: importingOrg, MaxBytes: maxImport, Dir: c.path("incoming")})
	if err != nil {
		return nil, err
	}
	consoles, err := serveConsole(p, people, log)
	if err != nil {
		return nil, err
	}
	desks, err := serveDesk(p, decoder, people, log)
	if err != nil {
		return nil, err
	}
	return append(append(consoles, desks...), importEndpoint(imports)), nil
}

func importEndpoint(h http.Handler) httpapi.Endpoint {
	return httpapi.Endpoint{Pattern: "POST /api/import", Access: httpapi.Only(identity.ScopeImport, identity.Admin), Handler: h}
}

// passedOn are the same endpoints where governance is elsewhere.
func passedOn(governance string, s turntoken.Stamper, log *slog.Logger) ([]httpapi.Endpoint, error) {
	to, err := url.Parse(governance)
	if err != nil {
		return nil, fmt.Errorf("governance.url: %w", err)
	}
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, // rows and progress come as they are made
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			for _, own := range []string{"Cookie", "Authorization", "X-Api-Key", "X-Csrf-Token"} {
				r.Out.Header.Del(own) // they are the agent's affair
			}
			r.Out.Header.Del(turntoken.VouchHeader)
			if p, ok := identity.From(r.In.Context()); ok { // the guard let her in
				vouch, err := s.Vouch(turntoken.Caller{Org: p.Org, Person: p.Person, Role: p.Role}, r.Out.Method, r.Out.URL.RequestURI())
				if err == nil {
					r.Out.Header.Set(turntoken.VouchHeader, vouch)
				}
			}
		},
		ModifyResponse: func(r *http.Response) error {
			for _, guarded := range []string{"X-Content-Type-Options", "Cache-Control"} {
				r.Header.Del(guarded) // the guard has set them
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil {
				return // whoever asked has left, or may no longer ask
			}
			log.WarnContext(r.Context(), "governance does not answer", "route", r.Pattern, "error", err)
			refuse(w, http.StatusServiceUnavailable, &fault.Error{Code: fault.Unavailable, Component: "governance", Message: "governance does not answer", Hint: "Try again; if it goes on, tell whoever runs the system.", Retryable: true})
		},
	}
	// Neither addresses nor roles depend on what the parts are made of.
	all := append(append(consoleEndpoints(&console.Console{}), deskEndpoints(&desk.Desk{})...), importEndpoint(nil))
	for i := range all {
		all[i].Handler = proxy
	}
	return all, nil
}

// vouchedFor lets through who is vouched for by an agent and has a role that may.
func vouchedFor(s turntoken.Stamper, e httpapi.Endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := s.Caller(r.Header.Get(turntoken.VouchHeader), r.Method, r.URL.RequestURI())
		if err != nil || who.Person == "" || !e.Access.Role(who.Role) {
			refuse(w, http.StatusUnauthorized, &fault.Error{Code: fault.Auth, Component: "governance", Message: "no agent vouches for this request", Hint: "Ask the agent's address: agent and governance must share the stamp's secret and the time."})
			return
		}
		e.Handler.ServeHTTP(w, r.WithContext(identity.With(r.Context(), identity.Principal{Org: who.Org, Person: who.Person, Role: who.Role})))
	})
}

func refuse(w http.ResponseWriter, status int, f *fault.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]*fault.Error{"error": f}) // whoever asked may have left
}

// namesPath is where an agent tells governance what people are called.
const namesPath = "/names"

// Bounds of asking for names.
const (
	maxNames  = 4 << 20
	namesWait = 5 * time.Second
)

// tellNames answers a list of people's ids with their names.
func tellNames(s turntoken.Stamper, names peopleNames) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := s.Caller(r.Header.Get(turntoken.VouchHeader), r.Method, r.URL.RequestURI())
		if err != nil {
			http.Error(w, "agent and governance must share the stamp's secret", http.StatusUnauthorized)
			return
		}
		var ids []string
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxNames)).Decode(&ids); err != nil {
			http.Error(w, "want a list of ids", http.StatusBadRequest)
			return
		}
		all, err := names.Names(r.Context(), who.Org, ids)
		if err != nil {
			http.Error(w, "the directory does not answer", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(all) // whoever asked may have left
	})
}

// peopleElsewhere asks an agent what people are called.
type peopleElsewhere struct {
	url    string
	stamp  turntoken.Stamper
	client *http.Client
}

var _ console.People = (*peopleElsewhere)(nil)

func newPeopleElsewhere(agent string, s turntoken.Stamper) (*peopleElsewhere, error) {
	u, err := url.Parse(agent)
	if err != nil {
		return nil, fmt.Errorf("agent.url: %w", err)
	}
	return &peopleElsewhere{u.JoinPath(namesPath).String(), s, &http.Client{Timeout: namesWait}}, nil
}

// Names implements console.People.
func (p *peopleElsewhere) Names(ctx context.Context, org string, subjects []string) (map[string]string, error) {
	names := map[string]string{}
	if len(subjects) == 0 {
		return names, nil
	}
	raw, err := json.Marshal(subjects)
	if err != nil {
		return nil, fmt.Errorf("asking for names: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("asking for names: %w", err)
	}
	vouch, err := p.stamp.Vouch(turntoken.Caller{Org: org}, req.Method, req.URL.RequestURI())
	if err != nil {
		return nil, err
	}
	req.Header.Set(turntoken.VouchHeader, vouch)
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, (&fault.Error{Code: fault.Unavailable, Component: "governance", Message: "the agent does not say what people are called", Hint: "Try again.", Retryable: true}).Because(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking for names: the agent answered %d", resp.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxNames)).Decode(&names); err != nil {
		return nil, fmt.Errorf("asking for names: %w", err)
	}
	return names, nil
}
