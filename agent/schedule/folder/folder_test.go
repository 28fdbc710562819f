package folder_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bordereau/agent/schedule"
	"bordereau/agent/schedule/folder"
)

type content struct{ *strings.Reader }

func (content) Close() error { return nil }

func file(name, text, sha string) schedule.File {
	return schedule.File{Name: name, Size: int64(len(text)), SHA256: sha, Open: func(context.Context) (io.ReadSeekCloser, error) {
		return content{strings.NewReader(text)}, nil
	}}
}

func TestWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o, err := folder.Open(filepath.Join(dir, "outbox"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("PDF"))
	l := schedule.Letter{
		ID: "d-1", Parcel: schedule.Report, Org: "acme", Subject: "Daily", Text: "3 findings.", At: time.Date(2026, 11, 30, 11, 30, 0, 0, time.UTC),
		Files: []schedule.File{file("report.pdf", "PDF", hex.EncodeToString(sum[:])), file("../../evil.txt", "E", "")},
	}
	to := schedule.Destination{Kind: schedule.Folder, To: "daily"}
	if _, err := o.Deliver(t.Context(), to, l); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(dir, "outbox", "acme", "daily", "20261130T113000Z-report-d-1")
	raw, err := os.ReadFile(filepath.Join(place, "report.pdf"))
	if err != nil || string(raw) != "PDF" {
		t.Error(string(raw), err)
	}
	there, err := filepath.Glob(filepath.Join(place, "*"))
	if err != nil || len(there) != 3 {
		t.Error(there, err)
	}
	// A repetition leaves what is there: somebody may have picked it up, or be reading it.
	if err := os.WriteFile(filepath.Join(place, "picked-up"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if receipt, err := o.Deliver(t.Context(), to, l); err != nil || !strings.HasPrefix(receipt, "written before") {
		t.Error(receipt, err)
	}
	if _, err := os.Stat(filepath.Join(place, "picked-up")); err != nil {
		t.Error(err)
	}
	l.ID, l.Files = "d-2", []schedule.File{file("report.pdf", "PDF", strings.Repeat("0", 64))}
	var r *schedule.Refusal
	if _, err := o.Deliver(t.Context(), to, l); !errors.As(err, &r) || r.Final {
		t.Error(err)
	}
	if visible, err := filepath.Glob(filepath.Join(dir, "outbox", "acme", "daily", "2*")); err != nil || len(visible) != 1 {
		t.Error(visible, err)
	}
}
