package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"bordereau/agent/identity"
	"bordereau/governance/dataset"
	"bordereau/governance/fault"
	"bordereau/governance/turntoken"
	"bordereau/tools/vin"
	"bordereau/tools/vin/vinhttp"
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
	fmt.Fprintf(std.Out, "Bordereau listens on %s, sandboxes by %s\n", s.url, s.sandboxes)
	for _, org := range s.organisations {
		fmt.Fprintf(std.Out, "  organisation %s: key in %s\n", org, keyFile(c.Data, org))
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
	stop          func()
}

// start starts every role on this machine, in the order in which they need each other, and returns when it answers.
func start(ctx context.Context, c config, log *slog.Logger) (s *system, err error) {
	var open closers
	stop := func() { open.close(context.WithoutCancel(ctx), log) }
	defer func() {
		if err != nil {
			stop()
		}
	}()
	key, err := signingKey(c.path("keys", "turn-token"))
	if err != nil {
		return nil, err
	}
	stamp, err := secret(c.path("keys", "stamp"))
	if err != nil {
		return nil, err
	}
	stamper := turntoken.Stamper{Secret: stamp}

	turns, directory, library, err := openJournal(ctx, c, &open)
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
	inside := http.NewServeMux()
	inside.Handle("/mcp", mcp)
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// Beside governance, where no person's browser comes, and doors let nothing but MCP through.
	inside.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
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
	face, err := serveAgent(ctx, c, agentParts{
		journal: turns, directory: directory, library: library, minter: turntoken.Minter{Key: key, Issuer: tokenIssuer, Audience: tokenAudience},
		stamper: stamper, mcp: endpoint, sandboxes: sandboxes, metrics: metrics, log: log,
	}, &open)
	if err != nil {
		return nil, err
	}
	organisations, err := enrolAll(ctx, c, plane, directory)
	if err != nil {
		return nil, err
	}
	vins, err := vinhttp.Handler(vinhttp.Config{Decoder: decoder})
	if err != nil {
		return nil, err
	}
	imports, err := dataset.NewHandler(dataset.HandlerConfig{Store: plane.store, Authorise: importer(directory), MaxBytes: maxImport, Dir: c.path("incoming")})
	if err != nil {
		return nil, err
	}
	outside := http.NewServeMux()
	outside.Handle("/", face)
	outside.Handle("POST /api/import", imports)
	outside.Handle("/api/vin/", http.StripPrefix("/api", keyed(directory, vins)))
	address, stopListening, err = listenLocal(ctx, c.Listen, outside, log)
	if err != nil {
		return nil, err
	}
	open.add(stopListening)
	return &system{url: "http://" + address, sandboxes: sandboxes.name, organisations: organisations, stop: stop}, nil
}

// maxImport is the most bytes of one import over HTTP.
const maxImport = 8 << 30

// importer lets an organisation's admins import into it.
func importer(directory *identity.Directory) func(*http.Request) (string, error) {
	return func(r *http.Request) (string, error) {
		key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		who, err := directory.Authenticate(r.Context(), key)
		switch {
		case errors.Is(err, identity.ErrKey):
			return "", &fault.Error{Code: fault.Auth, Component: "import", Message: "an API key is needed", Hint: "send it as Authorization: Bearer KEY"}
		case err != nil:
			return "", (&fault.Error{Code: fault.Unavailable, Component: "import", Message: "keys can't be checked now", Hint: "ask again", Retryable: true}).Because(err)
		case who.Role != identity.Admin:
			return "", &fault.Error{Code: fault.Denied, Component: "import", Message: "only an admin imports", Hint: "use an admin's key"}
		}
		return who.Org, nil
	}
}

// keyed lets requests with an organisation's API key through, whatever the role.
func keyed(directory *identity.Directory, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch _, err := directory.Authenticate(r.Context(), key); {
		case errors.Is(err, identity.ErrKey):
			refuse(w, http.StatusUnauthorized, `{"code":"auth","message":"an API key is needed","hint":"send it as Authorization: Bearer KEY"}`)
			return
		case err != nil:
			refuse(w, http.StatusServiceUnavailable, `{"code":"unavailable","message":"keys can't be checked now","hint":"ask again","retryable":true}`)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
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
