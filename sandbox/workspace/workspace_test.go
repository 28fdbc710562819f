package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"bordereau/sandbox"
	"bordereau/sandbox/bubblewrap"
	"bordereau/sandbox/sandboxtest"
	"bordereau/sandbox/workspace"
)

func memory(t *testing.T) *sandboxtest.Memory {
	t.Helper()
	m := &sandboxtest.Memory{}
	if _, err := m.Create(t.Context(), sandbox.Spec{ID: "a", Org: "acme"}); err != nil {
		t.Fatal(err)
	}
	return m
}

func collect(t *testing.T, files workspace.Files, known map[string]string, caps workspace.Caps) (got map[string]string, left []workspace.Left) {
	t.Helper()
	got = map[string]string{}
	_, left, err := workspace.CollectArtifacts(t.Context(), files, "a", known, caps, func(_ context.Context, a workspace.Artifact, r io.Reader) error {
		b, err := io.ReadAll(r)
		got[a.Name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, left
}

func TestArtifactsAreCollectedOnce(t *testing.T) {
	t.Parallel()
	m := memory(t)
	known := map[string]string{}
	m.Put("a", "artifacts/r.xlsx", "one")
	m.Put("a", "artifacts/sub/c.png", "picture")
	m.Put("a", "other", "not an artifact")
	got, left := collect(t, m, known, workspace.Caps{})
	if len(got) != 2 || got["r.xlsx"] != "one" || got["sub/c.png"] != "picture" || len(left) != 0 {
		t.Fatal(got, left)
	}
	if got, _ = collect(t, m, known, workspace.Caps{}); len(got) != 0 {
		t.Fatal("again:", got)
	}
	m.Put("a", "artifacts/r.xlsx", "two")
	if got, _ = collect(t, m, known, workspace.Caps{}); len(got) != 1 || got["r.xlsx"] != "two" {
		t.Fatal("changed:", got)
	}
	m.Put("a", "artifacts/big", strings.Repeat("x", 2000))
	m.Put("a", "artifacts/many1", "1")
	got, left = collect(t, m, map[string]string{}, workspace.Caps{FileBytes: 1000, Files: 2})
	if len(got) != 2 || len(left) != 2 {
		t.Fatal("caps:", got, left)
	}
}

// growing is a file that gets longer each time it is looked at.
type growing struct {
	*sandboxtest.Memory
	n, stop int
}

func (g *growing) ReadFile(ctx context.Context, id, path string) (io.ReadCloser, sandbox.File, error) {
	r, f, err := g.Memory.ReadFile(ctx, id, path)
	if g.n++; g.n <= g.stop {
		g.Put(id, path, strings.Repeat("x", 10+g.n))
	}
	return r, f, err
}

func TestGrowingFileIsTakenWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	for _, stop := range []int{1, 2, 100} {
		m := &growing{Memory: memory(t), stop: stop}
		m.Put("a", "artifacts/f", "0123456789")
		got, left := collect(t, m, map[string]string{}, workspace.Caps{})
		if stop < 3 && got["f"] != strings.Repeat("x", 10+stop) {
			t.Fatalf("%d: %q %v", stop, got, left)
		}
		if stop == 100 && (len(got) != 0 || len(left) != 1 || !strings.Contains(left[0].Why, "being written")) {
			t.Fatal(got, left)
		}
	}
}

func TestDocumentsKeepTheirNames(t *testing.T) {
	t.Parallel()
	m := memory(t)
	doc := func(name, content string) workspace.Document {
		return workspace.Document{Name: name, Size: int64(len(content)), Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(content)), nil
		}}
	}
	docs := []workspace.Document{doc("schedule.xlsx", "a"), doc("schedule.xlsx", "bb"), doc("../../etc/passwd", "c"), doc("", "d"), doc("loss run (2026).pdf", "e"), doc("a\u202egnp.exe", "f")}
	paths, err := workspace.PutDocuments(t.Context(), m, "a", docs)
	if err != nil {
		t.Fatal(err)
	}
	want := "schedule.xlsx schedule-2.xlsx passwd document loss run (2026).pdf agnp.exe"
	for i, p := range paths {
		paths[i] = strings.TrimPrefix(p, sandbox.DocumentsDir+"/")
	}
	if got := strings.Join(paths, " "); got != want {
		t.Fatalf("%q", got)
	}
	if m.Get("a", "documents/schedule-2.xlsx") != "bb" {
		t.Fatal("content")
	}
	before := m.Calls["write"]
	if _, err := workspace.PutDocuments(t.Context(), m, "a", docs); err != nil || m.Calls["write"] != before {
		t.Fatal("written again", err)
	}
}

func FuzzCleanName(f *testing.F) {
	for _, s := range []string{"a.pdf", "../x", strings.Repeat("é", 300) + ".pdf", "\xff\x00", ".hidden", "-rf", strings.Repeat(".", 500)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := workspace.CleanName(s)
		if n == "" || len(n) > 200 || strings.ContainsAny(n, "/\x00\n") || n == "." || n == ".." || n[0] == '.' || n[0] == '-' || !utf8.ValidString(n) {
			t.Fatalf("%q -> %q", s, n)
		}
	})
}

func points(t *testing.T, bucket *blob.Bucket, now func() time.Time) *workspace.Checkpoints {
	t.Helper()
	c, err := workspace.NewCheckpoints(workspace.CheckpointConfig{Bucket: bucket, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCheckpointIsIncrementalAndVerified(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	at := time.Now()
	m := memory(t)
	m.Now = func() time.Time { return at }
	c := points(t, bucket, m.Now)
	big := strings.Repeat("0123456789abcdef", 1<<19) // 8 MiB, two chunks
	m.Put("a", "big.bin", big)
	m.Put("a", "empty", "")
	m.Put("a", "dir/small", "small")
	save := func() *workspace.Manifest {
		t.Helper()
		man, err := c.Save(ctx, m, "a", "conversation")
		if err != nil {
			t.Fatal(err)
		}
		return man
	}
	save()
	at = at.Add(time.Minute)
	m.Put("a", "dir/small", "changed")
	at = at.Add(time.Minute)
	reads := m.Calls["read"]
	save()
	if n := m.Calls["read"] - reads; n > 3 { // files of the same instant as the last checkpoint are read once more
		t.Fatalf("%d files were read again", n)
	}
	at = at.Add(time.Minute)
	reads = m.Calls["read"]
	save()
	if n := m.Calls["read"] - reads; n != 0 {
		t.Fatalf("%d unchanged files were read", n)
	}
	objects := 0
	for it := bucket.List(nil); ; objects++ {
		if _, err := it.Next(ctx); err != nil {
			break
		}
	}
	if objects != 1+1+1 { // list, big.bin's only chunk twice, small as it is now
		t.Fatalf("%d objects are kept", objects)
	}
	// Another process restores it.
	if _, err := m.Create(ctx, sandbox.Spec{ID: "b"}); err != nil {
		t.Fatal(err)
	}
	got, err := points(t, bucket, nil).Restore(ctx, m, "b", "conversation")
	if err != nil || got.Files != 3 || len(got.Left) != 0 || got.Taken.IsZero() {
		t.Fatalf("%+v %v", got, err)
	}
	if m.Get("b", "big.bin") != big || m.Get("b", "dir/small") != "changed" {
		t.Fatal("content")
	}
	// A damaged chunk is told, not handed out.
	it := bucket.List(nil)
	for {
		o, err := it.Next(ctx)
		if err != nil {
			break
		}
		if !strings.HasSuffix(o.Key, "manifest") && o.Size > 100 {
			if err := bucket.WriteAll(ctx, o.Key, []byte("garbage"), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, _ = m.Create(ctx, sandbox.Spec{ID: "c"})
	got, err = points(t, bucket, nil).Restore(ctx, m, "c", "conversation")
	if err != nil || got.Files != 2 || len(got.Left) != 1 || got.Left[0].Path != "/workspace/big.bin" {
		t.Fatalf("%+v %v", got, err)
	}
	if err := c.Forget(ctx, "conversation"); err != nil {
		t.Fatal(err)
	}
	if _, err := bucket.List(nil).Next(ctx); !errors.Is(err, io.EOF) {
		t.Fatal("something is kept")
	}
}

func TestRestoreIntoARealSandbox(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d, err := bubblewrap.New(ctx, bubblewrap.Config{Folder: sandboxtest.Folder(t), Log: sandboxtest.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	for _, id := range []string{"a", "b"} {
		if _, err := d.Create(ctx, sandbox.Spec{ID: id, Org: "acme"}); err != nil {
			t.Fatal(err)
		}
	}
	listing := func(id string) string {
		t.Helper()
		var out bytes.Buffer
		r, err := d.Exec(ctx, id, sandbox.Command{Args: []string{"sh", "-c", `find . -path ./.bordereau -prune -o -printf '%P %M %l\n' | sort; find . -type f -exec sha256sum {} + | sort`}, Stdout: &out})
		if err != nil || r.ExitCode != 0 {
			t.Fatal(r, err)
		}
		return out.String()
	}
	r, err := d.Exec(ctx, "a", sandbox.Command{Args: []string{"sh", "-c", `head -c 5242880 /dev/urandom > five.bin; printf '#!/bin/sh\necho hi\n' > tool; chmod 755 tool; ln -s tool link; ln -s /etc/passwd "out link"
mkdir -p "a b/c'd"; echo x > "a b/c'd/new
line"; mkdir empty; chmod 600 "a b/c'd/new
line"; mkfifo pipe`}})
	if err != nil || r.ExitCode != 0 {
		t.Fatal(r, err)
	}
	bucket, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		t.Fatal(err)
	}
	defer bucket.Close()
	c := points(t, bucket, nil)
	man, err := c.Save(ctx, d, "a", "conversation")
	if err != nil || len(man.Left) != 1 || !strings.HasSuffix(man.Left[0].Path, "/pipe") {
		t.Fatalf("%+v %v", man, err)
	}
	got, err := c.Restore(ctx, d, "b", "conversation")
	if err != nil || len(got.Left) != 1 {
		t.Fatalf("%+v %v", got, err)
	}
	if r, err := d.Exec(ctx, "a", sandbox.Command{Args: []string{"rm", "pipe"}}); err != nil || r.ExitCode != 0 {
		t.Fatal(r, err)
	}
	clean := func(s string) string { // folders of the restored one are made by mkdir -p with another mask
		return strings.ReplaceAll(s, "drwx------", "drwxr-xr-x")
	}
	if a, b := clean(listing("a")), clean(listing("b")); a != b {
		t.Fatalf("before:\n%s\nafter:\n%s", a, b)
	}
}
