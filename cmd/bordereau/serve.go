package main

import (
	"context"
	"crypto/ed25519"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"bordereau/agent/httpapi"
	"bordereau/agent/identity"
	"bordereau/governance/turntoken"
	"bordereau/tools/vin"
	"bordereau/tools/vin/vinhttp"
	"bordereau/web"
)

// runServe serves all roles until it is told to stop.
func runServe(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	withSample := flags.Bool("sample", false, "import the sample organisations if the data folder is empty")
	c, err := loadConfig(flags, args, std)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(std.Err, nil))
	if *withSample {
		if err := importSample(ctx, c, log, std, time.Now()); err != nil {
			return err
		}
	}
	s, err := start(ctx, c, log)
	if err != nil {
		return err
	}
	defer s.stop()
	if c.Role == roleGovernance {
		fmt.Fprintf(std.Out, "Governance listens on %s\n", s.url)
	} else {
		fmt.Fprintf(std.Out, "Bordereau listens on %s, sandboxes by %s\n", s.url, s.sandboxes)
	}
	for _, org := range s.organisations {
		fmt.Fprintf(std.Out, "  organisation %s: key in %s\n", org, keyFile(c.Data, org))
	}
	if s.directory != nil {
		if err := printFirstLinks(ctx, or(c.PublicURL, s.url), s.directory, std.Out); err != nil {
			return err
		}
	}
	<-ctx.Done()
	fmt.Fprintln(std.Out, "Stopping: turns under way are handed over")
	return nil
}

// system is all roles, running.
type system struct {
	url           string // for people
	sandboxes     string // the driver's name
	organisations []string
	directory     *identity.Directory // nil where no people are served
	endpoints     []httpapi.Endpoint  // all that people reach
	stop          func()
}

// start starts every role on this machine, in the order in which they need each other, or the one that the configuration
// names, and returns when it answers.
func start(ctx context.Context, c config, log *slog.Logger) (s *system, err error) {
	switch c.Role {
	case roleAgent:
		return startAgent(ctx, c, log)
	case roleGovernance:
		return startGovernance(ctx, c, log)
	}
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
	plane, err := openDataPlane(ctx, c, log, &open)
	if err != nil {
		return nil, err
	}
	decoder, err := vin.Open(c.Data)
	if err != nil {
		return nil, err
	}
	mcp, err := serveGovernance(ctx, plane, c, decoder, turns, key.Public().(ed25519.PublicKey), stamper, log, &open)
	if err != nil {
		return nil, err
	}
	inside, metrics := http.NewServeMux(), newMetrics()
	inside.Handle("/mcp", traces.server(mcp, "governance"))
	serveMetrics(inside, metrics)
	address, stopListening, err := listenLocal(ctx, c.Governance.Listen, inside, log)
	if err != nil {
		return nil, fmt.Errorf("governance: %w", err)
	}
	open.add(stopListening)
	endpoint := "http://" + address + "/mcp"

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
	organisations, err := enrolAll(ctx, c, plane, directory)
	if err != nil {
		return nil, err
	}
	if err := notePolicy(ctx, c, directory); err != nil {
		return nil, err
	}
	vins, err := vinhttp.Handler(vinhttp.Config{Decoder: decoder})
	if err != nil {
		return nil, err
	}
	data, err := dataEndpoints(c, plane, decoder, peopleNames{directory}, log)
	if err != nil {
		return nil, err
	}
	outside := newFront(guard)
	outside.mux.Handle("/", web.Handler()) // the pages themselves are nobody's secret
	outside.api(api)
	outside.add(vinEndpoints(vins)...)
	outside.add(data...)
	address, stopListening, err = listenLocal(ctx, c.Listen, outside.mux, log)
	if err != nil {
		return nil, err
	}
	open.add(stopListening)
	return &system{url: "http://" + address, sandboxes: sandboxes.name, organisations: organisations, directory: directory, endpoints: outside.endpoints, stop: stop}, nil
}

// enrolAll gives each organisation that has data an account and a first key.
func enrolAll(ctx context.Context, c config, plane *dataPlane, directory *identity.Directory) ([]string, error) {
	all, err := plane.store.Organisations(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(all))
	for _, o := range all {
		if err := enrol(ctx, c, directory, o.Org, o.Org); err != nil {
			return nil, err
		}
		ids = append(ids, o.Org)
	}
	return ids, nil
}

// listen opens a TCP address and says what to do when it is taken.
func listen(ctx context.Context, address string) (net.Listener, error) {
	var l net.ListenConfig
	listener, err := l.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w: stop what listens there, or configure another address", address, err)
	}
	return listener, nil
}
