package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Folder is a Store of one process: a file for each record.
type Folder struct{ dir string }

var _ Store = (*Folder)(nil)

// NewFolder makes the folder where there is none.
func NewFolder(dir string) (*Folder, error) {
	if dir == "" {
		return nil, errors.New("lease: a folder is required")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lease: %w", err)
	}
	return &Folder{dir}, nil
}

func (f *Folder) file(conversation string) string {
	name := base(conversation)
	if strings.HasPrefix(conversation, warmPrefix) && plain.MatchString(conversation) {
		name = conversation
	}
	return filepath.Join(f.dir, name+".json")
}

// Load reads a record; false when there is none.
func (f *Folder) Load(_ context.Context, conversation string) (Record, bool, error) {
	r, err := readRecord(f.file(conversation))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	if err == nil && r.Conversation != conversation {
		err = fmt.Errorf("lease: %s is of another conversation", f.file(conversation))
	}
	return r, err == nil, err
}

func readRecord(file string) (Record, error) {
	text, err := os.ReadFile(file) // #nosec G304 -- our own folder
	if err != nil {
		return Record{}, err
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return Record{}, fmt.Errorf("lease: %s: %w", file, err)
	}
	return r, nil
}

// Save writes a record, whole or not at all.
func (f *Folder) Save(_ context.Context, r Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(f.dir, ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(text)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), f.file(r.Conversation))
}

// Remove forgets a record.
func (f *Folder) Remove(_ context.Context, conversation string) error {
	err := os.Remove(f.file(conversation))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// All reads every record.
func (f *Folder) All(context.Context) ([]Record, error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, err
	}
	var records []Record
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		r, err := readRecord(filepath.Join(f.dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed just now
		}
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// TryLock does nothing: within one process the Manager itself keeps users of one sandbox apart.
func (f *Folder) TryLock(ctx context.Context, _ string) (context.Context, func(), error) {
	return ctx, func() {}, nil
}
