package toolbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/agent/artifact"
	"bordereau/agent/journal"
	"bordereau/agent/turn"
	"bordereau/sandbox"
)

// folders is a sandbox without walls, for tests of what stands in front of it: a folder, and bash in it.
type folders struct {
	dir  string
	hold chan struct{} // Acquire waits for it

	mu       sync.Mutex
	id       string
	note     string
	token    string
	fetches  int
	keeps    int
	releases int
	failNext []error // of Exec
}

func newFolders(t *testing.T) *folders {
	t.Helper()
	return &folders{dir: t.TempDir(), id: "s-1"}
}

func (f *folders) Reserve(context.Context, string, string) (string, error) { return "s-1", nil }

func (f *folders) Acquire(context.Context, string, string) (Workspace, error) {
	if f.hold != nil {
		<-f.hold
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fetches++
	note := f.note
	f.note = ""
	return Workspace{ID: f.id, Note: note}, nil
}

func (f *folders) Keep(context.Context, string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keeps++
	return nil, nil
}

func (f *folders) Release(string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.releases++
}

func (f *folders) acquired() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fetches
}

func (f *folders) check(id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id != f.id {
		return sandbox.ErrNotFound
	}
	return nil
}

// replace loses the sandbox: the next one has another id and an empty workspace.
func (f *folders) replace(id, note string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.id, f.note = id, note
}

func (f *folders) host(p string) string {
	return filepath.Join(f.dir, strings.TrimPrefix(p, sandbox.WorkspaceDir))
}

func (f *folders) Exec(ctx context.Context, id string, c sandbox.Command) (sandbox.Result, error) {
	f.mu.Lock()
	if len(f.failNext) > 0 {
		err := f.failNext[0]
		f.failNext = f.failNext[1:]
		f.mu.Unlock()
		return sandbox.Result{}, err
	}
	f.mu.Unlock()
	if err := f.check(id); err != nil {
		return sandbox.Result{}, err
	}
	args := slices.Clone(c.Args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], sandbox.WorkspaceDir, f.dir)
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = f.dir, c.Stdout, c.Stderr, time.Second
	began := time.Now()
	err := cmd.Run()
	res := sandbox.Result{ExitCode: cmd.ProcessState.ExitCode(), Duration: time.Since(began), TimedOut: ctx.Err() != nil}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return res, err
	}
	return res, nil
}

func (f *folders) ReadFile(_ context.Context, id, p string) (io.ReadCloser, sandbox.File, error) {
	if err := f.check(id); err != nil {
		return nil, sandbox.File{}, err
	}
	file, err := os.Open(f.host(p))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, sandbox.File{}, sandbox.ErrNoFile
	}
	if err != nil {
		return nil, sandbox.File{}, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, sandbox.File{}, err
	}
	return file, sandbox.File{Path: p, Size: info.Size(), Mode: info.Mode(), Modified: info.ModTime()}, nil
}

func (f *folders) WriteFile(_ context.Context, id, p string, content io.Reader) error {
	if err := f.check(id); err != nil {
		return err
	}
	raw, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.host(p)), 0o750); err != nil {
		return err
	}
	return os.WriteFile(f.host(p), raw, 0o600)
}

func (f *folders) ListFiles(_ context.Context, id, dir string) ([]sandbox.File, error) {
	if err := f.check(id); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(f.host(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, sandbox.ErrNoFile
	}
	var out []sandbox.File
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		out = append(out, sandbox.File{Path: dir + "/" + e.Name(), Size: info.Size(), Mode: info.Mode(), Modified: info.ModTime()})
	}
	return out, err
}

func (f *folders) MoveFile(context.Context, string, string, string) error {
	return sandbox.ErrUnsupported
}

func (f *folders) RemoveFile(context.Context, string, string) error { return sandbox.ErrUnsupported }

func (f *folders) SetToken(_ context.Context, id, token string) error {
	if err := f.check(id); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.token = token
	return nil
}

func (f *folders) read(t *testing.T, p string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(f.dir, p))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	tools := r.open(t, 1)
	got := call(t, tools, "run", map[string]any{"script": "echo out; echo err >&2; exit 3"})
	if !got.Error || !strings.HasPrefix(got.Text, "exit code 3 after ") || !strings.Contains(got.Text, "out\nerr\n") {
		t.Errorf("got %q", got.Text)
	}
	if r.boxes.token == "" {
		t.Error("the sandbox has no token")
	}
	if got := call(t, tools, "run", map[string]any{"script": "sleep 30", "timeout_seconds": 1}); !got.Error || !strings.HasPrefix(got.Text, "stopped after 1s") {
		t.Errorf("got %q", got.Text)
	}
	if got := call(t, tools, "run", map[string]any{"script": "yes | head -c 3000000"}); !strings.Contains(got.Text[:200], "is cut") || len(got.Text) > maxOutput+200 {
		t.Errorf("%d bytes: %q", len(got.Text), got.Text[:80])
	}
	for name, input := range map[string]map[string]any{
		"empty": {"script": "  "}, "long": {"script": strings.Repeat("x", maxScript+1)}, "unknown key": {"script": "ls", "user": "root"}, "zero": {"script": "a\x00b"},
	} {
		if got := call(t, tools, "run", input); !got.Error {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if err := tools.Close(t.Context()); err != nil || r.boxes.token != "" {
		t.Errorf("the token stays in the sandbox (%v)", err)
	}
	if r.boxes.keeps != 1 || r.boxes.releases != r.boxes.fetches {
		t.Errorf("kept %d times, released %d of %d", r.boxes.keeps, r.boxes.releases, r.boxes.fetches)
	}
}

// A script that was under way when its backend was killed has an unknown outcome: the turn goes on with that, it doesn't fail.
func TestRunWhoseBackendDiedIsUnknown(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	tools := r.open(t, 2)
	r.boxes.failNext = []error{&sandbox.Fault{Kind: sandbox.ErrInterrupted, Text: "was under way when the process that drove it died"}}
	c := turn.Call{ID: "x", Name: "run", Key: "t-1:78", Again: true, Input: []byte(`{"script":"true"}`)}
	if _, err := tools.Call(t.Context(), c); !errors.Is(err, turn.ErrUnknownOutcome) {
		t.Errorf("error %v", err)
	}
}

// A step that ran before, and whose result nobody has, is not run twice.
func TestRunAgainIsUnknown(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	tools := r.open(t, 2)
	c := turn.Call{ID: "x", Name: "run", Key: "t-1:77", Input: []byte(`{"script":"echo once >> log"}`)}
	if _, err := tools.Call(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c.Again = true
	if _, err := tools.Call(t.Context(), c); !errors.Is(err, turn.ErrUnknownOutcome) {
		t.Errorf("got %v", err)
	}
	if log := r.boxes.read(t, "log"); log != "once\n" {
		t.Errorf("it ran twice: %q", log)
	}
}

func TestSandboxLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	tools := r.open(t, 1)
	call(t, tools, "write_file", map[string]any{"path": "a.txt", "content": "A"})
	r.boxes.replace("s-2", "restored from a checkpoint of 12:00; a.txt is missing")
	got := call(t, tools, "run", map[string]any{"script": "echo hi"})
	if !got.Error || !strings.Contains(got.Text, `"interrupted"`) || !strings.Contains(got.Text, "a.txt is missing") || !strings.Contains(got.Text, `"component":"sandbox"`) {
		t.Errorf("got %q", got.Text)
	}
	if got := call(t, tools, "run", map[string]any{"script": "echo hi"}); got.Error {
		t.Errorf("got %+v", got)
	}
	r.boxes.replace("s-3", "")
	if got := call(t, tools, "write_file", map[string]any{"path": "b.txt", "content": "B"}); got.Error {
		t.Errorf("a write that may be repeated was not: %+v", got)
	}
	r.boxes.mu.Lock()
	r.boxes.failNext = []error{errors.New("kernel panic: secret path")}
	r.boxes.mu.Unlock()
	_, err := tryCall(t, tools, "run", map[string]any{"script": "true"})
	failure(t, err, "sandbox", "internal")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the cause is shown: %v", err)
	}
}

func TestFilesStayInTheWorkspace(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	tools := r.open(t, 1)
	for _, p := range []string{"../etc/passwd", "/etc/passwd", "/workspace/../etc/passwd", "", "/workspacex/a", "a\x00b"} {
		for _, tool := range []string{"read_file", "write_file"} {
			input := map[string]any{"path": p}
			if tool == "write_file" {
				input["content"] = "x"
			}
			if got := call(t, tools, tool, input); !got.Error || !strings.Contains(got.Text, "invalid") {
				t.Errorf("%s %q: %+v", tool, p, got)
			}
		}
	}
	call(t, tools, "write_file", map[string]any{"path": "notes/a.txt", "content": "grün\n"})
	if got := call(t, tools, "read_file", map[string]any{"path": "/workspace/notes/a.txt"}); got.Text != "grün\n" {
		t.Errorf("read %q", got.Text)
	}
	if got := call(t, tools, "list_files", map[string]any{"path": "notes"}); !strings.Contains(got.Text, "/workspace/notes/a.txt") {
		t.Errorf("listed %q", got.Text)
	}
	if got := call(t, tools, "read_file", map[string]any{"path": "nothing"}); !got.Error || !strings.Contains(got.Text, "not_found") {
		t.Errorf("got %+v", got)
	}
	call(t, tools, "run", map[string]any{"script": "head -c 300000 /dev/zero | tr '\\0' x > long; printf '\\377\\000' > binary"})
	if got := call(t, tools, "read_file", map[string]any{"path": "long"}); !strings.HasSuffix(got.Text, "[262144 of 300000 bytes; go on with offset 262144]") {
		t.Errorf("ends %q", got.Text[len(got.Text)-80:])
	}
	if got := call(t, tools, "read_file", map[string]any{"path": "long", "offset": 299999}); got.Text != "x" {
		t.Errorf("read %q", got.Text)
	}
	if got := call(t, tools, "read_file", map[string]any{"path": "binary"}); !got.Error {
		t.Errorf("read a binary file: %+v", got)
	}
	path, err := tools.Save(t.Context(), "run/1.txt", []byte("whole"))
	if err != nil || r.boxes.read(t, strings.TrimPrefix(path, "/workspace/")) != "whole" {
		t.Errorf("saved at %q, %v", path, err)
	}
}

func TestDocumentsAreInTheWorkspace(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	put := func(name, text string) {
		f, err := r.files.Put(t.Context(), artifact.Put{Org: "acme", Name: name, Content: strings.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		r.uploads.list = append(r.uploads.list, artifact.Upload{Org: "acme", Conversation: "c-1", Name: name, Size: f.Size, SHA256: f.SHA256})
	}
	put("schedule.csv", "vin\n1\n")
	tools := r.open(t, 1)
	if got := call(t, tools, "run", map[string]any{"script": "cat /workspace/documents/schedule.csv"}); !strings.Contains(got.Text, "vin\n1\n") {
		t.Errorf("got %q", got.Text)
	}
	put("late.csv", "x")
	if got := call(t, tools, "read_file", map[string]any{"path": "documents/late.csv"}); got.Text != "x" {
		t.Errorf("a file that came in mid-turn: %+v", got)
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	if err := os.MkdirAll(filepath.Join(r.boxes.dir, "artifacts", "deep"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.boxes.dir, "artifacts", "old.txt"), []byte("of an earlier turn"), 0o600); err != nil {
		t.Fatal(err)
	}
	tools := r.open(t, 1)
	collect := func() string {
		t.Helper()
		all, err := tools.Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, a := range all {
			if ok, err := r.files.Has(t.Context(), "acme", a.SHA256); !ok || err != nil {
				t.Errorf("%s is not in the store (%v)", a.Name, err)
			}
			names = append(names, a.Name)
		}
		return strings.Join(names, " ")
	}
	if got := collect(); got != "" || r.boxes.acquired() != 0 {
		t.Errorf("collected %q of a sandbox that nobody asked for", got)
	}
	call(t, tools, "run", map[string]any{"script": "echo 1 > artifacts/a.csv; echo 2 > artifacts/deep/b.csv; ln -s /etc/passwd artifacts/link"})
	if got := collect(); got != "a.csv deep-b.csv" {
		t.Errorf("collected %q", got)
	}
	if got := collect(); got != "" {
		t.Errorf("collected %q again", got)
	}
	call(t, tools, "run", map[string]any{"script": "echo 3 >> artifacts/a.csv"})
	if got := collect(); got != "a.csv" {
		t.Errorf("collected %q after a change", got)
	}
}

// Another runner that takes the turn over delivers what the first one left in the workspace, and nothing twice.
func TestCollectAfterTakeover(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	if err := os.MkdirAll(filepath.Join(r.boxes.dir, "artifacts"), 0o750); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"told.txt": "told", "left.txt": "left"} {
		if err := os.WriteFile(filepath.Join(r.boxes.dir, "artifacts", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := r.files.Put(t.Context(), artifact.Put{Org: "acme", Name: "told.txt", Content: bytes.NewReader([]byte("told"))})
	if err != nil {
		t.Fatal(err)
	}
	r.past.list = []journal.Artifact{{Name: "told.txt", SHA256: f.SHA256}}
	all, err := r.open(t, 2).Collect(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "left.txt" {
		t.Errorf("collected %+v, %v", all, err)
	}
}
