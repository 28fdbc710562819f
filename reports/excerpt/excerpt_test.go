package excerpt_test

import (
	"bytes"
	"context"
	"errors"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"bordereau/reports/excerpt"
)

// paper is a page of US Letter with a black bar where the box of evidence is, and one of a nasty size.
func paper(t *testing.T) []byte {
	t.Helper()
	p := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: 612, Ht: 792}})
	p.AddPage()
	p.Rect(61.2, 396, 306, 20, "F")
	p.AddPageFormat("P", fpdf.SizeType{Wd: 10, Ht: 14000})
	var b bytes.Buffer
	if err := p.Output(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var bar = [4]float64{0.1, 0.5, 0.6, 0.525}

func cutter(t *testing.T, documents map[string][]byte) *excerpt.Cutter {
	t.Helper()
	folder := filepath.Join(os.TempDir(), "bordereau-test-pdfium") // compiled once for all runs
	cache, err := excerpt.OpenCache(folder)
	if err != nil {
		t.Fatal(err)
	}
	c, err := excerpt.New(cache, func(_ context.Context, id string) ([]byte, error) {
		if raw, ok := documents[id]; ok {
			return raw, nil
		}
		return nil, errors.New("The document is not there any more.") //nolint:revive // a sentence for the report
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), cache.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestExcerpts(t *testing.T) {
	t.Parallel()
	good := paper(t)
	api.DisableConfigDir()
	var locked bytes.Buffer
	if err := api.Encrypt(bytes.NewReader(good), &locked, model.NewAESConfiguration("sesame", "sesame", 256)); err != nil {
		t.Fatal(err)
	}
	documents := map[string][]byte{
		"good": good, "locked": locked.Bytes(), "torn": good[:len(good)/3], "workbook": []byte("PK\x03\x04 and so on"), "empty": {},
		"bomb": []byte("%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 1 0 R/Kids[1 0 R]/Count 2147483647>>endobj\ntrailer<</Root 1 0 R>>"),
	}
	c := cutter(t, documents)
	first, err := c.Cut(t.Context(), "good", 1, bar)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() != 1000 || b.Dy() < 100 || b.Dy() > 140 {
		t.Errorf("the strip is %v", b)
	}
	middle := img.Bounds().Dy() / 2
	for x, want := range map[int]color.RGBA{350: {0, 0, 0, 255}, 800: {255, 255, 255, 255}, 97: {200, 30, 30, 255}} {
		if got := color.RGBAModel.Convert(img.At(x, middle)); got != want {
			t.Errorf("at %d: %v, want %v", x, got, want)
		}
	}
	again, err := cutter(t, documents).Cut(t.Context(), "good", 1, bar)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("the same place gives another picture, %v", err)
	}
	for name, ask := range map[string]struct {
		document string
		page     int
		box      [4]float64
		want     string
	}{
		"encrypted":    {"locked", 1, bar, "The document is encrypted and opens only with its password."},
		"torn":         {"torn", 1, bar, "The document is damaged, or is no PDF."},
		"a workbook":   {"workbook", 1, bar, "The document is damaged, or is no PDF."},
		"empty":        {"empty", 1, bar, "The document is damaged, or is no PDF."},
		"a bomb":       {"bomb", 1, bar, "The document"},
		"no such page": {"good", 9, bar, "The document has 2 pages; the extraction names page 9."},
		"a long page":  {"good", 2, bar, "Page 2 is too long to draw."},
		"gone":         {"gone", 1, bar, "The document is not there any more."},
		"no box":       {"good", 1, [4]float64{}, "The extraction names no place on a page."},
		"no number":    {"good", 1, [4]float64{0, 0, math.NaN(), 1}, "The extraction names no place on a page."},
		"beyond":       {"good", 1, [4]float64{0, 0, 2, 1}, "The extraction names no place on a page."},
	} {
		got, err := c.Cut(t.Context(), ask.document, ask.page, ask.box)
		if !errors.Is(err, excerpt.ErrNone) || !strings.HasPrefix(err.Error(), ask.want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if after, err := c.Cut(t.Context(), "good", 1, bar); err != nil || !bytes.Equal(first, after) {
		t.Errorf("after bad documents a good one gives another picture, %v", err)
	}
}

// TestRealPages draws pages that this project didn't write, where the shared data is beside the repository.
func TestRealPages(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("BORDEREAU_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	files, err := filepath.Glob(filepath.Join(shared, "data", "longlistbench", "*.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string][]byte{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		documents[f] = raw
	}
	c := cutter(t, documents)
	for f := range documents {
		strip, err := c.Cut(t.Context(), f, 1, [4]float64{0.05, 0.2, 0.95, 0.22})
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		if _, err := png.Decode(bytes.NewReader(strip)); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}
