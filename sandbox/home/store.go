// Package home is what one local sandbox keeps on its host: its record, its workspace, its door and its results.
package home

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/execution"
)

// Config is what a Store needs. Doors may be nil: then sandboxes have no way out at all.
type Config struct {
	Folder   string // absolute
	Quota    bool   // give each workspace a filesystem of its own size; needs root and loop devices
	FirstUID int    // host users FirstUID to FirstUID+Users-1 own the workspaces; 0: whoever runs this
	Users    int
	Doors    Doors
	Log      *slog.Logger
	Now      func() time.Time
}

// Store keeps the homes of one driver.
type Store struct {
	cfg Config

	mu    sync.Mutex
	homes map[string]*Home // by sandbox id
	keys  uint64
}

// Home is one sandbox's. Mu serialises its life; holders may change Record and call Save.
type Home struct {
	Key string
	Dir string
	Mu  sync.Mutex

	store  *Store
	record Record
	vol    *volume
	Book   *execution.Book
}

// Open reads the homes that an earlier process left and mounts nothing.
func Open(cfg Config) (*Store, error) {
	if cfg.Folder == "" || !filepath.IsAbs(cfg.Folder) || cfg.Log == nil || cfg.Now == nil {
		return nil, fmt.Errorf("home: an absolute folder, a log and a clock are required")
	}
	s := &Store{cfg: cfg, homes: map[string]*Home{}}
	if err := os.MkdirAll(filepath.Join(cfg.Folder, "homes"), 0o711); err != nil {
		return nil, err
	}
	// The drivers' users must be able to pass through, not to look around.
	if err := errors.Join(os.Chmod(cfg.Folder, 0o711), os.Chmod(filepath.Join(cfg.Folder, "homes"), 0o711)); err != nil { // #nosec G302 -- no read
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(cfg.Folder, "homes"))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		dir := filepath.Join(cfg.Folder, "homes", e.Name())
		h := s.home(e.Name())
		r, err := readRecord(dir)
		if err != nil || r.State == sandbox.Creating || r.State == sandbox.Gone {
			// A crash in the middle of a creation or a deletion: nobody was told of it, nobody misses it.
			cfg.Log.Warn("removing an unfinished sandbox", slog.String("key", e.Name()))
			if err := h.erase(); err != nil {
				cfg.Log.Error("can't remove an unfinished sandbox", slog.String("key", e.Name()), slog.Any("error", err))
			}
			continue
		}
		h.record = r
		s.homes[r.ID] = h
	}
	return s, nil
}

func (s *Store) home(key string) *Home {
	dir := filepath.Join(s.cfg.Folder, "homes", key)
	return &Home{
		Key: key, Dir: dir, store: s,
		vol:  &volume{dir: filepath.Join(dir, "volume"), image: filepath.Join(dir, "volume.img")},
		Book: execution.NewBook(filepath.Join(dir, "runs"), s.cfg.Now),
	}
}

// Create makes a home in state Creating, its workspace ready, and returns it with Mu held.
func (s *Store) Create(spec sandbox.Spec, key string) (*Home, error) {
	if err := sandbox.CheckID(spec.ID); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.homes[spec.ID] != nil {
		s.mu.Unlock()
		return nil, &sandbox.Fault{Kind: sandbox.ErrExists, Text: fmt.Sprintf("%q", spec.ID)}
	}
	h := s.home(key)
	h.record = Record{ID: spec.ID, Org: spec.Org, State: sandbox.Creating, Created: s.cfg.Now(), Limits: spec.Limits.Or(), UID: s.freeUID()}
	s.homes[spec.ID] = h
	h.Mu.Lock()
	s.mu.Unlock()
	if err := h.build(); err != nil {
		h.Discard()
		return nil, sandbox.Unavailable(err, "can't make a home for %q", spec.ID)
	}
	return h, nil
}

// freeUID picks a host user that no other home has, as long as there are any. The caller holds mu.
func (s *Store) freeUID() int {
	if s.cfg.FirstUID == 0 {
		return os.Getuid()
	}
	used := map[int]bool{}
	for _, h := range s.homes {
		used[h.record.UID] = true
	}
	for range s.cfg.Users {
		uid := s.cfg.FirstUID + int(s.keys%uint64(s.cfg.Users)) // #nosec G115 -- below Users
		s.keys++
		if !used[uid] {
			return uid
		}
	}
	return s.cfg.FirstUID + int(s.keys%uint64(s.cfg.Users)) // #nosec G115 -- below Users
}

func (h *Home) build() error {
	for _, d := range []string{h.Dir, h.DoorDir()} {
		if err := os.MkdirAll(d, 0o711); err != nil {
			return err
		}
	}
	for _, d := range []string{h.ControlDir(), filepath.Join(h.Dir, "runs"), filepath.Join(h.Dir, "bundle")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	// The mask of this process must not decide what a sandbox's user may pass.
	if err := errors.Join(os.Chmod(h.Dir, 0o711), os.Chmod(h.DoorDir(), 0o755)); err != nil { // #nosec G302 -- meant
		return err
	}
	if err := h.Save(); err != nil {
		return err
	}
	if h.store.cfg.Quota {
		if err := h.vol.format(h.store.cfg.Folder, h.record.Limits.WorkspaceBytes); err != nil {
			return err
		}
	}
	if err := h.Mount(); err != nil {
		return err
	}
	for _, d := range []string{h.Workspace(), h.Tmp(), filepath.Join(h.Workspace(), "documents"), filepath.Join(h.Workspace(), "artifacts")} {
		if err := os.Mkdir(d, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := os.Chown(d, h.record.UID, h.gid()); err != nil {
			return err
		}
	}
	return nil
}

func (h *Home) gid() int {
	if h.store.cfg.FirstUID == 0 {
		return os.Getgid()
	}
	return h.record.UID
}

// Find returns a home, or ErrNotFound.
func (s *Store) Find(id string) (*Home, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.homes[id]; h != nil {
		return h, nil
	}
	return nil, sandbox.NotFound(id)
}

// Lock finds a home and returns it with Mu held.
func (s *Store) Lock(id string) (*Home, error) {
	h, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	h.Mu.Lock()
	if h.record.ID != id { // renamed or gone while we waited
		h.Mu.Unlock()
		return nil, sandbox.NotFound(id)
	}
	return h, nil
}

// All returns every home, oldest first.
func (s *Store) All() []*Home {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*Home, 0, len(s.homes))
	for _, h := range s.homes {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b *Home) int {
		return strings.Compare(a.Key, b.Key)
	})
	return all
}

// Record is a copy of what is kept. The caller holds Mu.
func (h *Home) Record() Record { return h.record }

// Update changes the record and saves it. The caller holds Mu.
func (h *Home) Update(change func(*Record)) error {
	change(&h.record)
	return h.Save()
}

// Save writes the record.
func (h *Home) Save() error { return writeJSON(filepath.Join(h.Dir, "record.json"), h.record) }

// Claim gives the home another id and owner. The caller holds Mu.
func (s *Store) Claim(h *Home, to sandbox.Spec) error {
	if err := sandbox.CheckID(to.ID); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.homes[to.ID] != nil {
		return &sandbox.Fault{Kind: sandbox.ErrExists, Text: fmt.Sprintf("%q", to.ID)}
	}
	from := h.record
	h.record.ID, h.record.Org = to.ID, to.Org
	if err := h.Save(); err != nil {
		h.record = from
		return err
	}
	delete(s.homes, from.ID)
	s.homes[to.ID] = h
	return nil
}

// Discard removes the home and all in it. The caller holds Mu, and nothing runs in it any more; Mu is released.
func (h *Home) Discard() {
	defer h.Mu.Unlock()
	h.store.mu.Lock()
	delete(h.store.homes, h.record.ID)
	h.store.mu.Unlock()
	h.record.State = sandbox.Gone
	_ = h.Save() // a crash from here on is finished by Open
	h.record.ID = ""
	if err := h.erase(); err != nil {
		h.store.cfg.Log.Error("can't remove a sandbox's home", slog.String("key", h.Key), slog.Any("error", err))
	}
}

func (h *Home) erase() error {
	h.CloseDoor()
	if err := h.vol.unmount(); err != nil {
		return err
	}
	return os.RemoveAll(h.Dir)
}

// Info is what a driver says of it. The caller holds Mu.
func (h *Home) Info(driver string) sandbox.Info {
	return sandbox.Info{ID: h.record.ID, Org: h.record.Org, State: h.record.State, Driver: driver, Created: h.record.Created}
}

// Folders of a home, on the host.

// Workspace is bind-mounted at sandbox.WorkspaceDir.
func (h *Home) Workspace() string { return filepath.Join(h.Dir, "volume", "workspace") }

// Tmp is bind-mounted at /tmp, under the same quota.
func (h *Home) Tmp() string { return filepath.Join(h.Dir, "volume", "tmp") }

// DoorDir is bind-mounted read-only at sandbox.DoorDir.
func (h *Home) DoorDir() string { return filepath.Join(h.Dir, "door") }

// ControlDir is for the driver's own sockets.
func (h *Home) ControlDir() string { return filepath.Join(h.Dir, "control") }

// Bundle is for the runtime's configuration.
func (h *Home) Bundle() string { return filepath.Join(h.Dir, "bundle") }

// Mount makes the workspace reachable; it may be asked again.
func (h *Home) Mount() error {
	if h.store.cfg.Quota {
		return h.vol.mount()
	}
	return os.MkdirAll(filepath.Join(h.Dir, "volume"), 0o711)
}

// Unmount writes everything back; files stay reachable only through Mount.
func (h *Home) Unmount() error { return h.vol.unmount() }

// Sync makes what is written survive a crash of the host.
func (h *Home) Sync(context.Context) error { return h.vol.sync() }

// OpenDoor lets the sandbox reach its door, if there are doors.
func (h *Home) OpenDoor() error {
	if h.store.cfg.Doors == nil {
		return nil
	}
	return h.store.cfg.Doors.Open(h.record.ID, h.DoorDir())
}

// CloseDoor ends that.
func (h *Home) CloseDoor() {
	if h.store.cfg.Doors != nil {
		h.store.cfg.Doors.Close(h.DoorDir())
	}
}
