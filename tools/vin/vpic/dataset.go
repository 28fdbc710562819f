// Package vpic holds NHTSA's vehicle tables in memory, and reads and writes them as one compact file.
package vpic

// Element ids that the decoder treats in a special way.
const (
	ElementBodyClass    = 5
	ElementEngineModel  = 18
	ElementGVWR         = 25
	ElementMake         = 26
	ElementManufacturer = 27
	ElementModel        = 28
	ElementModelYear    = 29
	ElementVehicleType  = 39
	ElementGVWRTo       = 190
)

// Vehicle types by NHTSA's id.
const (
	TypeMotorcycle       = 1
	TypeCar              = 2
	TypeTruck            = 3
	TypeBus              = 5
	TypeTrailer          = 6
	TypeMPV              = 7
	TypeLSV              = 9
	TypeIncomplete       = 10
	TypeOffRoad          = 13
	truckTypeLight       = 1
	openYear             = 2999
	firstYear            = 1900
	noIndex        int32 = -1
)

// DataSet is a whole set of tables. It is never changed after it was read.
type DataSet struct {
	// Date is the day of the newest change in the tables, such as 2026-02-17.
	Date string
	// Origin says where the tables came from.
	Origin string
	// Complete is true if the tables are NHTSA's whole list, not a selection of elements.
	Complete bool

	Elements    []Element
	WMIs        []WMI
	Links       []Link
	WMIMakes    []int32
	Schemas     []Schema
	Keys        Keys
	Groups      []Group
	Rows        Rows
	Attributes  [][]Attribute // by index in Elements
	Models      []Model
	Makes       []Name
	Makers      []Name
	Engines     map[string][]EngineFact
	Defaults    map[int32][]Default // by vehicle type
	Descriptors map[string]int32
	Exceptions  map[string]bool // VINs whose wrong check digit is known
	Conversions []Conversion
	ErrorTexts  map[int]ErrorText
	Specs       map[int32][]Spec // by model id

	wmi     map[string]int32
	element map[int32]int32
	lookups map[string]map[int32]string
}

// Name is a numbered text.
type Name struct {
	ID   int32
	Text string
}

// Element is a kind of fact.
type Element struct {
	ID     int32
	Name   string // as NHTSA words it: "Body Class"
	Code   string // as DecodeVinValues calls it: "BodyClass"
	Lookup string // lower-case name of the table that its values are ids of; "" for plain values
	Group  string
	Type   string // string, int, decimal or lookup
	Weight int32
	// Present is true if any row of this data set can give the element.
	Present bool
}

// WMI is a world manufacturer identifier.
type WMI struct {
	Code        string
	Maker       int32 // index in Makers, -1 if none
	Type        int32 // vehicle type id
	TruckType   int32
	Country     int32
	PublicSince int32 // days since 1970-01-01
	makes       span
	links       span
}

// Light is true for passenger cars, multipurpose vehicles and light trucks, for which position 7 tells the cycle of the year.
func (w *WMI) Light() bool {
	return w.Type == TypeCar || w.Type == TypeMPV || w.Type == TypeTruck && w.TruckType == truckTypeLight
}

type span struct{ from, to uint32 }

// Link says that a manufacturer used a schema from one model year to another.
type Link struct {
	Schema   int32 // index in Schemas
	From, To int16
}

// Schema is a manufacturer's scheme for some years.
type Schema struct {
	ID      int32
	Name    string
	Unready bool // still to be checked by NHTSA: matched for legality only
	groups  span
}

// Group is a key in a schema, with the rows that apply when it matches. Rows end where the next group's begin.
type Group struct {
	Key uint32
	Row uint32
}

// Rows are the pattern rows in columns.
type Rows struct {
	Element   []uint8  // index in Elements
	Attribute []uint32 // index in Attributes[Element]
	// Rank orders rows of one element that can compete by the time of their last change: a higher rank is newer.
	Rank []uint32
}

// Attribute is a value that an element can take.
type Attribute struct {
	ID   int32 // -1 for plain values
	Text string
}

// Model is a model and its make.
type Model struct {
	ID   int32
	Text string
	Make int32 // index in Makes, -1 if none
}

// EngineFact is what an engine model implies.
type EngineFact struct {
	Element   int32 // index in Elements
	Attribute Attribute
}

// Default is a value that a type of vehicle has unless told otherwise.
type Default struct {
	Element int32 // index in Elements
	Value   string
}

// Conversion computes one element from another: x*Factor, or x/Factor if Divide.
type Conversion struct {
	ID       int32
	From, To int32 // element ids
	Factor   string
	Divide   bool
}

// ErrorText is the wording of an error code.
type ErrorText struct {
	Text, Additional string
	Weight           int32
}

// Spec is a sheet of facts about a model: if all Keys hold, the Facts do.
type Spec struct {
	ID, Schema int32
	Make       int32 // make id
	Type       int32
	Years      []int32 // nil: every year
	Keys       []SpecFact
	Facts      []SpecFact
}

// SpecFact is an element with a value.
type SpecFact struct {
	Element   int32 // index in Elements
	Attribute Attribute
	Changed   int64 // microseconds
}

// FindWMI returns the manufacturer's entry, or nil.
func (d *DataSet) FindWMI(code string) *WMI {
	if i, ok := d.wmi[code]; ok {
		return &d.WMIs[i]
	}
	return nil
}

// IndexOfWMI returns the index of a manufacturer's entry in WMIs.
func (d *DataSet) IndexOfWMI(code string) (int32, bool) {
	i, ok := d.wmi[code]
	return i, ok
}

// ElementIndex returns the index in Elements of an element id, or -1.
func (d *DataSet) ElementIndex(id int32) int32 {
	if i, ok := d.element[id]; ok {
		return i
	}
	return noIndex
}

// Tells is true if this data set can give the element of that name.
func (d *DataSet) Tells(code string) bool {
	for i := range d.Elements {
		if d.Elements[i].Code == code {
			return d.Elements[i].Present
		}
	}
	return false
}

// LinksOf returns the schemas of a manufacturer.
func (d *DataSet) LinksOf(w *WMI) []Link { return d.Links[w.links.from:w.links.to] }

// MakesOf returns the makes of a manufacturer as indices in Makes.
func (d *DataSet) MakesOf(w *WMI) []int32 { return d.WMIMakes[w.makes.from:w.makes.to] }

// GroupsOf returns the keys of a schema.
func (d *DataSet) GroupsOf(schema int32) []Group {
	g := d.Schemas[schema].groups
	return d.Groups[g.from:g.to]
}

// GroupRange returns the indices in Groups of a schema's keys.
func (d *DataSet) GroupRange(schema int32) (from, to uint32) {
	g := d.Schemas[schema].groups
	return g.from, g.to
}

// RowEnd returns where the rows of group i end.
func (d *DataSet) RowEnd(i uint32) uint32 {
	if int(i)+1 < len(d.Groups) {
		return d.Groups[i+1].Row
	}
	return uint32(len(d.Rows.Element))
}

// Lookup returns the text of an id in one of NHTSA's look-up tables.
func (d *DataSet) Lookup(table string, id int32) (string, bool) {
	t, ok := d.lookups[table][id]
	return t, ok
}
