package lease

import (
	"context"
	"io"
	"sync"

	"bordereau/sandbox"
	"bordereau/sandbox/workspace"
)

// Lease is the use of a conversation's sandbox until Release. All methods act on that sandbox only.
type Lease struct {
	m            *Manager
	slot         *slot
	conversation string
	id           string
	recovery     Recovery
	once         sync.Once
}

// ID is the sandbox's.
func (l *Lease) ID() string { return l.id }

// Recovery says how the sandbox was got, and what is missing in it.
func (l *Lease) Recovery() Recovery { return l.recovery }

// Exec runs a command.
func (l *Lease) Exec(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	return l.m.cfg.Driver.Exec(ctx, l.id, cmd)
}

// ReadFile opens a file.
func (l *Lease) ReadFile(ctx context.Context, path string) (io.ReadCloser, sandbox.File, error) {
	return l.m.cfg.Driver.ReadFile(ctx, l.id, path)
}

// WriteFile replaces a file.
func (l *Lease) WriteFile(ctx context.Context, path string, content io.Reader) error {
	return l.m.cfg.Driver.WriteFile(ctx, l.id, path, content)
}

// ListFiles lists a folder.
func (l *Lease) ListFiles(ctx context.Context, dir string) ([]sandbox.File, error) {
	return l.m.cfg.Driver.ListFiles(ctx, l.id, dir)
}

// MoveFile renames a file or folder.
func (l *Lease) MoveFile(ctx context.Context, from, to string) error {
	return l.m.cfg.Driver.MoveFile(ctx, l.id, from, to)
}

// RemoveFile removes a file or folder.
func (l *Lease) RemoveFile(ctx context.Context, path string) error {
	return l.m.cfg.Driver.RemoveFile(ctx, l.id, path)
}

// SetToken replaces the turn's token inside; empty removes it.
func (l *Lease) SetToken(ctx context.Context, token string) error {
	return l.m.cfg.Driver.SetToken(ctx, l.id, token)
}

// PutDocuments makes the conversation's documents appear below sandbox.DocumentsDir and says where.
func (l *Lease) PutDocuments(ctx context.Context, documents []workspace.Document) ([]string, error) {
	return workspace.PutDocuments(ctx, l.m.cfg.Driver, l.id, documents)
}

// CollectArtifacts hands new and changed artifacts to save; see workspace.CollectArtifacts.
func (l *Lease) CollectArtifacts(ctx context.Context, known map[string]string, caps workspace.Caps,
	save func(ctx context.Context, a workspace.Artifact, content io.Reader) error,
) ([]workspace.Artifact, []workspace.Left, error) {
	return workspace.CollectArtifacts(ctx, l.m.cfg.Driver, l.id, known, caps, save)
}

// Checkpoint keeps the workspace as it is now, so that losing the sandbox loses no file. It says what could not be kept.
func (l *Lease) Checkpoint(ctx context.Context) ([]workspace.Left, error) {
	if l.m.cfg.Checkpoints == nil {
		return nil, nil
	}
	m, err := l.m.cfg.Checkpoints.Save(ctx, l.m.cfg.Driver, l.id, l.conversation)
	if err != nil {
		return nil, err
	}
	return m.Left, nil
}

// Release ends the use. The sandbox stays, is paused and stopped when idle, and is found again by the next Get.
func (l *Lease) Release() { l.once.Do(func() { l.m.release(l.slot) }) }
