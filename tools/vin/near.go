package vin

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of what is listed for one row: a schedule may say the same VIN in each of its thousands of rows.
const (
	maxDuplicates = 20
	maxNear       = 8
)

// compareRows finds rows with the same VIN, and rows whose VINs are so alike that one may be a misreading of the other.
func (d *Decoder) compareRows(rows []Checked) {
	byVIN := map[string][]int{}
	for i := range rows {
		if v := Fold(rows[i].Result.VIN); len(v) == vinLength {
			byVIN[v] = append(byVIN[v], i)
		}
	}
	for _, list := range byVIN {
		for _, i := range list {
			for _, j := range list[:min(len(list), maxDuplicates+1)] {
				if i != j && len(rows[i].Duplicates) < maxDuplicates {
					rows[i].Duplicates = append(rows[i].Duplicates, rows[j].Ref)
				}
			}
		}
	}
	n := nearRows{rows: rows, byVIN: byVIN, buckets: map[string][]string{}}
	n.find()
}

// nearRows looks for VINs that differ by one character, by a swap of neighbours, or by letters and digits that are misread for each other.
// Two VINs whose check digits are both right are different vehicles: a fleet bought together has serial numbers in a row.
type nearRows struct {
	rows    []Checked
	byVIN   map[string][]int
	buckets map[string][]string
}

func (n *nearRows) find() {
	vins := make([]string, 0, len(n.byVIN))
	for v := range n.byVIN {
		vins = append(vins, v)
	}
	slices.Sort(vins)
	for _, v := range vins {
		n.add("~"+confusable(v), v)
		for i := range len(v) {
			n.add(v[:i]+"?"+v[i+1:], v)
		}
	}
	seen := map[[2]string]bool{}
	pair := func(a, b string) {
		if a > b {
			a, b = b, a
		}
		if a != b && !seen[[2]string{a, b}] {
			seen[[2]string{a, b}] = true
			n.link(a, b)
		}
	}
	for _, list := range n.buckets {
		for i, a := range list {
			for _, b := range list[i+1 : min(len(list), i+1+maxNear)] {
				pair(a, b)
			}
		}
	}
	for _, v := range vins {
		for i := range len(v) - 1 {
			if swapped := v[:i] + v[i+1:i+2] + v[i:i+1] + v[i+2:]; swapped != v && n.byVIN[swapped] != nil {
				pair(v, swapped)
			}
		}
	}
}

func (n *nearRows) add(key, vin string) { n.buckets[key] = append(n.buckets[key], vin) }

// confusable replaces characters that look alike by one of them. The result is only compared, never taken for the VIN.
func confusable(v string) string {
	return strings.NewReplacer("S", "5", "B", "8", "Z", "2", "G", "6", "D", "0").Replace(v)
}

// link notes that two VINs are near each other.
func (n *nearRows) link(a, b string) {
	ra, rb := &n.rows[n.byVIN[a][0]], &n.rows[n.byVIN[b][0]]
	if ra.Result.check == checkRight && rb.Result.check == checkRight {
		return
	}
	var positions []int
	for i := range vinLength {
		if a[i] != b[i] {
			positions = append(positions, i+1)
		}
	}
	if len(positions) > 4 {
		return
	}
	for _, side := range [][2]string{{a, b}, {b, a}} {
		for _, i := range n.byVIN[side[0]] {
			for _, j := range n.byVIN[side[1]][:min(len(n.byVIN[side[1]]), maxNear)] {
				n.note(&n.rows[i], &n.rows[j], positions)
			}
		}
	}
}

// note adds the near row, and makes a VIN that would pass unresolved: it can't be told which of the two is right, or whether they are two.
func (n *nearRows) note(row, other *Checked, positions []int) {
	if len(row.Near) >= maxNear {
		return
	}
	row.Near = append(row.Near, Near{Ref: other.Ref, VIN: other.VIN, Positions: positions})
	for i := range row.Checks {
		if c := &row.Checks[i]; c.Field == FieldVIN && (c.Verdict == Agrees || c.Verdict == Variant) {
			c.Verdict = Unresolved
			c.Note = fmt.Sprintf("Differs from row %s (%s) only at position %s; one of the two may be a misreading.", other.Ref, other.VIN, strings.ReplaceAll(joinInts(positions), ",", " and "))
		}
	}
}
