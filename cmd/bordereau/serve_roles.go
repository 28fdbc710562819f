package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"bordereau/agent/httpapi"
	"bordereau/agent/identity"
	"bordereau/governance/turntoken"
	"bordereau/tools/vin"
	"bordereau/tools/vin/vinhttp"
	"bordereau/web"
)

// newMetrics is what /metrics shows, which only the inner listeners have: no person's browser comes there, and doors let
// nothing but MCP through.
func newMetrics() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

func serveMetrics(mux *http.ServeMux, r *prometheus.Registry) {
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{}))
}

// startGovernance serves data to an agent on another machine, which tells it what turns are live.
func startGovernance(ctx context.Context, c config, log *slog.Logger) (s *system, err error) {
	var open closers
	stop := func() { open.close(context.WithoutCancel(ctx), log) }
	defer func() {
		if err != nil {
			stop()
		}
	}()
	key, err := publicKey(c.path("keys", "turn-token.pub"))
	if err != nil {
		return nil, err
	}
	stamp, err := sharedSecret(c.path("keys", "stamp"))
	if err != nil {
		return nil, err
	}
	live, err := turntoken.NewIntrospection(turntoken.IntrospectionConfig{URL: c.Agent.URL, Secret: stamp})
	if err != nil {
		return nil, err
	}
	traces, err := openTracing(ctx, c, &open)
	if err != nil {
		return nil, err
	}
	plane, err := openDataPlane(ctx, c, log, &open)
	if err != nil {
		return nil, err
	}
	decoder, err := vin.Open(c.Data)
	if err != nil {
		return nil, err
	}
	mcp, err := serveGovernance(ctx, plane, c, decoder, live, key, turntoken.Stamper{Secret: stamp}, log, &open)
	if err != nil {
		return nil, err
	}
	inside := http.NewServeMux()
	inside.Handle("/mcp", traces.server(mcp, "governance"))
	serveMetrics(inside, newMetrics())
	people, err := newPeopleElsewhere(c.Agent.URL, turntoken.Stamper{Secret: stamp})
	if err != nil {
		return nil, err
	}
	data, err := dataEndpoints(c, plane, decoder, people, log)
	if err != nil {
		return nil, err
	}
	for _, e := range data {
		inside.Handle(e.Pattern, vouchedFor(turntoken.Stamper{Secret: stamp}, e))
	}
	address, stopListening, err := listenLocal(ctx, c.Governance.Listen, inside, log)
	if err != nil {
		return nil, fmt.Errorf("governance: %w", err)
	}
	open.add(stopListening)
	return &system{url: "http://" + address, stop: stop}, nil
}

// startAgent serves people and runs turns; data is behind a governance on another machine.
func startAgent(ctx context.Context, c config, log *slog.Logger) (s *system, err error) {
	var open closers
	stop := func() { open.close(context.WithoutCancel(ctx), log) }
	defer func() {
		if err != nil {
			stop()
		}
	}()
	key, stamper, err := openKeys(c)
	if err != nil {
		return nil, err
	}
	traces, err := openTracing(ctx, c, &open)
	if err != nil {
		return nil, err
	}
	turns, directory, library, err := openJournal(ctx, c, &open)
	if err != nil {
		return nil, err
	}
	guard, err := newGuard(c, directory, log)
	if err != nil {
		return nil, err
	}
	asked := turntoken.Introspector{Live: turns, Secret: stamper.Secret}
	if err := asked.Check(); err != nil {
		return nil, err
	}
	inside, metrics := http.NewServeMux(), newMetrics()
	inside.Handle(turntoken.IntrospectionPath, asked)
	inside.Handle("POST "+namesPath, tellNames(stamper, peopleNames{directory}))
	serveMetrics(inside, metrics)
	_, stopListening, err := listenLocal(ctx, c.Agent.Listen, inside, log)
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	open.add(stopListening)
	endpoint := strings.TrimSuffix(c.Governance.URL, "/") + "/mcp"
	sandboxes, err := openSandboxes(ctx, c, endpoint, stamper, log, &open)
	if err != nil {
		return nil, err
	}
	api, err := serveAgent(ctx, c, agentParts{
		journal: turns, directory: directory, guard: guard, library: library, minter: turntoken.Minter{Key: key, Issuer: tokenIssuer, Audience: tokenAudience},
		stamper: stamper, mcp: endpoint, sandboxes: sandboxes, metrics: metrics, traces: traces, log: log,
	}, &open)
	if err != nil {
		return nil, err
	}
	decoder, err := vin.Open(c.Data)
	if err != nil {
		return nil, err
	}
	vins, err := vinhttp.Handler(vinhttp.Config{Decoder: decoder})
	if err != nil {
		return nil, err
	}
	outside := newFront(guard)
	outside.mux.Handle("/", web.Handler()) // the pages themselves are nobody's secret
	outside.api(api)
	outside.add(vinEndpoints(vins)...)
	data, err := passedOn(c.Governance.URL, stamper, log) //nolint:contextcheck // its requests have their own
	if err != nil {
		return nil, err
	}
	outside.add(data...)
	address, stopListening, err := listenLocal(ctx, c.Listen, outside.mux, log)
	if err != nil {
		return nil, err
	}
	open.add(stopListening)
	return &system{url: "http://" + address, sandboxes: sandboxes.name, directory: directory, endpoints: outside.endpoints, stop: stop}, nil
}

// vinEndpoints are the VIN service under /api.
func vinEndpoints(vins http.Handler) []httpapi.Endpoint {
	vins = http.StripPrefix("/api", vins)
	read := httpapi.Anyone(identity.ScopeRead)
	return []httpapi.Endpoint{
		{Pattern: "GET /api/vin/{vin}", Access: read, Handler: vins},
		{Pattern: "POST /api/vin/DecodeVINValuesBatch/", Access: read, Handler: vins},
		{Pattern: "POST /api/vin/check", Access: read, Handler: vins},
	}
}

// openKeys makes or reads the agent's secrets, and leaves the public key for a governance elsewhere beside them.
func openKeys(c config) (ed25519.PrivateKey, turntoken.Stamper, error) {
	key, err := signingKey(c.path("keys", "turn-token"))
	if err != nil {
		return nil, turntoken.Stamper{}, err
	}
	stamp, err := secret(c.path("keys", "stamp"))
	if err != nil {
		return nil, turntoken.Stamper{}, err
	}
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return nil, turntoken.Stamper{}, errors.New("the signing key has no public half")
	}
	return key, turntoken.Stamper{Secret: stamp}, keepPublicKey(c.path("keys", "turn-token.pub"), public)
}
