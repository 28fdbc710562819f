package pdf

import (
	"bytes"
	"fmt"

	"codeberg.org/go-pdf/fpdf"

	"bordereau/reports"
)

// The page, in points: US Letter.
const (
	pageWidth  = 612
	pageHeight = 792
	margin     = 42
	contentW   = pageWidth - 2*margin
	bottom     = pageHeight - 54
)

// Text sizes and what a line takes.
const (
	sizeTitle = 20.0
	sizeHead  = 13.0
	sizeBody  = 8.5
	sizeSmall = 7.0
	leading   = 1.3
)

type colour [3]int

// The colours of the report.
var (
	ink    = colour{31, 41, 55}
	grey   = colour{107, 114, 128}
	rule   = colour{209, 213, 219}
	accent = colour{31, 58, 95}
	white  = colour{255, 255, 255}
	zebra  = colour{248, 250, 252}
	alarm  = colour{185, 28, 28}
)

// tint is the background of a severity, a decision or a verdict.
func tint(of string) colour {
	switch of {
	case "critical", "decline", "conflict":
		return colour{248, 180, 180}
	case "major":
		return colour{251, 213, 165}
	case "minor", "refer", "variant":
		return colour{253, 243, 179}
	case "clear", "agrees":
		return colour{209, 250, 229}
	case "unresolved":
		return colour{233, 213, 255}
	}
	return colour{229, 231, 235}
}

// canvas is the document in the making, with a cursor at y.
type canvas struct {
	pdf      *fpdf.Fpdf
	fonts    *fonts
	report   *reports.Report
	marks    []mark
	pictures int    // so far
	attached string // names the files inside, in a sentence
	y        float64
}

// mark is a bookmark: a section's at level 0, a heading's at level 1.
type mark struct {
	title string
	level int
	page  int
}

// bookmark marks this page. pdfcpu writes the marks: the outline that fpdf writes doesn't pass strict validation.
func (c *canvas) bookmark(title string, level int) {
	c.marks = append(c.marks, mark{clean(title), level, c.pdf.PageNo()})
}

func newCanvas(r *reports.Report) (*canvas, error) {
	pdf := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: pageWidth, Ht: pageHeight}})
	pdf.SetAutoPageBreak(false, 0)
	pdf.SetCatalogSort(true)
	pdf.SetCreationDate(r.Clock.UTC())
	pdf.SetModificationDate(r.Clock.UTC())
	pdf.SetTitle(clean(r.Title), true)
	pdf.SetSubject("Run "+clean(r.RunID), true)
	pdf.SetCreator("Bordereau", true)
	pdf.SetProducer("Bordereau", true)
	pdf.SetAuthor(clean(r.Org), true)
	pdf.SetLang("en-US")
	pdf.AliasNbPages("{pages}")
	fonts, err := newFonts(pdf)
	if err != nil {
		return nil, err
	}
	c := &canvas{pdf: pdf, fonts: fonts, report: r}
	c.page()
	return c, nil
}

func (c *canvas) bytes() ([]byte, error) {
	var b bytes.Buffer
	err := c.pdf.Output(&b)
	return b.Bytes(), err
}

func (c *canvas) ink(of colour)  { c.pdf.SetTextColor(of[0], of[1], of[2]) }
func (c *canvas) fill(of colour) { c.pdf.SetFillColor(of[0], of[1], of[2]) }

// page begins a new page with its footer, and with the banner of a run that was cut short.
func (c *canvas) page() {
	c.pdf.AddPage()
	c.ink(grey)
	c.fonts.draw("Run "+clean(c.report.RunID)+" · guideline "+clean(c.report.Guideline.ID)+" "+clean(c.report.Guideline.Version), margin, pageHeight-30, sizeSmall, false)
	// The alias is replaced by the number of pages at the end; its own width stands in for the number's.
	number := fmt.Sprintf("Page %d of {pages}", c.pdf.PageNo())
	c.fonts.draw(number, pageWidth-margin-c.fonts.measure(fmt.Sprintf("Page %d of 000", c.pdf.PageNo()), sizeSmall, false), pageHeight-30, sizeSmall, false)
	c.y = margin
	if c.report.CutShort != "" {
		c.fill(alarm)
		c.pdf.Rect(0, 0, pageWidth, 22, "F")
		c.ink(white)
		// The summary has the whole reason.
		lines := c.fonts.wrap("CUT SHORT: this report is not complete. "+c.report.CutShort, sizeBody, true, contentW-c.fonts.measure(" …", sizeBody, true))
		if len(lines) > 1 {
			lines[0] += " …"
		}
		c.fonts.draw(lines[0], margin, 15, sizeBody, true)
		c.y = margin + 6
	}
	c.ink(ink)
}

// room begins a new page unless so much fits below the cursor; it tells whether it did.
func (c *canvas) room(height float64) bool {
	if c.y+height <= bottom {
		return false
	}
	c.page()
	return true
}

// write prints wrapped text over the whole width and moves the cursor below it.
func (c *canvas) write(text string, size float64, bold bool, in colour) {
	for _, line := range c.fonts.wrap(text, size, bold, contentW) {
		c.room(size * leading)
		c.ink(in)
		c.fonts.draw(line, margin, c.y+size, size, bold)
		c.y += size * leading
	}
}

// section begins a part of the report on a page of its own and in the bookmarks.
func (c *canvas) section(title string) {
	c.page()
	c.bookmark(title, 0)
	c.write(title, sizeHead, true, accent)
	c.y += 6
}

// heading begins a part of a section.
func (c *canvas) heading(title, bookmark string) {
	c.room(60)
	if bookmark != "" {
		c.bookmark(bookmark, 1)
	}
	c.y += 6
	c.write(title, sizeBody+1.5, true, ink)
	c.y += 2
}
