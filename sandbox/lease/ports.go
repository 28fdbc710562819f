package lease

import (
	"context"
	"errors"

	"bordereau/sandbox/workspace"
)

// ErrLocked is what TryLock says while another holds the lock.
var ErrLocked = errors.New("lease: another holds the lock")

// Store keeps what is known of conversations' sandboxes, for every replica that drives them. Folder is one for a single process,
// Table one for several.
type Store interface {
	Load(ctx context.Context, conversation string) (Record, bool, error)
	Save(ctx context.Context, r Record) error
	Remove(ctx context.Context, conversation string) error
	All(ctx context.Context) ([]Record, error)
	// TryLock keeps others from getting, stopping or replacing the conversation's sandbox until unlock, or is ErrLocked. held ends when
	// the lock is lost. A holder that died is in the way no longer than its lock lasts.
	TryLock(ctx context.Context, conversation string) (held context.Context, unlock func(), err error)
}

// Checkpoints keeps workspaces beyond their sandbox.
type Checkpoints interface {
	Save(ctx context.Context, files workspace.Files, id, conversation string) (*workspace.Manifest, error)
	Last(ctx context.Context, conversation string) (*workspace.Manifest, error)
	Restore(ctx context.Context, box workspace.Box, id, conversation string) (workspace.Restored, error)
	Forget(ctx context.Context, conversation string) error
}

var _ Checkpoints = (*workspace.Checkpoints)(nil)
