package pdf

import "strings"

// measure is the width of a line, in points.
func (f *fonts) measure(line string, size float64, bold bool) float64 {
	w := 0.0
	for _, r := range line {
		of, shown := f.of(r, bold)
		w += f.width(of, shown, size)
	}
	return w
}

// wrap breaks text into lines no wider than width, between words where it can and inside a word where it must.
func (f *fonts) wrap(text string, size float64, bold bool, width float64) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(clean(text), "\n") {
		line, used := "", 0.0
		for word := range strings.FieldsSeq(paragraph) {
			for word != "" {
				space := 0.0
				if line != "" {
					space = f.measure(" ", size, bold)
				}
				if w := f.measure(word, size, bold); used+space+w <= width {
					if line != "" {
						line += " "
					}
					line += word
					used += space + w
					break
				}
				if line != "" {
					lines = append(lines, line)
					line, used = "", 0
					continue
				}
				head := f.fit(word, size, bold, width)
				lines = append(lines, head)
				word = word[len(head):]
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// fit is the longest beginning of a word that fits, at least one rune of it.
func (f *fonts) fit(word string, size float64, bold bool, width float64) string {
	used := 0.0
	for i, r := range word {
		of, shown := f.of(r, bold)
		used += f.width(of, shown, size)
		if used > width && i > 0 {
			return word[:i]
		}
	}
	return word
}

// draw prints one line with its left end and baseline at x, y.
func (f *fonts) draw(line string, x, y, size float64, bold bool) {
	var run strings.Builder
	var current *face
	flush := func() {
		if run.Len() == 0 {
			return
		}
		f.pdf.SetFont(current.family, current.style, size)
		f.pdf.Text(x, y, run.String())
		for _, r := range run.String() {
			x += f.width(current, r, size)
		}
		f.pdf.SetFont(current.family, current.style, size)
		run.Reset()
	}
	for _, r := range visual(line) {
		of, shown := f.of(r, bold)
		if of != current {
			flush()
			current = of
		}
		run.WriteRune(shown)
	}
	flush()
}
