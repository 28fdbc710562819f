package artifact

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bordereau/migrations"
)

func openStore(t *testing.T) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dir
}

// kept counts the files in the store's folder, so that a refused one is seen to leave nothing.
func kept(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	if err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPut(t *testing.T) {
	t.Parallel()
	s, dir := openStore(t)
	const sha = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	put := func(p Put) (File, error) { return s.Put(t.Context(), p) }
	for range 2 {
		f, err := put(Put{Org: "acme", Name: "a.txt", Content: strings.NewReader("hello"), Limit: 5, SHA256: sha})
		if err != nil || f != (File{SHA256: sha, Size: 5, MediaType: "text/plain"}) {
			t.Fatalf("got %+v, %v", f, err)
		}
	}
	if n := kept(t, dir); n != 1 {
		t.Errorf("%d files for one content", n)
	}
	for want, p := range map[error]Put{
		ErrTooLarge: {Org: "acme", Content: strings.NewReader("hello!"), Limit: 5},
		ErrHash:     {Org: "acme", Content: strings.NewReader("hello!"), SHA256: sha},
		ErrName:     {Org: "../acme", Content: strings.NewReader("hello")},
	} {
		if _, err := put(p); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	broken := errors.New("line cut")
	if _, err := put(Put{Org: "acme", Content: io.MultiReader(strings.NewReader("hel"), failing{broken})}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if n := kept(t, dir); n != 1 {
		t.Errorf("what was refused left %d files", n-1)
	}
	if _, _, err := s.Open(t.Context(), "other", sha); !errors.Is(err, ErrNotFound) {
		t.Errorf("another organisation reads it: %v", err)
	}
	for _, bad := range []string{"", "x", "../" + sha, strings.ToUpper(sha)} {
		if _, _, err := s.Open(t.Context(), "acme", bad); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	r, size, err := s.Open(t.Context(), "acme", sha)
	if err != nil || size != 5 {
		t.Fatal(size, err)
	}
	defer r.Close()
	if _, err := r.Seek(2, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != "llo" {
		t.Errorf("read %q, %v", b, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Put(ctx, Put{Org: "acme", Content: strings.NewReader("late")}); err == nil {
		t.Error("kept after a cancel")
	}
	if _, err := os.Stat(filepath.Join(dir, "org")); err != nil {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"report.pdf": "report.pdf", "a b.xlsx": "a b.xlsx", "grün.csv": "grün.csv", "日本.pdf": "日本.pdf",
		"../../x": "x", `..\..\x`: "x", "/etc/passwd": "passwd", `C:\x\y.doc`: "y.doc", "": "file", ".": "file", "..": "file", "/": "file",
		".bashrc": "bashrc", "a\x00b": "ab", "a\nb.txt": "ab.txt", "\u202Efdp.exe": "fdp.exe", "a:b?.txt": "a_b_.txt", "CON": "_CON", "con.txt": "_con.txt",
		"nul.tar.gz": "_nul.tar.gz", "COM1": "_COM1", "COM0": "COM0", "x. . ": "x", "\xff\xfe.txt": "txt",
		strings.Repeat("é", 300) + ".xlsx": strings.Repeat("é", 87) + ".xlsx",
	} {
		got := CleanName(in)
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if again := CleanName(got); again != got {
			t.Errorf("%q: not the same when cleaned again: %q", got, again)
		}
		if err := CheckName(in); (err == nil) != (in == want) {
			t.Errorf("CheckName(%q): %v", in, err)
		}
	}
}

func FuzzCleanName(f *testing.F) {
	for _, s := range []string{"../x", "a/b\\c", "\u202Ex", "CON", ". .", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := CleanName(in)
		if got == "" || len(got) > maxName+1 || strings.ContainsAny(got, "/\\\x00\n") || got == "." || got == ".." {
			t.Errorf("%q: %q", in, got)
		}
		if filepath.Base(got) != got {
			t.Errorf("%q: %q is more than a name", in, got)
		}
	})
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, head, want string }{
		{"a.pdf", "%PDF-1.7", "application/pdf"},
		{"a.PDF", "%PDF-1.7", "application/pdf"},
		{"a.pdf", "<html>", "application/octet-stream"},
		{"a.xlsx", "PK\x03\x04", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		{"a.png", "GIF89a", "application/octet-stream"},
		{"a.html", "<html>", "application/octet-stream"},
		{"a.svg", "<svg>", "application/octet-stream"},
		{"a.csv", "a,b", "text/csv"},
		{"a.csv", "a\x00b", "application/octet-stream"},
		{"a.txt", "grü", "text/plain"},
		{"a.txt", "gr\xc3", "text/plain"},
		{"noext", "%PDF-1.7", "application/pdf"},
		{"noext", "<script>", "application/octet-stream"},
		{"a.exe", "MZ\x90\x00", "application/octet-stream"},
		{"a.eml", "From: x", "message/rfc822"},
		{"a.parquet", "PAR1", "application/vnd.apache.parquet"},
		{"", "", "text/plain"},
	} {
		if got := MediaType(c.name, []byte(c.head)); got != c.want {
			t.Errorf("%q %q: %s, want %s", c.name, c.head, got, c.want)
		}
		if got := MediaType(c.name, []byte(c.head)); Inline(got) && !strings.HasPrefix(got, "image/") {
			t.Errorf("%s is shown in place", got)
		}
	}
}

type entry struct {
	name    string
	content []byte
}

func zipOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		w, err := z.Create(e.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipOf(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestArchives(t *testing.T) {
	t.Parallel()
	caps := Caps{Entries: 10, Bytes: 64 << 20, Ratio: 100, Depth: 2}
	plain := entry{"a.txt", []byte("hello")}
	many := make([]entry, 11)
	for i := range many {
		many[i] = entry{string(rune('a' + i)), nil}
	}
	inner := zipOf(t, plain)
	lying := zipOf(t, entry{"big", make([]byte, 40<<20)})
	// The header says that a file of 40 MiB has one byte: what is stated must not be believed.
	at := bytes.LastIndex(lying, []byte("PK\x01\x02")) + 24
	copy(lying[at:], []byte{1, 0, 0, 0})
	for name, c := range map[string]struct {
		content []byte
		refused bool
	}{
		"no archive":    {[]byte("hello"), false},
		"empty":         {nil, false},
		"a workbook":    {zipOf(t, plain, entry{"xl/b.xml", make([]byte, 1<<20)}), false},
		"a log":         {gzipOf(t, []byte("hello")), false},
		"zeros":         {zipOf(t, entry{"zeros", make([]byte, 60<<20)}), true},
		"zeros in gzip": {gzipOf(t, make([]byte, 60<<20)), true},
		"too much":      {zipOf(t, entry{"a", make([]byte, 40<<20)}, entry{"b", make([]byte, 40<<20)}), true},
		"too many":      {zipOf(t, many...), true},
		"one inside":    {zipOf(t, entry{"in.zip", inner}), false},
		"too deep":      {zipOf(t, entry{"in.zip", zipOf(t, entry{"in.zip", inner})}), true},
		"leads out":     {zipOf(t, entry{"../../x", nil}), true},
		"absolute":      {zipOf(t, entry{"/etc/x", nil}), true},
		"a drive":       {zipOf(t, entry{`C:\x`, nil}), true},
		"damaged":       {zipOf(t, plain)[:60], true},
		"lying":         {lying, true},
	} {
		err := CheckArchive(t.Context(), bytes.NewReader(c.content), int64(len(c.content)), caps)
		if errors.Is(err, ErrArchive) != c.refused || err != nil && !c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzCheckArchive(f *testing.F) {
	f.Add([]byte("PK\x03\x04"))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Fuzz(func(t *testing.T, b []byte) {
		err := CheckArchive(t.Context(), bytes.NewReader(b), int64(len(b)), Caps{Entries: 100, Bytes: 1 << 20, Ratio: 100, Depth: 2})
		if err != nil && !errors.Is(err, ErrArchive) {
			t.Errorf("untyped: %v", err)
		}
	})
}

func TestLibrary(t *testing.T) {
	t.Parallel()
	db, _, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	l, err := NewLibrary(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	u := Upload{Org: "acme", Conversation: "c", Person: "p", Name: "a.csv", MediaType: "text/csv", Size: 3, SHA256: "aa"}
	one, err := l.Add(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := l.Add(t.Context(), u); err != nil || two != one {
		t.Errorf("again: %+v, %v", two, err)
	}
	u.SHA256 = "bb"
	if _, err := l.Add(t.Context(), u); !errors.Is(err, ErrConflict) {
		t.Errorf("another content: %v", err)
	}
	if _, err := l.Find(t.Context(), "other", "c", one.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("another organisation: %v", err)
	}
	if all, err := l.List(t.Context(), "acme", "c"); err != nil || len(all) != 1 || all[0] != one {
		t.Errorf("listed %+v, %v", all, err)
	}
}
