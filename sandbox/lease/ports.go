package lease

import (
	"context"

	"bordereau/sandbox/workspace"
)

// Checkpoints keeps workspaces beyond their sandbox.
type Checkpoints interface {
	Save(ctx context.Context, files workspace.Files, id, conversation string) (*workspace.Manifest, error)
	Last(ctx context.Context, conversation string) (*workspace.Manifest, error)
	Restore(ctx context.Context, box workspace.Box, id, conversation string) (workspace.Restored, error)
	Forget(ctx context.Context, conversation string) error
}

var _ Checkpoints = (*workspace.Checkpoints)(nil)
