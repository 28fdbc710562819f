package reconcile

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Packet is one submission with everything that was extracted from its documents.
type Packet struct {
	ID, Workflow, Status, Insured, Broker, Carrier, Line string
	Effective, Expiry                                    time.Time // zero: not registered
	Received                                             time.Time
	Documents                                            []Document
	AuditID                                              string // of the query that read the fields
}

// Document is one file of a packet.
type Document struct {
	ID, Type, Filename string
	Pages              int
	SHA256             string
	Received           time.Time
	Fields             []Field
}

// Field is one extracted value, current after edits.
type Field struct {
	ID, DocumentID, RowID, Table string
	RowIndex                     int
	Name                         string
	Original, Value              string
	Null                         bool // nothing was read
	Confidence                   float64
	Page                         int
	Box                          [4]float64
	ByHuman                      bool // a person confirmed or corrected it
	EditedBy                     string

	doc *Document
}

// confidence is the extraction's, unless a person has set the value since.
func (f *Field) confidence() float64 {
	if f.ByHuman {
		return 1
	}
	return f.Confidence
}

// row is one row of an extracted table.
type row struct {
	doc   *Document
	id    string
	index int
	cells map[string]*Field
}

func (r *row) text(name string) string {
	if f := r.cells[name]; f != nil {
		return f.Value
	}
	return ""
}

// fields returns those of the named cells that exist.
func (r *row) fields(names ...string) []*Field {
	var out []*Field
	for _, n := range names {
		if f := r.cells[n]; f != nil {
			out = append(out, f)
		}
	}
	return out
}

// aliases maps field names of other extraction systems to ours.
func alias(table, name string) string {
	switch name {
	case "veh_number", "company_vehicle_number", "vehicle_number", "vehicle", "unit", "unit_number":
		return "unit_no"
	case "plate_number":
		return "plate"
	case "state_licensed", "licensed_state":
		return "license_state"
	case "driver_license_number", "drivers_license_num_ssn", "licence_number":
		return "license_number"
	case "date_hired", "date_hire":
		return "hire_date"
	case "years_experienced", "yrs_exp":
		return "years_experience"
	case "accidents_last_5_years":
		return "accidents"
	case "claim_reserves":
		return "reserve"
	case "claim_paid":
		return "paid"
	case "claim_recovered":
		return "recovered"
	case "claim_status":
		return "status"
	case "effective_date":
		if table == "losses" {
			return "term_start"
		}
	case "body":
		return "body_type"
	}
	return name
}

// indexed is a packet arranged for look-ups. Its order depends only on content, never on the order of arrival.
type indexed struct {
	*Packet
	docs   []*Document                    // by type and id
	loose  map[string]map[string][]*Field // document type -> field name -> statements
	tables map[string][]*row              // document type + "/" + table -> rows
}

func index(p *Packet) *indexed {
	x := &indexed{Packet: p, loose: map[string]map[string][]*Field{}, tables: map[string][]*row{}}
	for i := range p.Documents {
		x.docs = append(x.docs, &p.Documents[i])
	}
	slices.SortFunc(x.docs, func(a, b *Document) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.ID, b.ID))
	})
	for _, d := range x.docs {
		x.add(d)
	}
	return x
}

func (x *indexed) add(d *Document) {
	fields := make([]*Field, 0, len(d.Fields))
	for i := range d.Fields {
		f := &d.Fields[i]
		f.doc = d
		fields = append(fields, f)
	}
	slices.SortFunc(fields, func(a, b *Field) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), cmp.Compare(a.RowIndex, b.RowIndex), strings.Compare(a.RowID, b.RowID),
			strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	var last *row
	for _, f := range fields {
		name := alias(f.Table, f.Name)
		if f.RowID == "" && f.Table == "" {
			if !blank(f) {
				m := x.loose[d.Type]
				if m == nil {
					m = map[string][]*Field{}
					x.loose[d.Type] = m
				}
				m[name] = append(m[name], f)
			}
			continue
		}
		key := d.Type + "/" + f.Table
		if last == nil || last.id != f.RowID || last.doc != d {
			last = &row{doc: d, id: f.RowID, index: f.RowIndex, cells: make(map[string]*Field, 16)}
			x.tables[key] = append(x.tables[key], last)
		}
		if !blank(f) && last.cells[name] == nil {
			last.cells[name] = f
		}
	}
}

func blank(f *Field) bool { return f.Null || strings.TrimSpace(f.Value) == "" }

// one returns the first statement of a field in the documents of a type, nil when there is none.
func (x *indexed) one(docType, name string) *Field {
	if all := x.loose[docType][name]; len(all) > 0 {
		return all[0]
	}
	return nil
}

// all returns every statement of a field in the documents of the types, in that order.
func (x *indexed) all(name string, docTypes ...string) []*Field {
	var out []*Field
	for _, t := range docTypes {
		out = append(out, x.loose[t][name]...)
	}
	return out
}

func (x *indexed) has(docType string) bool {
	for _, d := range x.docs {
		if d.Type == docType {
			return true
		}
	}
	return false
}

// pick returns the first statement of a field, asking the document types in order.
func (x *indexed) pick(name string, docTypes ...string) *Field {
	for _, t := range docTypes {
		if f := x.one(t, name); f != nil {
			return f
		}
	}
	return nil
}
