package sample

import (
	"fmt"
	"strconv"
	"time"
)

// pair is a field outside tables: its name and its text in the document.
type pair struct{ name, value string }

// sheetTable is a table in a document.
type sheetTable struct {
	name string
	cols []string
	rows [][]string
}

// paper is one document before it is laid out.
type paper struct {
	kind, file, media, title string
	received                 time.Time
	fields                   []pair
	tables                   []*sheetTable
	prose                    []string // lines that nothing is extracted from
}

func (p *paper) set(name, value string) {
	for i := range p.fields {
		if p.fields[i].name == name {
			p.fields[i].value = value
			return
		}
	}
	p.fields = append(p.fields, pair{name, value})
}

func (p *paper) get(name string) string {
	for _, f := range p.fields {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

func (p *paper) table(name string) *sheetTable {
	for _, t := range p.tables {
		if t.name == name {
			return t
		}
	}
	return nil
}

func (t *sheetTable) col(name string) int {
	for i, c := range t.cols {
		if c == name {
			return i
		}
	}
	panic("sample: table " + t.name + " has no column " + name) // A misspelt plant is our own fault and can't be met by input.
}

func (t *sheetTable) set(row int, col, value string) { t.rows[row][t.col(col)] = value }
func (t *sheetTable) get(row int, col string) string { return t.rows[row][t.col(col)] }

// remove takes out a row, so that it never was in the document.
func (t *sheetTable) remove(row int) { t.rows = append(t.rows[:row:row], t.rows[row+1:]...) }

// bundle is a submission being invented: clean first, then spoilt as its plan says.
type bundle struct {
	id, carrier string
	effective   time.Time
	received    time.Time
	home        place
	units       int // power units
	papers      []*paper
	expect      []Planted
	weak        map[string]bool // "kind/field" to extract with hardly any confidence
	insuredName string
	broker      string
	driversOf   []string // names
}

func (b *bundle) paper(kind string) *paper {
	for _, p := range b.papers {
		if p.kind == kind {
			return p
		}
	}
	return nil
}

func (b *bundle) remove(kind string) {
	for i, p := range b.papers {
		if p.kind == kind {
			b.papers = append(b.papers[:i:i], b.papers[i+1:]...)
			return
		}
	}
}

func (b *bundle) app() *paper { return b.paper("application") }

func (b *bundle) vehicles() *sheetTable { return b.paper("vehicle_schedule").table("vehicles") }

// fails notes a planted discrepancy.
func (b *bundle) fails(rule, entity string) { b.note(rule, entity, "fail", "conflict") }

// untold notes a planted gap.
func (b *bundle) untold(rule, entity string) { b.note(rule, entity, "unknown", "unresolved") }

func (b *bundle) note(rule, entity, outcome, class string) {
	b.expect = append(b.expect, Planted{Submission: b.id, Rule: rule, Entity: entity, Outcome: outcome, Class: class})
}

func day(t time.Time) string { return t.Format("01/02/2006") }

func money(n int) string { return strconv.Itoa(n) }

func unit(i int) string { return strconv.Itoa(101 + i) }

// tivText recomputes the stated total, for plants that change a value.
func (b *bundle) retotal() {
	sum := 0
	v := b.vehicles()
	for i := range v.rows {
		n, _ := strconv.Atoi(v.get(i, "stated_value"))
		sum += n
	}
	b.app().set("total_insured_value", money(sum))
	b.paper("vehicle_schedule").set("total_insured_value", money(sum))
}

// recount recomputes stated counts, for plants that change rows.
func (b *bundle) recount() {
	v := b.vehicles()
	power := 0
	for i := range v.rows {
		if v.get(i, "body_type") != "Trailer" {
			power++
		}
	}
	b.units = power
	b.app().set("vehicle_count", fmt.Sprint(len(v.rows)))
	b.paper("vehicle_schedule").set("vehicle_count", fmt.Sprint(len(v.rows)))
	b.app().set("power_unit_count", fmt.Sprint(power))
	if f := b.paper("fmcsa_snapshot"); f != nil {
		f.set("power_units", fmt.Sprint(power))
	}
}
