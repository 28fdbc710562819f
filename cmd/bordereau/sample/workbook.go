package sample

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

const sheetPart = "xl/worksheets/sheet1.xml"

// blank is an empty workbook as excelize writes it. Its parts are copied into every workbook of a sample as they are, which takes
// a twentieth of the time of building each one and makes the bytes the same each time.
type blank struct{ parts []*zip.File }

func newBlank() (*blank, error) {
	x := excelize.NewFile()
	defer x.Close()
	var out bytes.Buffer
	if err := x.Write(&out); err != nil {
		return nil, fmt.Errorf("sample: an empty workbook: %w", err)
	}
	r, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		return nil, fmt.Errorf("sample: an empty workbook: %w", err)
	}
	b := &blank{}
	for _, f := range r.File {
		switch f.Name {
		case sheetPart:
		case "[Content_Types].xml":
			if f, err = sorted(f); err != nil {
				return nil, fmt.Errorf("sample: an empty workbook: %w", err)
			}
			b.parts = append(b.parts, f)
		default:
			b.parts = append(b.parts, f)
		}
	}
	slices.SortFunc(b.parts, func(a, c *zip.File) int { return strings.Compare(a.Name, c.Name) })
	return b, nil
}

// sorted puts the list of content types in order: excelize leaves it to chance.
func sorted(f *zip.File) (*zip.File, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	s := string(text)
	to := strings.LastIndex(s, "</Types>")
	from := strings.Index(s, "<Types")
	if from < 0 || to < 0 {
		return nil, fmt.Errorf("%s can't be read", f.Name)
	}
	from += strings.Index(s[from:], ">") + 1
	parts := strings.SplitAfter(s[from:to], ">")
	// A type is one element, or a pair of tags.
	var whole []string
	for _, p := range parts {
		if strings.HasPrefix(p, "</") && len(whole) > 0 {
			whole[len(whole)-1] += p
		} else {
			whole = append(whole, p)
		}
	}
	slices.Sort(whole)
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	part, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Deflate})
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(part, s[:from]+strings.Join(whole, "")+s[to:]); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	r, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		return nil, err
	}
	return r.File[0], nil
}

// book writes a workbook with one sheet of texts.
func (b *blank) book(lines [][]string) ([]byte, error) {
	var sheet bytes.Buffer
	sheet.WriteString(xml.Header + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`)
	for r, cells := range lines {
		fmt.Fprintf(&sheet, `<row r="%d">`, r+1)
		for c, text := range cells {
			if text == "" {
				continue
			}
			fmt.Fprintf(&sheet, `<c r="%c%d" t="inlineStr"><is><t xml:space="preserve">`, 'A'+c, r+1)
			if err := xml.EscapeText(&sheet, []byte(text)); err != nil {
				return nil, err
			}
			sheet.WriteString(`</t></is></c>`)
		}
		sheet.WriteString(`</row>`)
	}
	sheet.WriteString(`</sheetData></worksheet>`)
	var out bytes.Buffer
	out.Grow(sheet.Len() + 16<<10)
	w := zip.NewWriter(&out)
	for _, f := range b.parts {
		if err := w.Copy(f); err != nil {
			return nil, err
		}
	}
	part, err := w.CreateHeader(&zip.FileHeader{Name: sheetPart, Method: zip.Store})
	if err != nil {
		return nil, err
	}
	if _, err := part.Write(sheet.Bytes()); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// workbook writes title, fields, and the table with its header. A box is a cell's share of the used range.
func (f *File) workbook(p *paper, b *blank) error {
	cols, height := 2, 1+len(p.fields)
	for _, t := range p.tables {
		cols = max(cols, len(t.cols))
		height += 2 + len(t.rows)
	}
	at := func(c, r int) [4]float64 {
		return [4]float64{round4(float64(c) / float64(cols)), round4(float64(r) / float64(height)), round4(float64(c+1) / float64(cols)), round4(float64(r+1) / float64(height))}
	}
	lines := [][]string{{p.title}}
	for _, fd := range p.fields {
		if fd.value != "" {
			f.Spots = append(f.Spots, &Spot{Field: fd.name, Text: fd.value, Page: 1, Box: at(1, len(lines))})
		}
		lines = append(lines, []string{label(fd.name), fd.value})
	}
	for _, t := range p.tables {
		head := make([]string, len(t.cols))
		for c, name := range t.cols {
			head[c] = label(name)
		}
		lines = append(lines, nil, head)
		for i, r := range t.rows {
			row := &Row{Table: t.name, Index: i + 1, Page: 1, Box: at(0, len(lines))}
			row.Box[2] = at(len(t.cols)-1, len(lines))[2]
			f.Rows = append(f.Rows, row)
			for c, text := range r {
				if text != "" {
					f.Spots = append(f.Spots, &Spot{Row: row, Field: t.cols[c], Text: text, Page: 1, Box: at(c, len(lines))})
				}
			}
			lines = append(lines, r)
		}
	}
	var err error
	if f.Bytes, err = b.book(lines); err != nil {
		return fmt.Errorf("writing the workbook: %w", err)
	}
	return nil
}
