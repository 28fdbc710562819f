// Package folder delivers reports into folders that other systems pick them up from.
package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"bordereau/agent/artifact"
	"bordereau/agent/schedule"
)

// Outbox delivers below one folder: ORGANISATION/NAME/TIME-ID/.
type Outbox struct{ dir string }

var _ schedule.Deliverer = (*Outbox)(nil)

// Open returns an outbox in a folder, which it makes when it is missing.
func Open(dir string) (*Outbox, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(abs, 0o750)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the outbox: %w", err)
	}
	return &Outbox{dir: abs}, nil
}

// Deliver writes a letter's text and files, whole or not at all: they appear under their final name in one step. What is there
// from an earlier attempt is left as it is, so that a repetition changes nothing.
func (o *Outbox) Deliver(ctx context.Context, to schedule.Destination, l schedule.Letter) (receipt string, err error) {
	root, err := os.OpenRoot(o.dir)
	if err != nil {
		return "", failed(err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	parent := path.Join(l.Org, to.To)
	final := path.Join(parent, l.At.UTC().Format("20060102T150405Z")+"-"+string(l.Parcel)+"-"+l.ID)
	if _, err := root.Stat(final); err == nil {
		return "written before: " + final, nil
	}
	draft := path.Join(parent, ".draft-"+l.ID)
	if err := errors.Join(root.RemoveAll(draft), root.MkdirAll(draft, 0o750)); err != nil {
		return "", failed(err)
	}
	text := l.Subject + "\n\n" + l.Text + "\n\n" + l.Link + "\n"
	if err := write(root, path.Join(draft, "message.txt"), strings.NewReader(text), ""); err != nil {
		return "", failed(err)
	}
	for _, f := range l.Files {
		if err := deliverFile(ctx, root, draft, f); err != nil {
			return "", failed(err)
		}
	}
	if err := root.Rename(draft, final); err != nil {
		return "", failed(err)
	}
	return "written: " + final, nil
}

func deliverFile(ctx context.Context, root *os.Root, dir string, f schedule.File) error {
	in, err := f.Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(write(root, path.Join(dir, artifact.CleanName(f.Name)), in, f.SHA256), in.Close())
}

// write makes a file that is on the disk when it returns, and has the hash that it must have.
func write(root *os.Root, name string, in io.Reader, sha string) error {
	out, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o640) // #nosec G302 -- who picks it up is of the group
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, sum), in)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); sha != "" && got != sha {
		return fmt.Errorf("%s: its hash is %s, wanted %s", name, got, sha)
	}
	return nil
}

func failed(err error) error {
	hint := "check that the folder exists, is writable, and has room"
	if errors.Is(err, fs.ErrPermission) {
		hint = "the folder is not writable by Bordereau"
	}
	return &schedule.Refusal{Message: "the folder could not be written", Hint: hint, Cause: err}
}
