package home

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"bordereau/sandbox"
)

// Record is what is kept of a sandbox across crashes of the backend.
type Record struct {
	ID      string
	Org     string
	State   sandbox.State
	Created time.Time
	Limits  sandbox.Limits
	UID     int    // the host user its files belong to
	Runtime string // the driver's own name for what runs it; empty when nothing does
	Pid     int    // of the runtime's main process, with PidStart to tell it from a later one
	Start   uint64
}

// writeJSON replaces a file so that a reader sees the old or the new one, also after a crash.
func writeJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return replaceFile(path, b, 0o600)
}

func replaceFile(path string, b []byte, mode os.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(b)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func readRecord(dir string) (Record, error) {
	b, err := os.ReadFile(filepath.Join(dir, "record.json")) // #nosec G304 -- our own folder
	if err != nil {
		return Record{}, err
	}
	var r Record
	if err := json.Unmarshal(b, &r); err != nil {
		return Record{}, fmt.Errorf("%s: %w", dir, err)
	}
	return r, nil
}
