package pdf

import (
	_ "embed"
	"fmt"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"
)

var (
	//go:embed font/DejaVuSans.ttf
	sansTTF []byte
	//go:embed font/DejaVuSans-Bold.ttf
	boldTTF []byte
	//go:embed font/DroidSansFallbackFull.ttf
	fallbackTTF []byte
)

// face is one embedded font. Only the glyphs that are used end up in the file.
type face struct {
	family, style string
	glyphs        *sfnt.Font
	widths        map[rune]float64 // of a rune at size 1, in points
}

// fonts chooses a face for each rune: the text font where it has the glyph, else the fallback (Chinese, Japanese, Korean).
type fonts struct {
	pdf                  *fpdf.Fpdf
	sans, bold, fallback *face
	glyph                sfnt.Buffer
}

func newFonts(pdf *fpdf.Fpdf) (*fonts, error) {
	f := &fonts{pdf: pdf}
	for _, add := range []struct {
		to            **face
		family, style string
		ttf           []byte
	}{{&f.sans, "text", "", sansTTF}, {&f.bold, "text", "B", boldTTF}, {&f.fallback, "fallback", "", fallbackTTF}} {
		glyphs, err := sfnt.Parse(add.ttf)
		if err != nil {
			return nil, fmt.Errorf("reading an embedded font: %w", err)
		}
		pdf.AddUTF8FontFromBytes(add.family, add.style, add.ttf)
		*add.to = &face{family: add.family, style: add.style, glyphs: glyphs, widths: map[rune]float64{}}
	}
	return f, pdf.Error()
}

// of returns the face that shows r in the wanted weight, and the rune to show: a box where no face has it.
func (f *fonts) of(r rune, bold bool) (*face, rune) {
	text := f.sans
	if bold {
		text = f.bold
	}
	if f.has(text, r) {
		return text, r
	}
	// Runes beyond the basic plane are left to the box: fpdf writes them wrongly.
	if r < 0x10000 && f.has(f.fallback, r) {
		return f.fallback, r
	}
	return text, '\u25A1'
}

func (f *fonts) has(of *face, r rune) bool {
	if r >= 0x10000 {
		return false
	}
	i, err := of.glyphs.GlyphIndex(&f.glyph, r)
	return err == nil && i != 0
}

// width is the width of one rune at a size, in points.
func (f *fonts) width(of *face, r rune, size float64) float64 {
	w, ok := of.widths[r]
	if !ok {
		f.pdf.SetFont(of.family, of.style, 100)
		w = f.pdf.GetStringWidth(string(r)) / 100
		of.widths[r] = w
	}
	return w * size
}
