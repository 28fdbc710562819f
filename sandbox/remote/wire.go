package remote

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"bordereau/sandbox"
)

// What client and host say to each other. Every path is below /v1; bodies are JSON unless they are a file's content.

// Error is how a host answers what fails.
type Error struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

// kinds are the failures by name, with the status that carries each.
var kinds = map[string]struct { //nolint:gochecknoglobals // a constant table
	err    error
	status int
}{
	"not_found":   {sandbox.ErrNotFound, http.StatusNotFound},
	"no_file":     {sandbox.ErrNoFile, http.StatusNotFound},
	"invalid":     {sandbox.ErrInvalid, http.StatusBadRequest},
	"too_large":   {sandbox.ErrTooLarge, http.StatusRequestEntityTooLarge},
	"unsupported": {sandbox.ErrUnsupported, http.StatusNotImplemented},
	"exists":      {sandbox.ErrExists, http.StatusConflict},
	"interrupted": {sandbox.ErrInterrupted, http.StatusGone},
	"unavailable": {sandbox.ErrUnavailable, http.StatusServiceUnavailable},
}

// ToError names an error for the wire; what has no kind is unavailable, in passing.
func ToError(err error) (Error, int) {
	e := Error{Kind: "unavailable", Text: "the host failed"}
	if fault, ok := errors.AsType[*sandbox.Fault](err); ok {
		e.Text, e.Hint = fault.Text, fault.Hint
		if fault.Cause != nil {
			e.Text += ": " + fault.Cause.Error()
		}
	}
	for name, k := range kinds {
		if errors.Is(err, k.err) {
			e.Kind = name
		}
	}
	return e, kinds[e.Kind].status
}

// FromError is the other way round.
func FromError(e Error) error {
	k, ok := kinds[e.Kind]
	if !ok {
		k = kinds["unavailable"]
	}
	return &sandbox.Fault{Kind: k.err, Text: e.Text, Hint: e.Hint}
}

// Status is a host's own state.
type Status struct {
	Driver     string `json:"driver"`
	FreeMemory int64  `json:"free_memory"`
	Sandboxes  int    `json:"sandboxes"`
	Draining   bool   `json:"draining"`
}

// Command is sandbox.Command on the wire; standard input follows it in the body.
type Command struct {
	ID      string            `json:"id"`
	Waiter  string            `json:"waiter"` // who asks: others may wait for the same command
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
	Dir     string            `json:"dir,omitempty"`
	Timeout time.Duration     `json:"timeout,omitempty"`
	Stdin   bool              `json:"stdin"`
}

// Kinds of frame in the answer to an exec.
const (
	FrameStdout byte = 'O'
	FrameStderr byte = 'E'
	FrameResult byte = 'R'
	FrameError  byte = 'F'
	FrameAlive  byte = '.'
)

const maxFrame = 1 << 20

// WriteFrame writes one piece.
func WriteFrame(w io.Writer, kind byte, payload []byte) error {
	head := make([]byte, 5, 5+len(payload))
	head[0] = kind
	binary.BigEndian.PutUint32(head[1:], uint32(len(payload))) // #nosec G115 -- callers write small pieces
	_, err := w.Write(append(head, payload...))
	return err
}

// WriteJSONFrame writes one piece as JSON.
func WriteJSONFrame(w io.Writer, kind byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return WriteFrame(w, kind, b)
}

// ReadFrame reads one piece.
func ReadFrame(r io.Reader) (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("remote: a frame of %d bytes", n)
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(r, payload)
	return head[0], payload, err
}
