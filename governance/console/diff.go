package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bordereau/governance/export"
	"bordereau/governance/fault"
	"bordereau/governance/gate"
)

// The bounds of a comparison.
const (
	maxCompared  = 200_000
	maxHeld      = 128 << 20 // bytes of one side
	maxKey       = 16
	shownChanges = 500 // of each kind
)

// held is a sink that keeps all rows as text.
type held struct {
	columns []gate.Column
	types   []export.Type
	rows    [][]*string
	bytes   int
	failed  error
}

// Begin implements gate.Sink.
func (h *held) Begin(columns []gate.Column) error {
	h.columns = slices.Clone(columns)
	for i, name := range export.Names(columns) {
		h.columns[i].Name = name // a name stands for one column
		h.types = append(h.types, export.ParseType(columns[i].Type))
	}
	return nil
}

// Row implements gate.Sink.
func (h *held) Row(values []any) error {
	row := make([]*string, len(values))
	for i, v := range values {
		if row[i], h.failed = textOf(h.types[i], v); h.failed != nil {
			return h.failed
		}
		if row[i] != nil {
			h.bytes += len(*row[i])
		}
	}
	if h.bytes += 16 * len(row); h.bytes > maxHeld {
		h.failed = &fault.Error{Code: fault.TooLarge, Component: component, Message: "a side is too large to be compared", Hint: "Name fewer columns, or aggregate."}
		return h.failed
	}
	h.rows = append(h.rows, row)
	return nil
}

// diff is what differs in the columns that both sides have.
type diff struct {
	Compared []string    `json:"compared"` // the columns
	Same     int         `json:"same"`
	Added    int         `json:"added"`
	Removed  int         `json:"removed"`
	Changed  int         `json:"changed"`
	Changes  []rowChange `json:"changes"` // the first of each kind
}

// rowChange is one row; its cells are those of Compared.
type rowChange struct {
	Kind  string    `json:"kind"` // added, removed, changed
	Left  []*string `json:"left,omitempty"`
	Right []*string `json:"right,omitempty"`
}

// differ compares rows by key, or as whole rows, each as often as it is there.
func differ(left, right *held, key []string) (diff, error) {
	d := diff{Compared: []string{}, Changes: []rowChange{}}
	var l, r []int // where the columns of Compared are
	for i, c := range left.columns {
		if j := slices.IndexFunc(right.columns, func(o gate.Column) bool { return o.Name == c.Name }); j >= 0 {
			d.Compared, l, r = append(d.Compared, c.Name), append(l, i), append(r, j)
		}
	}
	if len(d.Compared) == 0 {
		return d, invalid("the two results have no column in common", "Give columns the same names with AS.")
	}
	var by []int // where the key is in Compared
	for _, k := range key {
		i := slices.Index(d.Compared, k)
		if i < 0 {
			return d, invalid("the key column "+strconv.Quote(k)+" is not in both results", "Columns in both are "+strings.Join(d.Compared, ", ")+".")
		}
		by = append(by, i)
	}
	if len(by) == 0 {
		d.whole(left, right, l, r)
		return d, nil
	}
	return d, d.keyed(left, right, l, r, by)
}

// whole compares rows as multisets.
func (d *diff) whole(left, right *held, l, r []int) {
	count := map[string]int{}
	for _, row := range left.rows {
		count[identity(pick(row, l), nil)]++
	}
	for _, row := range right.rows {
		cells := pick(row, r)
		id := identity(cells, nil)
		if count[id] > 0 {
			count[id]--
			d.Same++
			continue
		}
		d.add(rowChange{Kind: "added", Right: cells}, &d.Added)
	}
	for _, row := range left.rows {
		cells := pick(row, l)
		if id := identity(cells, nil); count[id] > 0 {
			count[id]--
			d.add(rowChange{Kind: "removed", Left: cells}, &d.Removed)
		}
	}
}

// keyed compares the rows that have the same key.
func (d *diff) keyed(left, right *held, l, r, by []int) error {
	before := make(map[string][]*string, len(left.rows))
	for _, row := range left.rows {
		cells := pick(row, l)
		id := identity(cells, by)
		if _, twice := before[id]; twice {
			return ambiguous("left")
		}
		before[id] = cells
	}
	seen := make(map[string]bool, len(right.rows))
	for _, row := range right.rows {
		cells := pick(row, r)
		id := identity(cells, by)
		if seen[id] {
			return ambiguous("right")
		}
		seen[id] = true
		was, ok := before[id]
		switch {
		case !ok:
			d.add(rowChange{Kind: "added", Right: cells}, &d.Added)
		case identity(was, nil) == identity(cells, nil):
			d.Same++
		default:
			d.add(rowChange{Kind: "changed", Left: was, Right: cells}, &d.Changed)
		}
	}
	for _, row := range left.rows {
		cells := pick(row, l)
		if !seen[identity(cells, by)] {
			d.add(rowChange{Kind: "removed", Left: cells}, &d.Removed)
		}
	}
	return nil
}

func ambiguous(where string) error {
	return invalid("several rows of the "+where+" result have the same key", "Add columns to the key until it tells rows apart, or leave it out.")
}

func (d *diff) add(c rowChange, n *int) {
	if *n++; *n <= shownChanges {
		d.Changes = append(d.Changes, c)
	}
}

func pick(row []*string, at []int) []*string {
	out := make([]*string, len(at))
	for i, j := range at {
		out[i] = row[j]
	}
	return out
}

// identity is the same for rows whose cells, those at by or all, are the same: each with its length before it, NULL apart.
func identity(cells []*string, by []int) string {
	var b strings.Builder
	put := func(c *string) {
		if c == nil {
			b.WriteByte('-')
			return
		}
		fmt.Fprintf(&b, "%d:%s", len(*c), *c)
	}
	if by == nil {
		for _, c := range cells {
			put(c)
		}
		return b.String()
	}
	for _, i := range by {
		put(cells[i])
	}
	return b.String()
}
