package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	goredis "github.com/redis/go-redis/v9"

	"bordereau/agent/artifact"
	"bordereau/agent/httpapi"
	"bordereau/agent/identity"
	"bordereau/agent/journal"
	"bordereau/agent/stream"
	"bordereau/agent/stream/redis"
	"bordereau/agent/toolbox"
	"bordereau/agent/turn"
	"bordereau/governance/turntoken"
	"bordereau/migrations"
)

// openJournal opens the agent's database and the directory of people in it.
func openJournal(ctx context.Context, c config, open *closers) (*journal.Store, *identity.Directory, *artifact.Library, error) {
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, nil, nil, fmt.Errorf("making the data folder: %w", err)
	}
	dsn := c.Journal
	if dsn == "" {
		dsn = c.path("journal.db")
	}
	db, dialect, err := migrations.Open(ctx, dsn, migrations.Journal)
	if err != nil {
		return nil, nil, nil, err
	}
	open.add(db.Close)
	store, err := journal.Open(journal.Config{DB: db, Dialect: dialect, NewID: uuid.NewString})
	if err != nil {
		return nil, nil, nil, err
	}
	directory, err := identity.New(identity.Config{DB: db, Idle: c.Sessions.Idle, Life: c.Sessions.Life})
	if err != nil {
		return nil, nil, nil, err
	}
	library, err := artifact.NewLibrary(db, time.Now)
	return store, directory, library, err
}

// agentParts is what the agent needs of the rest.
type agentParts struct {
	journal   *journal.Store
	directory *identity.Directory
	guard     *httpapi.Guard
	library   *artifact.Library
	minter    turntoken.Minter
	stamper   turntoken.Stamper
	mcp       string // governance's endpoint
	sandboxes sandboxParts
	metrics   *prometheus.Registry
	traces    tracing
	log       *slog.Logger
}

// serveAgent starts the runner and returns its HTTP face.
func serveAgent(ctx context.Context, c config, p agentParts, open *closers) (*httpapi.API, error) {
	files, err := artifact.OpenFolder(c.path("files"))
	if err != nil {
		return nil, err
	}
	open.add(files.Close)
	paper, err := openRenderer(c, open) //nolint:contextcheck // each rendering has its own
	if err != nil {
		return nil, err
	}
	tools, err := toolbox.New(toolbox.Config{
		Minter: p.minter, Stamper: p.stamper, MCP: p.mcp, HTTP: &http.Client{Transport: p.traces.client(&http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}, "governance call")},
		Workspaces: p.sandboxes.workspaces, NoDoors: c.Sandbox.hosted(), Sandboxes: p.sandboxes.driver, Files: files, Uploads: p.library, Delivered: p.journal,
		Renderer: paper, Log: p.log, Prefetch: true,
	})
	if err != nil {
		return nil, err
	}
	models, err := newModels(c.Models)
	if err != nil {
		return nil, err
	}
	buffer, err := openBuffer(ctx, c, open)
	if err != nil {
		return nil, err
	}
	runner, err := turn.NewRunner(turn.Config{
		Journal: p.journal, Buffer: buffer, Models: models, Toolbox: tools, Names: names{p.directory}, Log: p.log, NewID: uuid.NewString, Metrics: p.metrics,
		Tracer: p.traces.tracer("turn"), Turns: c.Turns.Runners, Limits: c.limits(),
	})
	if err != nil {
		return nil, err
	}
	if err := runner.Start(ctx); err != nil {
		return nil, err
	}
	open.add(func() error { runner.Stop(); return nil })
	desk, err := startSchedules(ctx, c, p, files, models, runner.Wake, open)
	if err != nil {
		return nil, err
	}
	signOn, err := newOIDC(c, p.directory)
	if err != nil {
		return nil, err
	}
	return httpapi.New(httpapi.Config{ //nolint:contextcheck // its handlers have the contexts of their requests
		Guard: p.guard, SignIn: p.directory, Sessions: p.directory, People: p.directory, Keys: p.directory, OIDC: signOn, Conversations: p.journal, Turns: p.journal, Events: turn.Events{Journal: p.journal, Buffer: buffer}, Runner: runner,
		Models: models, Files: files, Uploads: p.library, Schedules: desk, ScheduleRuns: desk, Sandboxes: sandboxStates{p.sandboxes.workspaces.manager}, Log: p.log, Metrics: p.metrics, Limits: httpapi.Limits{PerMinute: c.PerMinute}, Health: []httpapi.Health{{Name: "journal", Check: p.journal.Ping}}, Beside: besideAPI(),
	})
}

// openBuffer is where events are kept while a turn runs: in this process, or in the Redis that all replicas share.
func openBuffer(ctx context.Context, c config, open *closers) (stream.Buffer, error) {
	if c.Events == "" {
		return stream.NewMemory(stream.MemoryConfig{}), nil
	}
	options, err := goredis.ParseURL(c.Events)
	if err != nil {
		return nil, fmt.Errorf("configuration: events: %w", err)
	}
	client := goredis.NewClient(options)
	open.add(client.Close)
	buffer, err := redis.New(redis.Config{Client: client})
	if err != nil {
		return nil, err
	}
	if err := buffer.Start(ctx); err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	open.add(func() error { buffer.Stop(); return nil })
	return buffer, nil
}

// names greets organisations by their names.
type names struct{ directory *identity.Directory }

func (n names) OrgName(ctx context.Context, org string) (string, error) {
	all, err := n.directory.Organisations(ctx)
	if err != nil {
		return "", err
	}
	for _, o := range all {
		if o.ID == org {
			return o.Name, nil
		}
	}
	return org, nil
}

// enrol makes an organisation's account, its first person and a key for it in the data folder, once.
func enrol(ctx context.Context, c config, directory *identity.Directory, org, name string) error {
	file := keyFile(c.Data, org)
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := directory.PutOrganisation(ctx, identity.Organisation{ID: org, Name: name}); err != nil {
		return err
	}
	person, err := directory.PutPerson(ctx, identity.Person{Org: org, Email: "underwriter@" + org + ".example", Name: "First underwriter", Role: identity.Underwriter})
	if err != nil {
		return err
	}
	_, key, err := directory.IssueKey(ctx, org, person.ID, "first key", time.Time{})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("making the folder of keys: %w", err)
	}
	if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
		return fmt.Errorf("keeping the first key of %s: %w", org, err)
	}
	return nil
}
