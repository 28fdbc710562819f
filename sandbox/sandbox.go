// Package sandbox says what a sandbox is for the backend that drives one: its contract, states and errors.
package sandbox

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// Where things stand inside every sandbox, whatever drives it.
const (
	WorkspaceDir = "/workspace"           // durable, writable, under a quota
	DocumentsDir = "/workspace/documents" // the conversation's documents as they were uploaded
	ArtifactsDir = "/workspace/artifacts" // what is put here is delivered
	DoorDir      = "/run/bordereau"       // read-only: the door's socket and the turn's token
	DoorSocket   = "/run/bordereau/mcp.sock"
	TokenFile    = "/run/bordereau/token" // #nosec G101 -- a path, not a credential
)

// State is where a sandbox is in its life: creating -> running <-> paused, running <-> stopped, any -> gone.
type State string

// The states.
const (
	Creating State = "creating"
	Running  State = "running"
	Paused   State = "paused"  // processes frozen in memory
	Stopped  State = "stopped" // no processes; the workspace is kept
	Gone     State = "gone"    // deleted or lost; the workspace may be restored from a checkpoint
)

// Kinds of failure. NotFound is confirmed: the sandbox does not exist. Unavailable is in passing: ask again.
// A failed look-up is never NotFound.
var (
	ErrNotFound    = errors.New("sandbox: not found")
	ErrUnavailable = errors.New("sandbox: unavailable")
	ErrNoFile      = errors.New("sandbox: no such file")
	ErrInvalid     = errors.New("sandbox: invalid request")
	ErrTooLarge    = errors.New("sandbox: too large")
	ErrUnsupported = errors.New("sandbox: not supported by this driver")
	ErrExists      = errors.New("sandbox: exists already")
	// ErrInterrupted: the command was under way when its driver died, so nobody can tell how far it came.
	ErrInterrupted = errors.New("sandbox: interrupted")
	// ErrUnconfined: nothing on this machine can isolate untrusted code, so nothing is run.
	ErrUnconfined = errors.New("sandbox: no isolation works here")
)

// Limits bound one sandbox. Zero means the driver's default.
type Limits struct {
	MemoryBytes    int64
	WorkspaceBytes int64
	Processes      int
	CPUs           float64
	FileBytes      int64
	OutputBytes    int64 // of one exec, standard output and error each
}

// Spec is what a new sandbox is made from.
type Spec struct {
	ID     string // chosen by the caller, [a-z0-9-]{1,63}; creating it again is an error
	Org    string
	Limits Limits
}

// Info is what a driver knows of a sandbox.
type Info struct {
	ID      string
	Org     string
	State   State
	Driver  string // "gvisor", "bubblewrap", …; shown wherever the strength of isolation matters
	Created time.Time
}

// Command is one program run to its end. Args[0] is looked up in the sandbox's PATH.
type Command struct {
	ID      string // idempotency key: the same ID joins the running command or returns its stored end; "" runs anew
	Args    []string
	Env     map[string]string
	Dir     string        // default WorkspaceDir
	Stdin   io.Reader     // nil: empty
	Stdout  io.Writer     // nil: discarded
	Stderr  io.Writer     // nil: discarded
	Timeout time.Duration // 0: the driver's default
}

// Result is how a command ended. A program's own failure is a Result, never an error.
type Result struct {
	ExitCode  int // 128+n when killed by signal n
	TimedOut  bool
	Truncated bool // output went over Limits.OutputBytes and was cut
	Duration  time.Duration
}

// File is one entry of a folder.
type File struct {
	Path     string // absolute
	Size     int64
	Mode     fs.FileMode
	Modified time.Time
	Link     string // where a symbolic link points, as written; never followed
}

// Driver makes sandboxes and acts on them. Implementations are safe for concurrent use and pass sandboxtest.
type Driver interface {
	Lifecycle
	Executor
	Files
}

// Lifecycle is the life of sandboxes. Start, Pause, Stop and Delete may be asked again with no effect.
type Lifecycle interface {
	Create(ctx context.Context, spec Spec) (Info, error)
	Find(ctx context.Context, id string) (Info, error)
	List(ctx context.Context) ([]Info, error)
	Start(ctx context.Context, id string) error
	Pause(ctx context.Context, id string) error
	Stop(ctx context.Context, id string) error
	Delete(ctx context.Context, id string) error
}

// Claimer is a driver that can give a running, untouched sandbox a new name and owner, so that a warm pool is possible.
type Claimer interface {
	// Claim renames the sandbox from to to.ID and gives it to to.Org. Limits of to are ignored: it keeps those it has.
	Claim(ctx context.Context, from string, to Spec) (Info, error)
}

// Executor runs commands. Cancelling ctx kills the command and all it started.
type Executor interface {
	Exec(ctx context.Context, id string, cmd Command) (Result, error)
}

// Files reads and writes below WorkspaceDir, following no symbolic link out of it.
type Files interface {
	ReadFile(ctx context.Context, id, path string) (io.ReadCloser, File, error)
	WriteFile(ctx context.Context, id, path string, content io.Reader) error
	ListFiles(ctx context.Context, id, dir string) ([]File, error)
	MoveFile(ctx context.Context, id, from, to string) error
	RemoveFile(ctx context.Context, id, path string) error
	// SetToken replaces the turn's token that code inside finds at TokenFile; empty removes it.
	SetToken(ctx context.Context, id, token string) error
}
