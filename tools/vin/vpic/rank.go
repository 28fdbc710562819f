package vpic

import (
	"cmp"
	"slices"
)

// rankRows replaces the rows' times of change by small ranks. Only rows of the same element in schemas that one manufacturer
// uses from the same year on compete by time, so ranks are dense within such a family: far smaller than the times.
func rankRows(b *build) []uint32 {
	family := families(b)
	order := make([]uint32, len(b.rowList))
	for i := range order {
		order[i] = uint32(i)
	}
	of := func(i uint32) int { return family[b.rowList[i].Schema] }
	slices.SortFunc(order, func(x, y uint32) int {
		p, q := &b.rowList[x], &b.rowList[y]
		return cmp.Or(cmp.Compare(of(x), of(y)), cmp.Compare(p.Element, q.Element), cmp.Compare(p.Changed, q.Changed))
	})
	rank := make([]uint32, len(order))
	for n, i := range order {
		if n == 0 {
			continue
		}
		last := order[n-1]
		p, q := &b.rowList[i], &b.rowList[last]
		switch {
		case of(i) != of(last) || p.Element != q.Element:
			rank[i] = 0
		case p.Changed == q.Changed:
			rank[i] = rank[last]
		default:
			rank[i] = rank[last] + 1
		}
	}
	return rank
}

// families joins schemas that share a manufacturer and a first year.
func families(b *build) []int {
	parent := make([]int, len(b.schemaList))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	type start struct{ wmi, year int32 }
	first := map[start]int{}
	for _, l := range b.t.WMISchemas {
		s, ok := b.schemaAt[l.Schema]
		if !ok {
			continue
		}
		at := start{l.WMI, l.From}
		if other, ok := first[at]; ok {
			parent[find(s)] = find(other)
		} else {
			first[at] = s
		}
	}
	for i := range parent {
		parent[i] = find(i)
	}
	return parent
}
