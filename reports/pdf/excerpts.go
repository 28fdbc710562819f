package pdf

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"

	"codeberg.org/go-pdf/fpdf"

	"bordereau/reports"
)

// Pictures cuts places out of documents.
type Pictures interface {
	// Cut returns the strip of a page around a box as PNG. The text of an error is a sentence that is printed in its place.
	Cut(ctx context.Context, document string, page int, box [4]float64) ([]byte, error)
}

// How much is shown: the gravest findings have theirs.
const (
	maxPictures     = 120
	maxOfOneFinding = 3
)

// excerpt is one place that findings rest on.
type excerpt struct {
	evidence reports.Evidence
	findings []string
}

// excerpts is the appendix of the places in PDF documents that the gravest findings rest on.
func excerpts(ctx context.Context, c *canvas, pictures Pictures) {
	shown, left := places(c.report)
	if len(shown) == 0 || pictures == nil && c.report.Excerpts == "" {
		return
	}
	c.section("Excerpts of the documents")
	if c.report.Excerpts != reports.Shown || pictures == nil {
		c.write("Pages of the documents are not shown: "+c.report.Excerpts, sizeBody, false, ink)
		return
	}
	note := "The places that the gravest findings were read from, outlined on their pages."
	if left > 0 {
		note += fmt.Sprintf(" %d more places are on the workbook's Evidence sheet.", left)
	}
	c.write(note, sizeBody, false, grey)
	for _, s := range c.report.Submissions {
		if len(shown[s.ID]) == 0 {
			continue
		}
		c.room(130)
		c.heading(fmt.Sprintf("%s · %s", s.ID, s.Insured), s.ID+" "+s.Insured)
		for _, e := range shown[s.ID] {
			if ctx.Err() != nil {
				return // Write says so
			}
			picture, err := pictures.Cut(ctx, e.evidence.DocumentID, e.evidence.Page, e.evidence.Box)
			c.picture(caption(e), picture, err)
		}
	}
}

// places picks what is shown by submission: of the worst findings, each place once. left counts the others.
func places(r *reports.Report) (shown map[string][]*excerpt, left int) {
	shown = map[string][]*excerpt{}
	known := map[string]*excerpt{}
	n := 0
	for _, f := range worst(r.Findings, len(r.Findings)) {
		of := 0
		for _, e := range f.Evidence {
			if e.Kind != "document" || e.Page < 1 || !strings.HasSuffix(strings.ToLower(e.Filename), ".pdf") {
				continue
			}
			key := fmt.Sprint(e.DocumentID, e.Page, e.Box)
			if x := known[key]; x != nil {
				if !slices.Contains(x.findings, f.ID) {
					x.findings = append(x.findings, f.ID)
				}
				continue
			}
			if n == maxPictures || of == maxOfOneFinding {
				left++
				continue
			}
			x := &excerpt{e, []string{f.ID}}
			known[key] = x
			shown[f.SubmissionID] = append(shown[f.SubmissionID], x)
			n++
			of++
		}
	}
	return shown, left
}

func caption(e *excerpt) string {
	v := e.evidence
	ids := strings.Join(e.findings[:min(6, len(e.findings))], ", ")
	if more := len(e.findings) - 6; more > 0 {
		ids += fmt.Sprintf(" and %d more", more)
	}
	text := fmt.Sprintf("%s · %s, page %d · %s", ids, v.Filename, v.Page, strings.ReplaceAll(v.Field, "_", " "))
	switch {
	case v.Value != v.Raw && v.Value != "" && v.Raw != "":
		text += ": read as " + v.Raw + ", corrected to " + v.Value
	case v.Raw != "":
		text += ": " + v.Raw
	}
	return text
}

// picture prints a caption and a strip below it, or the sentence that says why there is none.
func (c *canvas) picture(caption string, strip []byte, why error) {
	var size image.Config
	if why == nil {
		size, why = png.DecodeConfig(bytes.NewReader(strip))
	}
	lines := c.fonts.wrap(caption, sizeBody, true, contentW)
	text := float64(len(lines)) * sizeBody * leading
	if why != nil || size.Width == 0 {
		c.room(text + 2*sizeBody*leading + 8)
		c.write(caption, sizeBody, true, ink)
		c.write("No picture: "+reason(why), sizeBody, false, grey)
		c.y += 8
		return
	}
	width := float64(contentW)
	height := width * float64(size.Height) / float64(size.Width)
	if most := float64(bottom-margin-60) - text; height > most {
		width, height = width*most/height, most
	}
	c.room(text + height + 14)
	c.write(caption, sizeBody, true, ink)
	// Equal pictures are one: pdfcpu would keep either of two, by chance.
	name := fmt.Sprintf("excerpt %x", sha256.Sum256(strip))
	options := fpdf.ImageOptions{ImageType: "PNG"}
	if c.pdf.GetImageInfo(name) == nil {
		c.pictures++
		if err := rank(c.pdf.RegisterImageOptionsReader(name, options, bytes.NewReader(strip)), c.pictures); err != nil {
			c.pdf.SetError(err)
			return
		}
	}
	c.pdf.ImageOptions(name, margin, c.y+2, width, height, false, options, 0, "")
	c.pdf.SetDrawColor(rule[0], rule[1], rule[2])
	c.pdf.SetLineWidth(0.6)
	c.pdf.Rect(margin, c.y+2, width, height, "D")
	c.y += height + 12
}

// rank gives a picture its place among those of the file. fpdf writes them by width, and those of one width in an order of chance: a
// millionth of a pixel tells them apart and is cut off where the width is written.
func rank(info *fpdf.ImageInfoType, n int) error {
	if info == nil {
		return nil // fpdf keeps why
	}
	raw, err := info.GobEncode()
	if err != nil {
		return fmt.Errorf("ordering pictures: %w", err)
	}
	var data, mask, palette []byte
	var number, bits int
	var width, height, scale, dpi float64
	var colours, filter, parameters string
	var transparent []int
	fields := []any{&data, &mask, &number, &width, &height, &colours, &palette, &bits, &filter, &parameters, &transparent, &scale, &dpi}
	in := gob.NewDecoder(bytes.NewReader(raw))
	for _, f := range fields {
		if err := in.Decode(f); err != nil {
			return fmt.Errorf("ordering pictures: %w", err)
		}
	}
	width += float64(n) / 1e6
	var ranked bytes.Buffer
	out := gob.NewEncoder(&ranked)
	for _, f := range fields {
		if err := out.Encode(f); err != nil {
			return fmt.Errorf("ordering pictures: %w", err)
		}
	}
	return info.GobDecode(ranked.Bytes())
}

func reason(err error) string {
	if err == nil {
		return "it is empty."
	}
	return err.Error()
}
