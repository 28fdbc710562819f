package vpic

// Tables are NHTSA's tables as a reader of Parquet files or of a database dump collects them, to be written as one data set.
type Tables struct {
	Date     string
	Origin   string
	Complete bool

	Elements    []ElementRow
	Lookups     map[string][]Name // by lower-case table name
	Makes       []Name
	Models      []Name
	Makers      []Name
	ModelMakes  []Pair // model, make
	WMIs        []WMIRow
	WMIMakes    []Pair // WMI, make
	WMISchemas  []WMISchemaRow
	Schemas     []SchemaRow
	Patterns    []PatternRow
	Keys        Strings
	Values      Strings
	Engines     []Name
	EngineFacts []EngineFactRow
	Defaults    []DefaultRow
	Descriptors []DescriptorRow
	Exceptions  []string
	Conversions []ConversionRow
	ErrorCodes  []ErrorCodeRow
	SpecSchemas []SpecSchemaRow
	SpecModels  []Pair // schema, model
	SpecYears   []Pair // schema, year
	SpecSheets  []Pair // sheet, schema
	SpecFacts   []SpecFactRow
}

// Pair joins two ids.
type Pair struct{ A, B int32 }

// ElementRow is a row of Element.
type ElementRow struct {
	ID                              int32
	Name, Code, Lookup, Group, Type string
	Private                         bool
	Decode                          string
	Weight                          int32
}

// WMIRow is a row of Wmi.
type WMIRow struct {
	ID                              int32
	Code                            string
	Maker, Type, TruckType, Country int32
	PublicSince                     int32 // days since 1970-01-01
	HasPublic                       bool
}

// WMISchemaRow is a row of Wmi_VinSchema; To is 0 for an open end.
type WMISchemaRow struct{ WMI, Schema, From, To int32 }

// SchemaRow is a row of VinSchema.
type SchemaRow struct {
	ID      int32
	Name    string
	Unready bool
}

// PatternRow is a row of Pattern. Key and Value are indices in Tables.Keys and Tables.Values; Changed is in microseconds. There are two
// million of them, so that each byte counts.
type PatternRow struct {
	Schema, Element int32
	Key, Value      uint32
	Changed         int64
}

// EngineFactRow is a row of EngineModelPattern.
type EngineFactRow struct {
	Engine, Element int32
	Value           string
	Changed         int64
}

// DefaultRow is a row of DefaultValue.
type DefaultRow struct {
	Element, Type int32
	Value         string
}

// DescriptorRow is a row of VinDescriptor.
type DescriptorRow struct {
	Descriptor string
	Year       int32
}

// ConversionRow is a row of Conversion.
type ConversionRow struct {
	ID, From, To int32
	Formula      string
}

// ErrorCodeRow is a row of ErrorCode.
type ErrorCodeRow struct {
	ID               int32
	Text, Additional string
	Weight           int32
}

// SpecSchemaRow is a row of VehicleSpecSchema.
type SpecSchemaRow struct {
	ID, Make, Type int32
	Unready        bool
}

// SpecFactRow is a row of VehicleSpecPattern.
type SpecFactRow struct {
	Sheet, Element int32
	Key            bool
	Value          string
	Changed        int64
}

// Strings numbers texts, each once.
type Strings struct {
	List  []string
	index map[string]uint32
}

// Index returns the number of a text, giving it one if it is new.
func (s *Strings) Index(text string) uint32 {
	if i, ok := s.index[text]; ok {
		return i
	}
	return s.add(text)
}

// IndexBytes is Index without a copy if the text is known.
func (s *Strings) IndexBytes(text []byte) uint32 {
	if i, ok := s.index[string(text)]; ok {
		return i
	}
	return s.add(string(text))
}

func (s *Strings) add(text string) uint32 {
	if s.index == nil {
		s.index = map[string]uint32{}
	}
	i := uint32(len(s.List))
	s.List = append(s.List, text)
	s.index[text] = i
	return i
}
