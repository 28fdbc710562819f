package main

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"gocloud.dev/blob"

	"bordereau/governance/audit"
	"bordereau/governance/call"
	"bordereau/governance/dataset"
	"bordereau/governance/duck"
	"bordereau/governance/export"
	"bordereau/governance/gate"
	"bordereau/governance/guidelines"
	"bordereau/governance/mcpserver"
	"bordereau/governance/policy"
	runs "bordereau/governance/run"
	"bordereau/governance/spent"
	"bordereau/governance/statement"
	"bordereau/governance/turntoken"
	"bordereau/migrations"
	"bordereau/tools/vin"
)

// Names that agent and governance put into and ask of tokens.
const (
	tokenIssuer   = "bordereau-agent"
	tokenAudience = "bordereau-governance"
)

// exportLife is how long a whole result waits to be fetched.
const exportLife = time.Hour

// dataPlane is everything through which SQL reaches data.
type dataPlane struct {
	db      *sql.DB
	store   *dataset.Store
	policy  *policy.Policy
	audit   *audit.Log
	gate    *gate.Gate
	exports *export.Store
}

// openStore opens the governance database and the datasets of a data folder.
func openStore(ctx context.Context, c config, log *slog.Logger, open *closers) (*sql.DB, *dataset.Store, error) {
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, nil, fmt.Errorf("making the data folder: %w", err)
	}
	dsn := c.Governance.Database
	if dsn == "" {
		dsn = c.path("governance.db")
	}
	db, dialect, err := migrations.Open(ctx, dsn, migrations.Governance)
	if err != nil {
		return nil, nil, err
	}
	open.add(db.Close)
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("finding this program: %w", err)
	}
	var bucket *blob.Bucket
	if c.Governance.Bucket != "" {
		if bucket, err = openBucket(ctx, c.Governance.Bucket); err != nil {
			return nil, nil, err
		}
		open.add(bucket.Close)
	}
	store, err := dataset.Open(dataset.Config{
		Dir: c.path("datasets"), DB: db, Dialect: dialect, Logger: log, Now: time.Now, Bucket: bucket,
		Builder: dataset.Command{Path: self, Args: []string{"dataset-builder"}},
	})
	return db, store, err
}

// openDataPlane builds the gate over a data folder.
func openDataPlane(ctx context.Context, c config, log *slog.Logger, open *closers) (*dataPlane, error) {
	db, store, err := openStore(ctx, c, log, open)
	if err != nil {
		return nil, err
	}
	p := &dataPlane{db: db, store: store}
	if p.exports, err = openExports(ctx, c, db, open); err != nil {
		return nil, err
	}
	if p.policy, err = policy.Load(c.Governance.Policy, policy.Relations()); err != nil {
		return nil, err
	}
	pool, err := duck.New(duck.Config{Log: log, Workers: c.Governance.Workers})
	if err != nil {
		return nil, err
	}
	open.add(pool.Close)
	reader, err := statement.New(statement.Config{Parser: pool})
	if err != nil {
		return nil, err
	}
	if p.audit, err = audit.New(ctx, audit.Config{DB: db, Now: time.Now}); err != nil {
		return nil, err
	}
	p.gate, err = gate.New(ctx, gate.Config{
		Reader: reader, Policy: p.policy, Pinner: pinner{store}, Runner: pool, Recorder: p.audit, Log: log, Now: time.Now, NewID: uuid.NewString,
	})
	return p, err
}

// openExports opens where whole results wait to be fetched.
func openExports(ctx context.Context, c config, db *sql.DB, open *closers) (*export.Store, error) {
	address := c.Governance.Bucket
	if address == "" {
		address = "file://" + c.path("exports")
	}
	bucket, err := openBucket(ctx, address)
	if err != nil {
		return nil, err
	}
	open.add(bucket.Close)
	return export.NewStore(export.Config{DB: db, Bucket: bucket, TTL: exportLife, MaxBytes: 8 << 30, Now: time.Now, NewID: uuid.NewString})
}

// serveGovernance returns the MCP endpoint over a data plane.
func serveGovernance(ctx context.Context, p *dataPlane, c config, decoder *vin.Decoder, live turntoken.Liveness, key ed25519.PublicKey, stamper turntoken.Stamper, log *slog.Logger, open *closers) (http.Handler, error) {
	if err := p.store.Enforce(ctx, p.policy.Profiles[policy.Standard].Masks()); err != nil {
		return nil, err
	}
	kept, err := runs.NewStore(p.db)
	if err != nil {
		return nil, err
	}
	desk, err := call.NewDesk(call.Config{DB: p.db, Live: live, TTL: exportLife, Now: time.Now, NewID: uuid.NewString, Log: log})
	if err != nil {
		return nil, err
	}
	open.add(func() error { desk.Close(); return nil })
	rules, err := openGuidelines(p.db)
	if err != nil {
		return nil, err
	}
	reconciler, err := newReconciler(p.gate, decoder, rules)
	if err != nil {
		return nil, err
	}
	proofs, err := spent.New(p.db, time.Now)
	if err != nil {
		return nil, err
	}
	server, err := mcpserver.New(mcpserver.Config{
		Gate: p.gate, Verifier: turntoken.Verifier{
			Key: key, Issuer: tokenIssuer, Audience: tokenAudience, Live: live, Proofs: turntoken.Proofs{URL: c.Governance.PublicURL, Spent: proofs},
		}, Stamper: stamper,
		Refusals: mcpserver.AuditRefusals{Log: p.audit, NewID: uuid.NewString}, VINs: decoder, Reconciler: reconciler, Guidelines: ruleBooks{rules}, Documents: documents{p.store},
		Policy: p.policy, Runs: kept, Exports: p.exports, Calls: desk, Log: log, Now: time.Now, NewID: uuid.NewString, Version: version(),
	})
	if err != nil {
		return nil, err
	}
	tend, stop := context.WithCancel(ctx)
	var tending sync.WaitGroup
	tending.Go(func() { server.Tend(tend, time.Minute) })
	tending.Go(func() {
		p.store.Tend(tend, dataset.Tending{Every: time.Minute, Quiet: 2 * time.Minute, Keep: c.Governance.Generations})
	})
	open.add(func() error { stop(); tending.Wait(); return nil })
	return server, nil
}

// ruleBooks lists an organisation's guidelines for describe_data.
type ruleBooks struct{ store *guidelines.Store }

func (g ruleBooks) Guidelines(ctx context.Context, org string) ([]mcpserver.Guideline, error) {
	library, err := g.store.Library(ctx, org)
	if err != nil {
		return nil, err
	}
	var all []mcpserver.Guideline
	for _, x := range library.All() {
		all = append(all, mcpserver.Guideline{ID: x.ID, Carrier: x.Carrier, Name: x.Name, Version: x.Version, Effective: x.Effective.Format(time.DateOnly)})
	}
	return all, nil
}

// documents opens imported files.
type documents struct{ store *dataset.Store }

func (d documents) Document(ctx context.Context, org, id string) (io.ReadCloser, error) {
	file, _, err := d.store.Document(ctx, org, id)
	return file, err
}

// listenLocal serves handler at address until the returned stop is called, which waits for requests under way.
func listenLocal(ctx context.Context, address string, handler http.Handler, log *slog.Logger) (bound string, stop func() error, err error) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	listener, err := listen(ctx, address)
	if err != nil {
		return "", nil, err
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	return listener.Addr().String(), func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			_ = server.Close()
		}
		return ignore(<-done, http.ErrServerClosed)
	}, nil
}
