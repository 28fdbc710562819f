package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"bordereau/governance/audit"
	"bordereau/governance/dataset"
	"bordereau/governance/duck"
	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/policy"
	"bordereau/governance/statement"
	"bordereau/migrations"

	"github.com/google/uuid"
)

// runDuckWorker makes this process a worker that runs statements for the process that started it.
func runDuckWorker(context.Context, []string, stdio) error {
	if status := duck.WorkerMain(); status != 0 {
		return workerStatus(status)
	}
	return nil
}

// workerStatus ends a worker with a status and no words: nobody reads them.
type workerStatus int

func (workerStatus) Error() string { return "" }

// ExitCode returns the status.
func (s workerStatus) ExitCode() int { return int(s) }

// gateOptions are what a command chooses of a gate.
type gateOptions struct {
	data, policy string
	log          *slog.Logger
}

// openGate builds the gate of one machine's data folder. done closes everything.
func openGate(ctx context.Context, o gateOptions) (g *gate.Gate, done func(), err error) {
	var closers []func() error
	done = func() {
		for i := len(closers) - 1; i >= 0; i-- {
			if err := closers[i](); err != nil {
				o.log.ErrorContext(ctx, "closing", "error", err)
			}
		}
	}
	defer func() {
		if err != nil {
			done()
		}
	}()
	if _, err := os.Stat(o.data); err != nil {
		return nil, nil, (&fault.Error{
			Code: fault.Unavailable, Component: "query", Message: "there is no data folder " + o.data,
			Hint: "Import data first, or name the folder with --data or BORDEREAU_DATA.",
		}).Because(err)
	}
	db, dialect, err := migrations.Open(ctx, filepath.Join(o.data, "governance.db"), migrations.Governance)
	if err != nil {
		return nil, nil, err
	}
	closers = append(closers, db.Close)
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	store, err := dataset.Open(dataset.Config{
		Dir: filepath.Join(o.data, "datasets"), DB: db, Dialect: dialect, Logger: o.log, Now: time.Now,
		Builder: dataset.Command{Path: self, Args: []string{"dataset-builder"}},
	})
	if err != nil {
		return nil, nil, err
	}
	rules, err := policy.Load(o.policy, policy.Relations())
	if err != nil {
		return nil, nil, err
	}
	pool, err := duck.New(duck.Config{Log: o.log})
	if err != nil {
		return nil, nil, err
	}
	closers = append(closers, pool.Close)
	reader, err := statement.New(statement.Config{Parser: pool})
	if err != nil {
		return nil, nil, err
	}
	record, err := audit.New(audit.Config{DB: db, Now: time.Now})
	if err != nil {
		return nil, nil, err
	}
	g, err = gate.New(ctx, gate.Config{
		Reader: reader, Policy: rules, Pinner: pinner{store}, Runner: pool, Recorder: record, Log: o.log, Now: time.Now, NewID: uuid.NewString,
	})
	if err != nil {
		return nil, nil, err
	}
	return g, done, nil
}

// pinner gives the dataset store's generations to the gate.
type pinner struct{ store *dataset.Store }

var _ gate.Pinner = pinner{}

// Pin pins the newest generation of org.
func (p pinner) Pin(ctx context.Context, org, profile string) (gate.Pinned, func(), error) {
	pinned, release, err := p.store.Pin(ctx, org, profile)
	return gate.Pinned{Generation: pinned.Generation, Path: pinned.Path, SHA256: pinned.SHA256}, release, err
}

