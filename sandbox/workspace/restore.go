package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"gocloud.dev/gcerrors"

	"bordereau/sandbox"
)

// Restored says what came back.
type Restored struct {
	Taken time.Time // of the checkpoint; zero when there was none
	Files int
	Bytes int64
	Left  []Left // what could not be brought back, in words for the model and the person
}

// Restore writes the last checkpoint of a conversation into a new, empty sandbox, each file checked by its hash.
func (c *Checkpoints) Restore(ctx context.Context, box Box, id, conversation string) (Restored, error) {
	m, err := c.Last(ctx, conversation)
	if err != nil || m == nil {
		return Restored{}, err
	}
	r := Restored{Taken: m.Taken, Left: m.Left}
	var script bytes.Buffer
	for _, e := range m.Entries {
		switch {
		case e.Mode.IsDir():
			fmt.Fprintf(&script, "mkdir -p -- %s\n", quote(e.Path))
		case e.Mode&fs.ModeSymlink != 0:
			fmt.Fprintf(&script, "ln -sfn -- %s %s\n", quote(e.Link), quote(e.Path))
		default:
			piece := &pieces{ctx: ctx, c: c, prefix: prefix(conversation), left: e.Chunks, sum: sha256.New()}
			if err := box.WriteFile(ctx, id, e.Path, piece); err != nil {
				if piece.broken != "" {
					r.Left = append(r.Left, Left{Path: e.Path, Why: piece.broken})
					continue
				}
				return r, err
			}
			if got := hex.EncodeToString(piece.sum.Sum(nil)); got != e.SHA256 {
				r.Left = append(r.Left, Left{Path: e.Path, Why: "its stored content is damaged"})
				continue
			}
			r.Files, r.Bytes = r.Files+1, r.Bytes+e.Size
			if perm := e.Mode.Perm(); perm != 0o644 {
				fmt.Fprintf(&script, "chmod %o -- %s\n", perm, quote(e.Path))
			}
		}
	}
	if script.Len() == 0 {
		return r, nil
	}
	var said bytes.Buffer
	res, err := box.Exec(ctx, id, sandbox.Command{
		Args: []string{"/bin/sh", "-s"}, Dir: sandbox.WorkspaceDir, Stdin: &script, Stderr: &said, Timeout: 2 * time.Minute,
	})
	if err != nil {
		return r, err
	}
	if res.ExitCode != 0 || said.Len() > 0 {
		r.Left = append(r.Left, Left{Path: sandbox.WorkspaceDir, Why: "some modes or links could not be set: " + strings.TrimSpace(said.String())})
	}
	return r, nil
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// pieces reads a file's content from its chunks.
type pieces struct {
	ctx    context.Context //nolint:containedctx // an io.Reader can't be given one
	c      *Checkpoints
	prefix string
	left   []string
	buf    []byte
	sum    interface {
		io.Writer
		Sum([]byte) []byte
	}
	broken string
}

// Read gives the next bytes.
func (p *pieces) Read(b []byte) (int, error) {
	for len(p.buf) == 0 {
		if len(p.left) == 0 {
			return 0, io.EOF
		}
		name := p.left[0]
		p.left = p.left[1:]
		packed, err := p.c.cfg.Bucket.ReadAll(p.ctx, p.prefix+name)
		if err != nil {
			if gcerrors.Code(err) == gcerrors.NotFound {
				p.broken = "its stored content is missing"
				return 0, err
			}
			return 0, sandbox.Unavailable(err, "can't read a checkpoint")
		}
		p.buf, err = p.c.decoder.DecodeAll(packed, nil)
		if got := sha256.Sum256(p.buf); err != nil || hex.EncodeToString(got[:]) != name {
			p.broken = "its stored content is damaged"
			return 0, fmt.Errorf("workspace: chunk %s is damaged", name)
		}
	}
	n := copy(b, p.buf)
	p.buf = p.buf[n:]
	_, _ = p.sum.Write(b[:n])
	return n, nil
}
