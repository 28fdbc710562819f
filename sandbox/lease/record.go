package lease

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Record is what is kept of a conversation's sandbox. It is written before anything is created, so that after a crash no sandbox is
// without an owner.
type Record struct {
	Conversation string
	Org          string
	N            int    // the how-manieth sandbox of this conversation
	Canary       string // what the workspace must hold
	Ready        bool   // it was created, restored and checked
	Restore      bool   // it replaces one, whose files come first
	Why          string // why it replaces one
	Used         time.Time
	Reaped       bool // given back after a long idle time, with a checkpoint
}

// ID is the sandbox's.
func (r Record) ID() string { return fmt.Sprintf("%s-%d", base(r.Conversation), r.N) }

var plain = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,47}$`) //nolint:gochecknoglobals // a constant

// base is the part of the id that stays.
func base(conversation string) string {
	if plain.MatchString(conversation) && !strings.HasPrefix(conversation, warmPrefix) && !strings.HasPrefix(conversation, "h-") {
		return conversation
	}
	sum := sha256.Sum256([]byte(conversation))
	return "h-" + hex.EncodeToString(sum[:16])
}

// book is the records in a folder, one file each.
type book struct{ folder string }

func (b book) file(conversation string) string {
	return filepath.Join(b.folder, base(conversation)+".json")
}

func (b book) load(conversation string) (Record, bool, error) {
	r, err := readRecord(b.file(conversation))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	if err == nil && r.Conversation != conversation {
		err = fmt.Errorf("lease: %s is of another conversation", b.file(conversation))
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

func (b book) save(r Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(b.folder, ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(text)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), b.file(r.Conversation))
}

func (b book) remove(conversation string) error {
	err := os.Remove(b.file(conversation))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (b book) all() ([]Record, error) {
	entries, err := os.ReadDir(b.folder)
	if err != nil {
		return nil, err
	}
	var records []Record
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		r, err := readRecord(filepath.Join(b.folder, e.Name()))
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}
