package sandboxtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"bordereau/sandbox"
)

// Memory is a driver whose sandboxes are maps, for tests of what is built on drivers. It runs no programs: every command ends with 0.
type Memory struct {
	// Fault is asked before each call, "find", "exec", …; what it returns is the call's answer. Lost is asked after it: then the call had
	// its effect, and its answer is lost.
	Fault, Lost func(call, id string) error
	Now         func() time.Time

	mu    sync.Mutex
	boxes map[string]*memoryBox
	Calls map[string]int
}

type memoryBox struct {
	info  sandbox.Info
	files map[string]memoryFile
	token string
}

type memoryFile struct {
	content  []byte
	modified time.Time
}

var (
	_ sandbox.Driver  = (*Memory)(nil)
	_ sandbox.Claimer = (*Memory)(nil)
)

// do runs one call under the lock and the faults.
func (m *Memory) do(call, id string, need bool, act func(b *memoryBox) error) error {
	if m.Fault != nil {
		if err := m.Fault(call, id); err != nil {
			return err
		}
	}
	m.mu.Lock()
	if m.boxes == nil {
		m.boxes, m.Calls = map[string]*memoryBox{}, map[string]int{}
	}
	m.Calls[call]++
	b := m.boxes[id]
	var err error
	if need && b == nil {
		err = sandbox.NotFound(id)
	} else {
		err = act(b)
	}
	m.mu.Unlock()
	if err == nil && m.Lost != nil {
		err = m.Lost(call, id)
	}
	return err
}

func (m *Memory) now() time.Time {
	if m.Now != nil {
		return m.Now()
	}
	return time.Now()
}

// Lose makes a sandbox be gone, as a host that burns down does.
func (m *Memory) Lose(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.boxes, id)
}

// Wipe empties a workspace, as a resume that forgets does.
func (m *Memory) Wipe(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boxes[id].files = map[string]memoryFile{}
}

// IDs lists what exists.
func (m *Memory) IDs() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []string
	for id := range m.boxes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// State is a sandbox's, "" when there is none.
func (m *Memory) State(id string) sandbox.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.boxes[id]; b != nil {
		return b.info.State
	}
	return ""
}

// Create makes a sandbox.
func (m *Memory) Create(_ context.Context, spec sandbox.Spec) (info sandbox.Info, err error) {
	err = m.do("create", spec.ID, false, func(b *memoryBox) error {
		if b != nil {
			return &sandbox.Fault{Kind: sandbox.ErrExists, Text: spec.ID}
		}
		if err := sandbox.CheckID(spec.ID); err != nil {
			return err
		}
		info = sandbox.Info{ID: spec.ID, Org: spec.Org, State: sandbox.Running, Driver: "memory", Created: m.now()}
		m.boxes[spec.ID] = &memoryBox{info: info, files: map[string]memoryFile{}}
		return nil
	})
	return info, err
}

// Find tells where it stands.
func (m *Memory) Find(_ context.Context, id string) (info sandbox.Info, err error) {
	err = m.do("find", id, true, func(b *memoryBox) error { info = b.info; return nil })
	return info, err
}

// List tells of all.
func (m *Memory) List(context.Context) (infos []sandbox.Info, err error) {
	err = m.do("list", "", false, func(*memoryBox) error {
		for _, b := range m.boxes {
			infos = append(infos, b.info)
		}
		return nil
	})
	return infos, err
}

func (m *Memory) to(call, id string, state sandbox.State) error {
	return m.do(call, id, true, func(b *memoryBox) error {
		if !b.info.State.May(state) {
			return sandbox.Invalid("%s can't become %s", b.info.State, state)
		}
		b.info.State = state
		return nil
	})
}

// Start starts, or goes on.
func (m *Memory) Start(_ context.Context, id string) error { return m.to("start", id, sandbox.Running) }

// Pause freezes.
func (m *Memory) Pause(_ context.Context, id string) error { return m.to("pause", id, sandbox.Paused) }

// Stop stops.
func (m *Memory) Stop(_ context.Context, id string) error { return m.to("stop", id, sandbox.Stopped) }

// Delete removes.
func (m *Memory) Delete(_ context.Context, id string) error {
	return m.do("delete", id, false, func(*memoryBox) error { delete(m.boxes, id); return nil })
}

// Claim renames.
func (m *Memory) Claim(_ context.Context, from string, to sandbox.Spec) (info sandbox.Info, err error) {
	err = m.do("claim", from, true, func(b *memoryBox) error {
		if m.boxes[to.ID] != nil {
			return &sandbox.Fault{Kind: sandbox.ErrExists, Text: to.ID}
		}
		b.info.ID, b.info.Org = to.ID, to.Org
		m.boxes[to.ID] = b
		delete(m.boxes, from)
		info = b.info
		return nil
	})
	return info, err
}

// Exec ends with 0.
func (m *Memory) Exec(_ context.Context, id string, cmd sandbox.Command) (sandbox.Result, error) {
	err := m.do("exec", id, true, func(b *memoryBox) error {
		if b.info.State != sandbox.Running {
			return sandbox.Unavailable(nil, "it is %s", b.info.State)
		}
		return nil
	})
	if err == nil && cmd.Stdin != nil {
		_, err = io.Copy(io.Discard, cmd.Stdin)
	}
	return sandbox.Result{}, err
}

// ReadFile opens a file.
func (m *Memory) ReadFile(_ context.Context, id, name string) (r io.ReadCloser, f sandbox.File, err error) {
	err = m.do("read", id, true, func(b *memoryBox) error {
		file, ok := b.files[abs(name)]
		if !ok {
			return &sandbox.Fault{Kind: sandbox.ErrNoFile, Text: name}
		}
		r = io.NopCloser(bytes.NewReader(file.content))
		f = sandbox.File{Path: abs(name), Size: int64(len(file.content)), Mode: 0o644, Modified: file.modified}
		return nil
	})
	return r, f, err
}

func abs(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(sandbox.WorkspaceDir, name)
}

// WriteFile replaces a file.
func (m *Memory) WriteFile(_ context.Context, id, name string, content io.Reader) error {
	text, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	return m.do("write", id, true, func(b *memoryBox) error {
		b.files[abs(name)] = memoryFile{text, m.now()}
		return nil
	})
}

// ListFiles lists a folder.
func (m *Memory) ListFiles(_ context.Context, id, dir string) (files []sandbox.File, err error) {
	err = m.do("files", id, true, func(b *memoryBox) error {
		seen := map[string]bool{}
		for name, f := range b.files {
			rest, ok := strings.CutPrefix(name, abs(dir)+"/")
			if !ok {
				continue
			}
			first, _, deep := strings.Cut(rest, "/")
			full := abs(dir) + "/" + first
			if seen[full] {
				continue
			}
			seen[full] = true
			if deep {
				files = append(files, sandbox.File{Path: full, Mode: fs.ModeDir | 0o755})
			} else {
				files = append(files, sandbox.File{Path: full, Size: int64(len(f.content)), Mode: 0o644, Modified: f.modified})
			}
		}
		slices.SortFunc(files, func(x, y sandbox.File) int { return strings.Compare(x.Path, y.Path) })
		return nil
	})
	return files, err
}

// MoveFile renames a file.
func (m *Memory) MoveFile(_ context.Context, id, from, to string) error {
	return m.do("move", id, true, func(b *memoryBox) error {
		f, ok := b.files[abs(from)]
		if !ok {
			return &sandbox.Fault{Kind: sandbox.ErrNoFile, Text: from}
		}
		delete(b.files, abs(from))
		b.files[abs(to)] = f
		return nil
	})
}

// RemoveFile removes a file.
func (m *Memory) RemoveFile(_ context.Context, id, name string) error {
	return m.do("remove", id, true, func(b *memoryBox) error {
		if _, ok := b.files[abs(name)]; !ok {
			return &sandbox.Fault{Kind: sandbox.ErrNoFile, Text: name}
		}
		delete(b.files, abs(name))
		return nil
	})
}

// SetToken keeps it.
func (m *Memory) SetToken(_ context.Context, id, token string) error {
	return m.do("token", id, true, func(b *memoryBox) error { b.token = token; return nil })
}

// Put writes a file directly, as code inside would.
func (m *Memory) Put(id, name, content string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boxes[id].files[abs(name)] = memoryFile{[]byte(content), m.now()}
}

// Get reads one directly.
func (m *Memory) Get(id, name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.boxes[id]
	if b == nil {
		return fmt.Sprintf("no sandbox %s", id)
	}
	return string(b.files[abs(name)].content)
}
