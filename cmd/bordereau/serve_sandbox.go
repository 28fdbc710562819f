package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"gocloud.dev/blob/fileblob"

	"bordereau/agent/toolbox"
	"bordereau/governance/turntoken"
	"bordereau/migrations"
	"bordereau/sandbox"
	"bordereau/sandbox/door"
	"bordereau/sandbox/lease"
	"bordereau/sandbox/local"
	"bordereau/sandbox/workspace"
)

// sandboxParts is what the agent needs of sandboxes.
type sandboxParts struct {
	driver     sandbox.Driver
	name       string
	workspaces *workspaces
}

// openSandboxes picks the driver, opens doors to governance's endpoint, and takes up what an earlier process left.
func openSandboxes(ctx context.Context, c config, endpoint string, stamper turntoken.Stamper, log *slog.Logger, open *closers) (sandboxParts, error) {
	doors, err := door.New(door.Config{
		Upstream: endpoint, Log: log,
		Stamp: func(sandboxID, token string) (header, value string) {
			return turntoken.StampHeader, stamper.Stamp(sandboxID, token)
		},
	})
	if err != nil {
		return sandboxParts{}, err
	}
	open.add(func() error { doors.Stop(); return nil })
	driver, name, err := openDriver(ctx, c, doors, log, open)
	if err != nil {
		return sandboxParts{}, err
	}
	store, err := openLeases(ctx, c, open)
	if err != nil {
		return sandboxParts{}, err
	}
	kept := c.path("checkpoints")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		return sandboxParts{}, fmt.Errorf("making the folder of checkpoints: %w", err)
	}
	bucket, err := fileblob.OpenBucket(kept, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		return sandboxParts{}, fmt.Errorf("opening the folder of checkpoints: %w", err)
	}
	open.add(bucket.Close)
	checkpoints, err := workspace.NewCheckpoints(workspace.CheckpointConfig{Bucket: bucket})
	if err != nil {
		return sandboxParts{}, err
	}
	manager, err := lease.New(lease.Config{
		Driver: driver, Store: store, Log: log, Checkpoints: checkpoints, Exclusive: c.Sandbox.local() || c.Sandbox.Exclusive,
		StopAfter: c.Sandbox.IdleStop, Warm: c.Sandbox.Warm,
		Limits: sandbox.Limits{MemoryBytes: c.Sandbox.MemoryMiB << 20, WorkspaceBytes: c.Sandbox.DiskMiB << 20},
	})
	if err != nil {
		return sandboxParts{}, err
	}
	if err := manager.Start(ctx); err != nil {
		return sandboxParts{}, err
	}
	open.add(func() error { manager.Stop(); return nil })
	return sandboxParts{driver: driver, name: name, workspaces: &workspaces{manager: manager, held: map[string][]*lease.Lease{}}}, nil
}

// openLeases keeps what is known of sandboxes in the journal's database where replicas share that, else in the data folder.
func openLeases(ctx context.Context, c config, open *closers) (lease.Store, error) {
	if c.Journal == "" {
		return lease.NewFolder(c.path("leases"))
	}
	db, _, err := migrations.Open(ctx, c.Journal, migrations.Journal)
	if err != nil {
		return nil, err
	}
	open.add(db.Close)
	return lease.NewTable(db, time.Now)
}

// workspaces gives turns their leases. A turn that uses a sandbox twice holds it twice.
type workspaces struct {
	manager *lease.Manager

	mu   sync.Mutex
	held map[string][]*lease.Lease // by sandbox
}

var _ toolbox.Workspaces = (*workspaces)(nil)

// Reserve names a conversation's sandbox.
func (w *workspaces) Reserve(ctx context.Context, _, conversation string) (string, error) {
	return w.manager.ID(ctx, conversation)
}

// Acquire gets it running.
func (w *workspaces) Acquire(ctx context.Context, org, conversation string) (toolbox.Workspace, error) {
	l, err := w.manager.Get(ctx, conversation, org)
	if err != nil {
		return toolbox.Workspace{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held[l.ID()] = append(w.held[l.ID()], l)
	return toolbox.Workspace{ID: l.ID(), Note: note(l.Recovery())}, nil
}

// note says what model and person should know of how a sandbox was got.
func note(r lease.Recovery) string {
	if !r.Replaced && len(r.Missing) == 0 {
		return ""
	}
	text := "The sandbox was replaced: " + r.Why + "."
	if r.Files > 0 {
		text += fmt.Sprintf(" %d files came back as they were at %s.", r.Files, r.Taken.UTC().Format("15:04:05 UTC"))
	}
	if len(r.Missing) > 0 {
		text += " Missing: " + strings.Join(r.Missing, "; ") + "."
	}
	return text
}

// Keep checkpoints a sandbox's workspace.
func (w *workspaces) Keep(ctx context.Context, sandboxID string) ([]string, error) {
	w.mu.Lock()
	var l *lease.Lease
	if all := w.held[sandboxID]; len(all) > 0 {
		l = all[len(all)-1]
	}
	w.mu.Unlock()
	if l == nil {
		return nil, nil
	}
	left, err := l.Checkpoint(ctx)
	words := make([]string, 0, len(left))
	for _, f := range left {
		words = append(words, f.Path+": "+f.Why)
	}
	return words, err
}

// Release ends one use of a sandbox.
func (w *workspaces) Release(sandboxID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.held[sandboxID]
	if len(all) == 0 {
		return
	}
	all[len(all)-1].Release()
	if w.held[sandboxID] = all[:len(all)-1]; len(all) == 1 {
		delete(w.held, sandboxID)
	}
}

// clearSandboxes deletes all sandboxes of a data folder that is going to be removed.
func clearSandboxes(ctx context.Context, c config, log *slog.Logger) error {
	if _, err := os.Stat(c.path("sandboxes")); os.IsNotExist(err) || !c.Sandbox.local() {
		return nil
	}
	driver, err := local.New(ctx, localConfig(c, log, nil))
	if err != nil {
		return err
	}
	defer driver.Close()
	all, err := driver.List(ctx)
	if err != nil {
		return err
	}
	for _, info := range all {
		if err := driver.Delete(ctx, info.ID); err != nil {
			return err
		}
	}
	return nil
}
