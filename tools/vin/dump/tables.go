package dump

import (
	"strings"

	"bordereau/tools/vin/vpic"
)

// known are the tables that a decoder needs, with their columns. WMIYearValidChars is not among them: its five million rows are a cache of what
// the patterns say, and a stale one at that.
func (r *reader) known() map[string]block {
	return map[string]block{
		"element": {need: []string{"id", "name", "lookuptable", "decode"}, may: []string{"code", "groupname", "datatype", "isprivate", "weight"}, row: r.element},
		"wmi": {
			need: []string{"id", "wmi", "manufacturerid", "vehicletypeid", "publicavailabilitydate"}, may: []string{"trucktypeid", "countryid"},
			row: r.wmi,
		},
		"wmi_make":                {need: []string{"wmiid", "makeid"}, row: pairs(&r.t.WMIMakes)},
		"make_model":              {need: []string{"modelid", "makeid"}, row: pairs(&r.t.ModelMakes)},
		"wmi_vinschema":           {need: []string{"wmiid", "vinschemaid", "yearfrom", "yearto"}, row: r.link},
		"vinschema":               {need: []string{"id", "name"}, may: []string{"tobeqced"}, row: r.schema},
		"pattern":                 {need: []string{"vinschemaid", "keys", "elementid", "attributeid"}, may: []string{"createdon", "updatedon"}, row: r.pattern},
		"make":                    {need: []string{"id", "name"}, row: names(&r.t.Makes)},
		"model":                   {need: []string{"id", "name"}, row: names(&r.t.Models)},
		"manufacturer":            {need: []string{"id", "name"}, row: names(&r.t.Makers)},
		"enginemodel":             {need: []string{"id", "name"}, row: names(&r.t.Engines)},
		"enginemodelpattern":      {need: []string{"enginemodelid", "elementid", "attributeid"}, may: []string{"createdon", "updatedon"}, row: r.engineFact},
		"defaultvalue":            {need: []string{"elementid", "vehicletypeid", "defaultvalue"}, row: r.defaultValue},
		"vindescriptor":           {need: []string{"descriptor", "modelyear"}, row: r.descriptor},
		"vinexception":            {need: []string{"vin", "checkdigit"}, row: r.exception},
		"conversion":              {need: []string{"id", "fromelementid", "toelementid", "formula"}, row: r.conversion},
		"errorcode":               {need: []string{"id", "name"}, may: []string{"additionalerrortext", "weight"}, row: r.errorCode},
		"vehiclespecschema":       {need: []string{"id", "makeid", "vehicletypeid"}, may: []string{"tobeqced"}, row: r.specSchema},
		"vehiclespecschema_model": {need: []string{"vehiclespecschemaid", "modelid"}, row: pairs(&r.t.SpecModels)},
		"vehiclespecschema_year":  {need: []string{"vehiclespecschemaid", "year"}, row: pairs(&r.t.SpecYears)},
		"vspecschemapattern":      {need: []string{"id", "schemaid"}, row: pairs(&r.t.SpecSheets)},
		"vehiclespecpattern":      {need: []string{"vspecschemapatternid", "elementid", "attributeid", "iskey"}, may: []string{"createdon", "updatedon"}, row: r.specFact},
	}
}

// lookup is the reader of any other table that numbers texts; elements name such tables.
func (r *reader) lookup() (block, bool) {
	if strings.HasPrefix(r.table, "defs_") || indexOf(r.columns, "id") < 0 || indexOf(r.columns, "name") < 0 || len(r.columns) > 8 {
		return block{}, false
	}
	table := r.table
	return block{need: []string{"id", "name"}, row: func(c []cell) error {
		id, err := number(c, 0)
		if err != nil {
			return err
		}
		r.t.Lookups[table] = append(r.t.Lookups[table], vpic.Name{ID: id, Text: strings.TrimSpace(c[1].text())})
		return nil
	}}, true
}

func names(list *[]vpic.Name) func([]cell) error {
	return func(c []cell) error {
		id, err := number(c, 0)
		if err != nil {
			return err
		}
		*list = append(*list, vpic.Name{ID: id, Text: strings.TrimSpace(c[1].text())})
		return nil
	}
}

func pairs(list *[]vpic.Pair) func([]cell) error {
	return func(c []cell) error {
		n, err := numbersIn(c, 0, 1)
		if err != nil {
			return err
		}
		*list = append(*list, vpic.Pair{A: n[0], B: n[1]})
		return nil
	}
}

func (r *reader) element(c []cell) error {
	n, err := numbersIn(c, 0, 8)
	if err != nil {
		return err
	}
	e := vpic.ElementRow{
		ID: n[0], Name: c[1].text(), Lookup: strings.ToLower(c[2].text()), Decode: c[3].text(), Code: c[4].text(), Group: c[5].text(),
		Type: c[6].text(), Private: c[7].yes(), Weight: n[1],
	}
	if e.Code == "" {
		e.Code = strings.ReplaceAll(e.Name, " ", "")
	}
	r.t.Elements = append(r.t.Elements, e)
	return nil
}

func (r *reader) wmi(c []cell) error {
	n, err := numbersIn(c, 0, 2, 3, 5, 6)
	if err != nil {
		return err
	}
	at, err := moment(c, 4)
	if err != nil {
		return err
	}
	r.t.WMIs = append(r.t.WMIs, vpic.WMIRow{
		ID: n[0], Code: strings.ToUpper(strings.TrimSpace(c[1].text())), Maker: n[1], Type: n[2], TruckType: n[3],
		Country: n[4], HasPublic: !c[4].null, PublicSince: int32(max(0, at/86_400_000_000)),
	})
	return nil
}

func (r *reader) link(c []cell) error {
	n, err := numbersIn(c, 0, 1, 2, 3)
	if err != nil {
		return err
	}
	r.t.WMISchemas = append(r.t.WMISchemas, vpic.WMISchemaRow{WMI: n[0], Schema: n[1], From: n[2], To: n[3]})
	return nil
}

func (r *reader) schema(c []cell) error {
	id, err := number(c, 0)
	if err != nil {
		return err
	}
	r.t.Schemas = append(r.t.Schemas, vpic.SchemaRow{ID: id, Name: strings.TrimSpace(c[1].text()), Unready: c[2].yes()})
	return nil
}

func (r *reader) pattern(c []cell) error {
	n, err := numbersIn(c, 0, 2)
	if err != nil {
		return err
	}
	at, err := changed(c, 4, 5)
	if err != nil {
		return err
	}
	r.newest = max(r.newest, at)
	for i, b := range c[1].b {
		if b >= 'a' && b <= 'z' {
			c[1].b[i] = b - 'a' + 'A'
		}
	}
	r.t.Patterns = append(r.t.Patterns, vpic.PatternRow{
		Schema: n[0], Element: n[1], Key: r.t.Keys.IndexBytes(c[1].b),
		Value: r.t.Values.IndexBytes(c[3].b), Changed: at,
	})
	return nil
}

func (r *reader) engineFact(c []cell) error {
	n, err := numbersIn(c, 0, 1)
	if err != nil {
		return err
	}
	at, err := changed(c, 3, 4)
	if err != nil {
		return err
	}
	r.t.EngineFacts = append(r.t.EngineFacts, vpic.EngineFactRow{Engine: n[0], Element: n[1], Value: c[2].text(), Changed: at})
	return nil
}

func (r *reader) defaultValue(c []cell) error {
	n, err := numbersIn(c, 0, 1)
	if err != nil || c[2].null {
		return err
	}
	r.t.Defaults = append(r.t.Defaults, vpic.DefaultRow{Element: n[0], Type: n[1], Value: c[2].text()})
	return nil
}

func (r *reader) descriptor(c []cell) error {
	year, err := number(c, 1)
	if err != nil {
		return err
	}
	r.t.Descriptors = append(r.t.Descriptors, vpic.DescriptorRow{Descriptor: strings.ToUpper(strings.TrimSpace(c[0].text())), Year: year})
	return nil
}

func (r *reader) exception(c []cell) error {
	if c[1].yes() {
		r.t.Exceptions = append(r.t.Exceptions, strings.ToUpper(strings.TrimSpace(c[0].text())))
	}
	return nil
}

func (r *reader) conversion(c []cell) error {
	n, err := numbersIn(c, 0, 1, 2)
	if err != nil {
		return err
	}
	r.t.Conversions = append(r.t.Conversions, vpic.ConversionRow{ID: n[0], From: n[1], To: n[2], Formula: c[3].text()})
	return nil
}

func (r *reader) errorCode(c []cell) error {
	n, err := numbersIn(c, 0, 3)
	if err != nil {
		return err
	}
	r.t.ErrorCodes = append(r.t.ErrorCodes, vpic.ErrorCodeRow{ID: n[0], Text: c[1].text(), Additional: c[2].text(), Weight: n[1]})
	return nil
}

func (r *reader) specSchema(c []cell) error {
	n, err := numbersIn(c, 0, 1, 2)
	if err != nil {
		return err
	}
	r.t.SpecSchemas = append(r.t.SpecSchemas, vpic.SpecSchemaRow{ID: n[0], Make: n[1], Type: n[2], Unready: c[3].yes()})
	return nil
}

func (r *reader) specFact(c []cell) error {
	n, err := numbersIn(c, 0, 1)
	if err != nil {
		return err
	}
	at, err := changed(c, 4, 5)
	if err != nil {
		return err
	}
	// Facts repeat a few thousand values: keep each once.
	value := r.t.Values.List[r.t.Values.IndexBytes(c[2].b)]
	r.t.SpecFacts = append(r.t.SpecFacts, vpic.SpecFactRow{Sheet: n[0], Element: n[1], Value: value, Key: c[3].yes(), Changed: at})
	return nil
}
