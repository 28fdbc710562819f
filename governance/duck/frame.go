package duck

import (
	"encoding/binary"
	"errors"
	"io"
)

// A frame is four bytes of length (little endian), one of kind, and the payload.
type kind byte

// The kinds of frames, to the worker and from it.
const (
	frameOpen   kind = 'O' // openRequest
	frameQuery  kind = 'Q' // queryRequest
	frameParse  kind = 'P' // SQL text
	framePrint  kind = 'R' // tree
	frameCancel kind = 'C' // stop what runs

	frameReady   kind = 'Y' // opened
	frameHead    kind = 'H' // []gate.Column
	frameRows    kind = 'B' // a batch of rows
	frameDone    kind = 'D' // doneReport
	frameError   kind = 'E' // errorReport
	frameParsed  kind = 'T' // tree
	framePrinted kind = 'U' // text, NUL, tree of the text
)

// maxFrame bounds what one side believes of the other.
const maxFrame = 64 << 20

var errFrame = errors.New("duck: frame too large")

func writeFrame(w io.Writer, k kind, payload []byte) error {
	if len(payload) > maxFrame {
		return errFrame
	}
	buf := make([]byte, 5, 5+len(payload))
	binary.LittleEndian.PutUint32(buf, uint32(len(payload)))
	buf[4] = byte(k)
	_, err := w.Write(append(buf, payload...))
	return err
}

func readFrame(r io.Reader) (kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxFrame {
		return 0, nil, errFrame
	}
	payload := make([]byte, n)
	_, err := io.ReadFull(r, payload)
	return kind(head[4]), payload, err
}

// openRequest tells a worker which file it serves, once.
type openRequest struct {
	Path    string `json:"path"` // "" for an empty database in memory
	Memory  int64  `json:"memory"`
	Threads int    `json:"threads"`
}

// queryRequest is one statement.
type queryRequest struct {
	ID  string `json:"id"` // what a cancel names
	SQL string `json:"sql"`
	// Relations are those that its plan may touch; null: whatever there is.
	Relations []string `json:"relations"`
	Explain   bool     `json:"explain,omitempty"` // its plan instead of its rows
	Millis    int64    `json:"ms"`
	MaxRows   int      `json:"max_rows"`
	MaxBytes  int64    `json:"max_bytes"`
}

// doneReport closes an answer. Rows lets the reader notice a row that was lost on the way.
type doneReport struct {
	Rows      int   `json:"rows"`
	Bytes     int64 `json:"bytes"`
	Truncated bool  `json:"truncated"`
}

// errorReport closes an answer that failed.
type errorReport struct {
	Class   string `json:"class"` // of the classes in errors.go
	Message string `json:"message"`
}
