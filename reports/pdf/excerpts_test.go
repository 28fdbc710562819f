package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"bordereau/reports"
	"bordereau/reports/pdf"
)

// strips stands for documents: one is encrypted, the others give a picture.
type strips struct{ cut int }

func (s *strips) Cut(_ context.Context, document string, _ int, _ [4]float64) ([]byte, error) {
	s.cut++
	if document == "locked" {
		return nil, errors.New("The document is encrypted and opens only with its password.") //nolint:revive // as the cutter says it
	}
	img := image.NewRGBA(image.Rect(0, 0, 1000, 120))
	for x := range 1000 {
		img.Set(x, s.cut%120, color.RGBA{200, 30, 30, 255})
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}

func pictured(t *testing.T, r *reports.Report, p pdf.Pictures) []byte {
	t.Helper()
	var b bytes.Buffer
	o := options()
	o.Pictures = p
	if err := pdf.Write(t.Context(), &b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func withPages(n int) *reports.Report {
	r := report(n)
	r.Excerpts = reports.Shown
	for i := range r.Findings {
		id := []string{"good", "locked"}[i%2]
		r.Findings[i].Evidence = []reports.Evidence{{Kind: "document", DocumentID: id, Filename: id + ".pdf", Page: 1 + i, Box: [4]float64{0.1, 0.1, 0.2, 0.2}, Field: "legal_name", Raw: "Zażółć", Confidence: 0.9}}
	}
	return r
}

func pages(t *testing.T, raw []byte) string {
	t.Helper()
	tool, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Fatal("pdftotext is missing: apt-get install poppler-utils")
	}
	file := filepath.Join(t.TempDir(), "r.pdf")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), tool, "-layout", file, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestExcerptsArePrinted(t *testing.T) {
	t.Parallel()
	s := &strips{}
	raw := pictured(t, withPages(9), s)
	if !bytes.Equal(raw, pictured(t, withPages(9), &strips{})) {
		t.Error("two PDFs of the same report and pictures differ")
	}
	text := pages(t, raw)
	for _, want := range []string{"Excerpts of the documents", "F-0001 · good.pdf, page 1 · legal name: Zażółć", "No picture: The document is encrypted"} {
		if !strings.Contains(text, want) {
			t.Errorf("the pages don't hold %q", want)
		}
	}
	if s.cut != 18 {
		t.Errorf("%d places cut of 18", s.cut)
	}
	withheld := withPages(3)
	withheld.Excerpts = "the role may not read documents as they came."
	if text := pages(t, pictured(t, withheld, s)); !strings.Contains(text, "Pages of the documents are not shown: the role may not") {
		t.Error("it isn't said why there are no pages")
	}
}

func TestManyFindingsShowTheGravest(t *testing.T) {
	t.Parallel()
	s := &strips{}
	if text := pages(t, pictured(t, withPages(200), s)); s.cut != 120 || !strings.Contains(text, "more places are") {
		t.Errorf("%d places cut", s.cut)
	}
}

func TestEncryptedReport(t *testing.T) {
	t.Parallel()
	lock := func() []byte {
		var b bytes.Buffer
		o := options()
		o.Password = "correct-horse"
		if err := pdf.Write(t.Context(), &b, report(4), o); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, bad := range []string{"short", "with a space", "tabs\tand so on", strings.Repeat("x", 128)} {
		if err := pdf.Write(t.Context(), io.Discard, report(1), pdf.Options{Password: bad}); !errors.Is(err, pdf.ErrPassword) || strings.Contains(err.Error(), bad) {
			t.Errorf("password %q: %v", bad, err)
		}
	}
	first, second := lock(), lock()
	if bytes.Contains(first, []byte("correct-horse")) {
		t.Error("the password is in the file")
	}
	if _, err := api.ExtractAttachmentsRaw(bytes.NewReader(first), "", []string{"run.json"}, nil); err == nil {
		t.Error("the file opens without its password")
	}
	if _, err := pdf.Decrypt(first, "wrong"); err == nil {
		t.Error("a wrong password opens the file")
	}
	a, errA := pdf.Decrypt(first, "correct-horse")
	b, errB := pdf.Decrypt(second, "correct-horse")
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("two decrypted reports of the same run differ: %v, %v", errA, errB)
	}
	if got, err := api.ExtractAttachmentsRaw(bytes.NewReader(a), "", []string{"run.json"}, nil); err != nil || len(got) != 1 {
		t.Errorf("attachments of the decrypted report: %d, %v", len(got), err)
	}
}
