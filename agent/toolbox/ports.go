package toolbox

import (
	"context"

	"bordereau/agent/artifact"
	"bordereau/agent/journal"
	"bordereau/reports"
	"bordereau/sandbox"
)

// Workspaces gives each conversation its sandbox.
type Workspaces interface {
	// Reserve names the sandbox of a conversation, which need not exist yet: a token is made for it before.
	Reserve(ctx context.Context, org, conversation string) (sandboxID string, err error)
	// Acquire returns the conversation's sandbox, running: the one there is, or a new one with what can be restored.
	// Each one is ended by one Release.
	Acquire(ctx context.Context, org, conversation string) (Workspace, error)
	// Keep makes the workspace as it is now survive the loss of its sandbox, and says what couldn't be kept.
	Keep(ctx context.Context, sandboxID string) (left []string, err error)
	// Release ends the use; the sandbox rests until it is acquired again.
	Release(sandboxID string)
}

// Workspace is a sandbox that runs.
type Workspace struct {
	ID   string
	Note string // what the model and the person should know of how it was got, such as files that are missing; "" for nothing
}

// Sandboxes acts on sandboxes by id.
type Sandboxes interface {
	sandbox.Executor
	sandbox.Files
}

// Files keeps content by hash.
type Files interface {
	Put(ctx context.Context, p artifact.Put) (artifact.File, error)
	Reader
}

// Uploads lists the files that people put into a conversation.
type Uploads interface {
	List(ctx context.Context, org, conversation string) ([]artifact.Upload, error)
}

// Delivered lists the artifacts that a conversation has delivered so far.
type Delivered interface {
	Artifacts(ctx context.Context, o journal.Owner, conversation string) ([]journal.Artifact, error)
}

// Renderer makes the files of a report.
type Renderer interface {
	// Render may open documents of the report by their ids, for excerpts of their pages. The text of open's error is a sentence
	// for the reader.
	Render(ctx context.Context, r *reports.Report, open func(ctx context.Context, id string) ([]byte, error)) ([]Document, error)
}

// Document is one rendered file.
type Document struct {
	Name    string
	Content []byte
}

var (
	_ Files   = (*artifact.Store)(nil)
	_ Uploads = (*artifact.Library)(nil)

	_ Delivered = (*journal.Store)(nil)
)
