package sample

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
)

const xlsxType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

// The fonts are subsets of Liberation Sans under the SIL Open Font License, renamed as the licence asks; see font/README.
//
//go:embed font/plain.json
var plainMetrics []byte

//go:embed font/plain.z
var plainFont []byte

//go:embed font/bold.json
var boldMetrics []byte

//go:embed font/bold.z
var boldFont []byte

// File is one document with what stands where on it.
type File struct {
	ID, Kind, Name, Media string
	Received              time.Time
	Pages                 int
	Bytes                 []byte
	Rows                  []*Row
	Spots                 []*Spot
}

// Row is one row of a table on a page.
type Row struct {
	ID, Table  string
	Index      int
	Page       int
	Box        [4]float64
	Confidence float64
}

// Spot is one value on a page, and what extraction and review made of it.
type Spot struct {
	ID         string
	Row        *Row // nil outside tables
	Field      string
	Text       string // as it stands on the page
	Page       int
	Box        [4]float64
	Value      string // as extracted
	Confidence float64
	At         time.Time
	Edits      []Edit
}

// Edit is one change of an extracted value.
type Edit struct {
	ID, From, To, By, Source, Reason string
	At                               time.Time
}

// Current is the value after the edits.
func (s *Spot) Current() string {
	if n := len(s.Edits); n > 0 {
		return s.Edits[n-1].To
	}
	return s.Value
}

func label(field string) string {
	return strings.ToUpper(field[:1]) + strings.ReplaceAll(field[1:], "_", " ")
}

// lay turns a paper into a file in its own format.
func lay(p *paper, book *blank) (*File, error) {
	f := &File{Kind: p.kind, Name: p.file, Media: p.media, Received: p.received, Pages: 1}
	var err error
	switch p.media {
	case xlsxType:
		err = f.workbook(p, book)
	case "message/rfc822":
		f.mail(p)
	default:
		err = f.pdf(p)
	}
	return f, err
}

// Letter paper, lying, in millimetres.
const (
	wide, high = 279.4, 215.9
	left, top  = 12.0, 14.0
	step       = 5.6
)

func (f *File) box(x, y, w, h float64) [4]float64 {
	return [4]float64{round4(x / wide), round4(y / high), round4((x + w) / wide), round4((y + h) / high)}
}

func round4(x float64) float64 { return float64(int(x*10000+0.5)) / 10000 }

// pdf writes fields in two columns and tables below, and notes where each value came to stand.
func (f *File) pdf(p *paper) error {
	d := fpdf.New("L", "mm", "Letter", "")
	d.SetCompression(false)
	d.SetCatalogSort(true)
	d.SetCreationDate(p.received)
	d.SetModificationDate(p.received)
	d.SetAutoPageBreak(false, 0)
	d.AddFontFromBytes("plain", "", plainMetrics, plainFont)
	d.AddFontFromBytes("bold", "", boldMetrics, boldFont)
	d.SetTitle(p.title, true)
	page := 0
	begin := func() float64 {
		d.AddPage()
		page++
		d.SetFont("bold", "", 12)
		d.Text(left, top, p.title)
		d.SetFont("plain", "", 8)
		return top + 8
	}
	y := begin()
	for i, fd := range p.fields {
		x := left + float64(i%2)*130
		if y+step > high-12 {
			y = begin()
		}
		d.SetFont("plain", "", 7)
		d.Text(x, y+3.8, label(fd.name))
		d.SetFont("plain", "", 9)
		d.Text(x+36, y+3.8, fd.value)
		if fd.value != "" {
			f.Spots = append(f.Spots, &Spot{Field: fd.name, Text: fd.value, Page: page, Box: f.box(x+35, y, d.GetStringWidth(fd.value)+2, step)})
		}
		if i%2 == 1 || i == len(p.fields)-1 {
			y += step
		}
	}
	for _, t := range p.tables {
		y = f.pdfTable(d, t, y+4, &page, begin)
	}
	for _, line := range p.prose {
		y += step
		d.Text(left, y, line)
	}
	f.Pages = page
	var out bytes.Buffer
	if err := d.Output(&out); err != nil {
		return fmt.Errorf("writing the PDF: %w", err)
	}
	f.Bytes = out.Bytes()
	return nil
}

func (f *File) pdfTable(d *fpdf.Fpdf, t *sheetTable, y float64, page *int, begin func() float64) float64 {
	size := 8.0
	widths := func() ([]float64, float64) {
		out, sum := make([]float64, len(t.cols)), 0.0
		for c := range t.cols {
			out[c] = d.GetStringWidth(label(t.cols[c]))
			for _, r := range t.rows {
				out[c] = max(out[c], d.GetStringWidth(r[c]))
			}
			out[c] += 3
			sum += out[c]
		}
		return out, sum
	}
	d.SetFont("plain", "", size)
	w, sum := widths()
	if sum > wide-2*left {
		size *= (wide - 2*left) / sum
		d.SetFont("plain", "", size)
		w, sum = widths()
		for sum > wide-2*left+1 {
			size *= 0.96
			d.SetFont("plain", "", size)
			w, sum = widths()
		}
	}
	head := func() {
		d.SetFont("plain", "", size)
		x := left
		for c, name := range t.cols {
			d.Text(x+1, y+3.8, label(name))
			x += w[c]
		}
		d.Line(left, y+step, left+sum, y+step)
		y += step
	}
	if y+3*step > high-12 {
		y = begin()
	}
	head()
	for i, r := range t.rows {
		if y+step > high-12 {
			y = begin()
			head()
		}
		row := &Row{Table: t.name, Index: i + 1, Page: *page, Box: f.box(left, y, sum, step)}
		f.Rows = append(f.Rows, row)
		x := left
		for c, text := range r {
			d.Text(x+1, y+3.8, text)
			if text != "" {
				f.Spots = append(f.Spots, &Spot{Row: row, Field: t.cols[c], Text: text, Page: *page, Box: f.box(x, y, w[c], step)})
			}
			x += w[c]
		}
		y += step
	}
	return y
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// mail writes a plain message. A box is a line's share of the message and a column's share of a hundred.
func (f *File) mail(p *paper) {
	lines := []string{
		"From: submissions@broker.example", "To: intake@underwriter.example", "Subject: " + p.title,
		"Date: " + p.received.Format(time.RFC1123Z), "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "",
	}
	type at struct {
		line, col int
		f         pair
	}
	var spots []at
	if len(p.prose) > 0 {
		lines = append(lines, p.prose[0], "")
	}
	for _, fd := range p.fields {
		head := label(fd.name) + ": "
		spots = append(spots, at{len(lines), len(head), fd})
		lines = append(lines, head+fd.value)
	}
	if len(p.prose) > 0 {
		lines = append(append(lines, ""), p.prose[1:]...)
	}
	for _, s := range spots {
		f.Spots = append(f.Spots, &Spot{Field: s.f.name, Text: s.f.value, Page: 1, Box: [4]float64{
			round4(float64(s.col) / 100), round4(float64(s.line) / float64(len(lines))),
			round4(min(1, float64(s.col+len(s.f.value))/100)), round4(float64(s.line+1) / float64(len(lines))),
		}})
	}
	f.Bytes = []byte(strings.Join(lines, "\r\n") + "\r\n")
}
