package schedule

import (
	"strings"
)

// headingKind tells what a heading means, and how surely: 2 for a heading that means just this, 1 for one that may, 0 for none.
func headingKind(heading string) (Column, int) {
	words := strings.FieldsFunc(strings.ToLower(heading), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	h := strings.Join(words, " ")
	switch h {
	case "vin", "vin number", "vin no", "vin num", "vehicle identification number", "vehicle id number", "serial number vin", "vin serial", "vin serial number", "vehicle vin",
		"full vin", "v i n":
		return ColumnVIN, 2
	case "year", "yr", "model year", "my", "veh year", "vehicle year", "modelyear", "year model":
		return ColumnYear, 2
	case "make", "vehicle make", "mfr", "manufacturer", "veh make", "trade name", "make trade name":
		return ColumnMake, 2
	case "model", "vehicle model", "veh model", "model name":
		return ColumnModel, 2
	case "body type", "body", "vehicle type", "veh type", "unit type", "equipment type", "body style", "type of vehicle", "vehicle class type", "body class", "vehicle description":
		return ColumnBody, 2
	case "gvw", "gvwr", "gross vehicle weight", "gross vehicle weight rating", "gvw lbs", "gvwr lbs", "gvw lb", "gvwr lb", "gross weight", "gvw gcw":
		return ColumnGVW, 2
	case "unit", "unit no", "unit number", "unit id", "veh no", "veh", "vehicle no", "vehicle number", "truck no", "equipment no", "unit num", "power unit no":
		return ColumnUnit, 2
	case "type", "description", "class":
		return ColumnBody, 1
	case "serial number", "serial no", "serial", "vehicle id", "identification number", "id number":
		return ColumnVIN, 1
	case "weight":
		return ColumnGVW, 1
	}
	for _, w := range words {
		switch w {
		case "vin":
			return ColumnVIN, 1
		case "year", "yr":
			return ColumnYear, 1
		case "make":
			return ColumnMake, 1
		case "model":
			return ColumnModel, 1
		case "gvw", "gvwr":
			return ColumnGVW, 1
		}
	}
	return "", 0
}

// headerLooks is how many of the first rows may hold the headings; schedules often begin with a letterhead.
const headerLooks = 40

// findHeader returns the row with the most headings, -1 if no row has a VIN heading or two headings.
func findHeader(rows [][]string) int {
	best, most := -1, 1
	for i, row := range rows[:min(len(rows), headerLooks)] {
		kinds := headingsIn(row)
		n := len(kinds)
		if kinds[ColumnVIN] {
			n += 2
		}
		if n > most {
			best, most = i, n
		}
	}
	if best < 0 {
		return rowAboveVINs(rows)
	}
	return best
}

// headingsIn is which kinds of columns a row names.
func headingsIn(row []string) map[Column]bool {
	kinds := map[Column]bool{}
	for _, c := range row {
		if kind, sure := headingKind(c); sure > 0 && len(c) < 60 {
			kinds[kind] = true
		}
	}
	return kinds
}

// continues is true for a second row of headings: it has headings of its own, and no vehicle stands in it.
func continues(header, next []string) bool {
	headings := 0
	for i, c := range next {
		if looksLikeVIN(strings.TrimSpace(c)) || yearIn(c) != 0 {
			return false
		}
		above := ""
		if i < len(header) {
			above = header[i]
		}
		if _, sure := headingKind(c); sure > 0 {
			headings++
		} else if _, sure := headingKind(above + " " + c); sure > 0 && strings.TrimSpace(c) != "" {
			headings++
		}
	}
	return headings > 0
}

// joined is the headings of two rows as one. What a merged cell says in both is said once.
func joined(above, below []string) []string {
	out := make([]string, max(len(above), len(below)))
	for i := range out {
		var a, b string
		if i < len(above) {
			a = strings.TrimSpace(above[i])
		}
		if i < len(below) {
			b = strings.TrimSpace(below[i])
		}
		// A group's heading, such as "Vehicle", says less than the one below it.
		if _, sure := headingKind(b); a == b || sure == 2 {
			a = ""
		}
		out[i] = strings.TrimSpace(a + " " + b)
	}
	return out
}

// rowAboveVINs is the row right above the first VIN if it has a text over that column: headings in words that aren't known here.
func rowAboveVINs(rows [][]string) int {
	for i, row := range rows[:min(len(rows), headerLooks)] {
		for c, cell := range row {
			if !looksLikeVIN(strings.TrimSpace(cell)) {
				continue
			}
			if i > 0 && c < len(rows[i-1]) && strings.TrimSpace(rows[i-1][c]) != "" {
				return i - 1
			}
			return -1
		}
	}
	return -1
}

// findColumns tells the columns by their headings first and by what stands in them where the headings don't say.
func findColumns(header []string, rows [][]string, width int, isMake func(string) bool) map[Column]int {
	found := map[Column]int{}
	for _, sure := range []int{2, 1} {
		for i, h := range header {
			kind, s := headingKind(h)
			if _, taken := found[kind]; s == sure && !taken && !columnTaken(found, i) {
				found[kind] = i
			}
		}
	}
	shares := make([]map[Column]float64, width)
	for i := range shares {
		shares[i] = contentOf(rows, i, isMake)
	}
	// A heading that says VIN over a column without any is no VIN column.
	if i, ok := found[ColumnVIN]; !ok || shares[i][ColumnVIN] < 0.2 {
		if at, share := bestShare(shares, found, ColumnVIN); share >= 0.5 {
			delete(found, columnAt(found, at))
			found[ColumnVIN] = at
		}
	}
	for _, kind := range []Column{ColumnYear, ColumnMake} {
		if _, ok := found[kind]; !ok {
			if at, share := bestShare(shares, found, kind); share >= 0.7 {
				found[kind] = at
			}
		}
	}
	return found
}

func columnTaken(found map[Column]int, i int) bool { return columnAt(found, i) != "" }

func columnAt(found map[Column]int, i int) Column {
	for kind, at := range found {
		if at == i {
			return kind
		}
	}
	return ""
}

func bestShare(shares []map[Column]float64, found map[Column]int, kind Column) (int, float64) {
	at, most := -1, 0.0
	for i, s := range shares {
		if kind != ColumnVIN && columnTaken(found, i) {
			continue
		}
		if s[kind] > most {
			at, most = i, s[kind]
		}
	}
	return at, most
}

// contentOf is the share of filled cells that look like each kind.
func contentOf(rows [][]string, column int, isMake func(string) bool) map[Column]float64 {
	filled, out := 0, map[Column]float64{}
	for _, row := range rows[:min(len(rows), 500)] {
		if column >= len(row) || strings.TrimSpace(row[column]) == "" {
			continue
		}
		cell := strings.TrimSpace(row[column])
		filled++
		switch {
		case looksLikeVIN(cell):
			out[ColumnVIN]++
		case len(cell) == 4 && yearIn(cell) >= 1950 && yearIn(cell) <= 2050:
			out[ColumnYear]++
		case isMake(cell):
			out[ColumnMake]++
		}
	}
	for k := range out {
		out[k] /= float64(filled)
	}
	return out
}

// looksLikeVIN is true for about 17 letters and digits with some of each.
func looksLikeVIN(s string) bool {
	letters, digits, n := 0, 0, 0
	for _, c := range strings.ToUpper(s) {
		switch {
		case c >= 'A' && c <= 'Z':
			letters++
		case c >= '0' && c <= '9':
			digits++
		case c == ' ' || c == '-':
			continue
		default:
			return false
		}
		n++
	}
	return n >= 15 && n <= 19 && letters >= 1 && digits >= 4
}
