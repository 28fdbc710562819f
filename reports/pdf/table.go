package pdf

// cell is one cell of a table.
type cell struct {
	text string
	bold bool
	tint *colour
}

func plain(text string) cell { return cell{text: text} }

func tagged(text string) cell {
	t := tint(text)
	return cell{text: text, bold: true, tint: &t}
}

// table prints rows with wrapped cells; the header is repeated on each page. A row is never split unless it is taller
// than a page.
type table struct {
	canvas *canvas
	heads  []string
	widths []float64
	rows   int
}

const padding = 3.0

func (c *canvas) table(heads []string, shares []float64) *table {
	total := 0.0
	for _, s := range shares {
		total += s
	}
	widths := make([]float64, len(shares))
	for i, s := range shares {
		widths[i] = contentW * s / total
	}
	t := &table{canvas: c, heads: heads, widths: widths}
	c.room(60)
	t.header()
	return t
}

func (t *table) header() {
	c := t.canvas
	height := sizeBody*leading + 2*padding
	c.fill(accent)
	c.pdf.Rect(margin, c.y, contentW, height, "F")
	x := float64(margin)
	c.ink(white)
	for i, head := range t.heads {
		c.fonts.draw(head, x+padding, c.y+padding+sizeBody, sizeBody-0.5, true)
		x += t.widths[i]
	}
	c.y += height
	c.ink(ink)
}

func (t *table) row(cells ...cell) {
	c := t.canvas
	lines := make([][]string, len(cells))
	tallest := 1
	most := (bottom-margin-60)/12 - 1 // lines on a page
	for i, cell := range cells {
		lines[i] = c.fonts.wrap(cell.text, sizeBody-0.5, cell.bold, t.widths[i]-2*padding)
		if len(lines[i]) > most {
			lines[i] = append(lines[i][:most-1:most-1], "… (whole in the workbook)")
		}
		tallest = max(tallest, len(lines[i]))
	}
	height := float64(tallest)*sizeBody*leading + 2*padding
	if c.room(height) {
		t.header()
	}
	if t.rows%2 == 1 {
		c.fill(zebra)
		c.pdf.Rect(margin, c.y, contentW, height, "F")
	}
	x := float64(margin)
	for i, cell := range cells {
		if cell.tint != nil {
			c.fill(*cell.tint)
			c.pdf.Rect(x, c.y, t.widths[i], height, "F")
		}
		c.ink(ink)
		for n, line := range lines[i] {
			c.fonts.draw(line, x+padding, c.y+padding+sizeBody+float64(n)*sizeBody*leading-1, sizeBody-0.5, cell.bold)
		}
		x += t.widths[i]
	}
	c.pdf.SetDrawColor(rule[0], rule[1], rule[2])
	c.pdf.SetLineWidth(0.4)
	c.pdf.Line(margin, c.y+height, margin+contentW, c.y+height)
	c.y += height
	t.rows++
}
