package sandboxtest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"bordereau/sandbox"
)

func (s Subject) files(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := s.box(t, sandbox.Limits{})
	names := []string{"plain.txt", "with space.txt", "quote'\"$x.txt", "ünïcödé-日本.csv", "-dash", "deep/er/than/this.bin", "new\nline", "%20.txt", "#?&.txt"}
	for _, name := range names {
		b.write("names/"+name, "content of "+name)
		equal(t, name, b.read(sandbox.WorkspaceDir+"/names/"+name), "content of "+name)
	}
	entries, err := b.ListFiles(ctx, b.id, "names")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]sandbox.File{}
	for _, f := range entries {
		seen[strings.TrimPrefix(f.Path, sandbox.WorkspaceDir+"/names/")] = f
	}
	for _, name := range names {
		top, _, deep := strings.Cut(name, "/")
		f, ok := seen[top]
		if !ok || f.Mode.IsDir() != deep || !deep && f.Size != int64(len("content of "+name)) || !deep && f.Modified.IsZero() {
			t.Fatalf("%q is listed as %+v", name, f)
		}
	}
	big := bytes.Repeat([]byte{0, 1, 0xff, '\n', '\r', 0x80}, 1<<20) // 6 MiB
	if err := b.WriteFile(ctx, b.id, "big.bin", bytes.NewReader(big)); err != nil {
		t.Fatal(err)
	}
	equal(t, "6 MiB back", sum([]byte(b.read("big.bin"))), sum(big))
	out, _ := b.sh("sha256sum big.bin | cut -d' ' -f1; test -w big.bin && test -O big.bin && echo mine")
	equal(t, "6 MiB inside", out, sum(big)+"\nmine\n")
	b.write("big.bin", "small now")
	equal(t, "replaced", b.read("big.bin"), "small now")
	b.write("empty", "")
	equal(t, "empty", b.read("empty"), "")

	// Half a file is no file: what was there stays.
	err = b.WriteFile(ctx, b.id, "big.bin", io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("cut off"))))
	if err == nil {
		t.Fatal("a write that was cut off gave no error")
	}
	equal(t, "after a write that was cut off", b.read("big.bin"), "small now")

	if err := b.MoveFile(ctx, b.id, "big.bin", "moved/here it is"); err != nil {
		t.Fatal(err)
	}
	equal(t, "moved", b.read("moved/here it is"), "small now")
	_, _, err = b.ReadFile(ctx, b.id, "big.bin")
	is(t, err, sandbox.ErrNoFile)
	is(t, b.MoveFile(ctx, b.id, "nothing", "x"), sandbox.ErrNoFile)
	if err := b.RemoveFile(ctx, b.id, "moved"); err != nil {
		t.Fatal(err)
	}
	_, _, err = b.ReadFile(ctx, b.id, "moved/here it is")
	is(t, err, sandbox.ErrNoFile)
	is(t, b.RemoveFile(ctx, b.id, "moved"), sandbox.ErrNoFile)
	_, err = b.ListFiles(ctx, b.id, "moved")
	is(t, err, sandbox.ErrNoFile)

	for _, outside := range []string{"/etc/passwd", "../etc/passwd", "/workspace/../etc/passwd", "/workspacex", "a\x00b", "/run/bordereau/token"} {
		_, _, err := b.ReadFile(ctx, b.id, outside)
		is(t, err, sandbox.ErrInvalid)
		is(t, b.WriteFile(ctx, b.id, outside, strings.NewReader("x")), sandbox.ErrInvalid)
		is(t, b.RemoveFile(ctx, b.id, outside), sandbox.ErrInvalid)
	}
	_, _, err = b.ReadFile(ctx, b.id, "names")
	is(t, err, sandbox.ErrInvalid)
	is(t, b.RemoveFile(ctx, b.id, "/workspace"), sandbox.ErrInvalid)

	// Links out of the workspace lead nowhere; a pipe holds nobody.
	b.sh("ln -s /etc/passwd link; ln -s / root; ln -s ../../../../../../etc up; mkfifo pipe; ln -s names/plain.txt inner")
	for _, path := range []string{"link", "root/etc/passwd", "up/passwd", "pipe"} {
		f, _, err := b.ReadFile(ctx, b.id, path)
		if err == nil {
			text, _ := io.ReadAll(f)
			f.Close()
			t.Fatalf("%s was followed out: %.80q", path, text)
		}
	}
	for _, path := range []string{"root/tmp/x", "up/x"} {
		if err := b.WriteFile(ctx, b.id, path, strings.NewReader("x")); err == nil {
			t.Fatalf("a write went out through %s", path)
		}
	}
	b.write("link", "now a file") // the link is replaced, never what it points to
	equal(t, "over a link", b.read("link"), "now a file")
	entries, err = b.ListFiles(ctx, b.id, sandbox.WorkspaceDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range entries {
		if f.Path == "/workspace/up" && (f.Mode&fs.ModeSymlink == 0 || !s.NoLinks && f.Link != "../../../../../../etc") {
			t.Fatalf("a link is listed as %+v", f)
		}
	}
	if s.Tokens {
		for _, token := range []string{"one", "two"} {
			if err := b.SetToken(ctx, b.id, token); err != nil {
				t.Fatal(err)
			}
			out, _ := b.sh("cat " + sandbox.TokenFile)
			equal(t, "token", out, token)
		}
		if err := b.SetToken(ctx, b.id, ""); err != nil {
			t.Fatal(err)
		}
		out, _ := b.sh("test -e " + sandbox.TokenFile + " || echo none")
		equal(t, "token", out, "none\n")
	}
}
