package vpic_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"bordereau/tools/vin/vpic"
)

func TestEmbeddedDataSet(t *testing.T) {
	t.Parallel()
	d, err := vpic.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if d.Date != "2026-02-17" || d.Complete || len(d.WMIs) != 12_765 || len(d.Rows.Element) != 799_121 || len(d.Keys.Text) != 58_458 {
		t.Errorf("date %s, complete %v, %d codes, %d rows, %d keys", d.Date, d.Complete, len(d.WMIs), len(d.Rows.Element), len(d.Keys.Text))
	}
	if n := vpic.EmbeddedBytes(); n > 3<<20 {
		t.Errorf("%d bytes in the program are more than 3 MB", n)
	}
	// Every row refers to something, and every model has a make.
	for i := range d.Models {
		if d.Models[i].Make < 0 {
			t.Errorf("model %s has no make", d.Models[i].Text)
		}
	}
	w := d.FindWMI("1XP")
	if w == nil || w.Light() || len(d.LinksOf(w)) == 0 {
		t.Errorf("1XP is %+v", w)
	}
	if w := d.FindWMI("1N9414"); w == nil || w.Type != vpic.TypeTrailer {
		t.Errorf("1N9414 is %+v", w)
	}
}

// tables is the smallest list that can be written.
func tables() *vpic.Tables {
	t := &vpic.Tables{
		Date: "2026-01-02", Origin: "test", Lookups: map[string][]vpic.Name{"bodystyle": {{ID: 61, Text: "Trailer"}}},
		Elements: []vpic.ElementRow{
			{ID: 28, Name: "Model", Code: "Model", Lookup: "model", Decode: "Pattern"},
			{ID: 5, Name: "Body Class", Code: "BodyClass", Lookup: "bodystyle", Decode: "Pattern"},
			{ID: 96, Name: "Secret", Code: "Secret", Private: true, Decode: "Pattern"},
		},
		Makes: []vpic.Name{{ID: 1, Text: "A"}}, Models: []vpic.Name{{ID: 10, Text: "M"}}, Makers: []vpic.Name{{ID: 7, Text: "A Inc"}},
		ModelMakes: []vpic.Pair{{A: 10, B: 1}}, WMIs: []vpic.WMIRow{{ID: 3, Code: "AAA", Maker: 7, Type: 6, HasPublic: true, PublicSince: 16_436}},
		WMIMakes: []vpic.Pair{{A: 3, B: 1}}, WMISchemas: []vpic.WMISchemaRow{{WMI: 3, Schema: 5, From: 2010, To: 2009}, {WMI: 3, Schema: 6, From: 1985}},
		Schemas: []vpic.SchemaRow{{ID: 5, Name: "five"}, {ID: 6, Name: "six", Unready: true}, {ID: 9, Name: "of nobody"}},
	}
	for _, p := range []struct {
		schema, element int32
		key, value      string
		changed         int64
	}{{5, 28, "A", "10", 3}, {5, 5, "[B-D]*", "61", 1}, {5, 5, "A", "61", 2}, {6, 96, "SECRET", "x", 9}, {9, 28, "Z", "10", 1}} {
		t.Patterns = append(t.Patterns, vpic.PatternRow{Schema: p.schema, Element: p.element, Key: t.Keys.Index(p.key), Value: t.Values.Index(p.value), Changed: p.changed})
	}
	return t
}

func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	if err := vpic.Write(&file, tables()); err != nil {
		t.Fatal(err)
	}
	d, err := vpic.Read(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	w := d.FindWMI("AAA")
	links := d.LinksOf(w)
	if len(links) != 2 || links[0].From <= links[0].To || links[1].To != 2999 || !d.Schemas[links[1].Schema].Unready {
		t.Errorf("links %+v: a reversed range must stay reversed, an open one open", links)
	}
	if !slices.Equal(d.Keys.Text, []string{"A", "SECRET", "[B-D]*"}) {
		t.Errorf("keys %q: the private element's key stays for its characters, the unused schema's goes", d.Keys.Text)
	}
	if len(d.Rows.Element) != 3 {
		t.Errorf("%d rows", len(d.Rows.Element))
	}
	// The newer of the two rows of body class has the higher rank.
	ranks := map[string]uint32{}
	for i := range d.Groups {
		for r := d.Groups[i].Row; r < d.RowEnd(uint32(i)); r++ {
			if d.Elements[d.Rows.Element[r]].ID == 5 {
				ranks[d.Keys.Text[d.Groups[i].Key]] = d.Rows.Rank[r]
			}
		}
	}
	if ranks["A"] <= ranks["[B-D]*"] {
		t.Errorf("ranks %v", ranks)
	}
	if got := d.Attributes[d.ElementIndex(28)][0].Text; got != "M" {
		t.Errorf("model %q", got)
	}
}

func TestIncompleteTablesAreRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*vpic.Tables){
		"no patterns": func(t *vpic.Tables) { t.Patterns = nil }, "no elements": func(t *vpic.Tables) { t.Elements = nil }, "no models": func(t *vpic.Tables) { t.Models = nil },
		"no codes": func(t *vpic.Tables) { t.WMIs = nil },
	} {
		x := tables()
		spoil(x)
		if err := vpic.Write(&bytes.Buffer{}, x); err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

func TestDamagedFileIsRefused(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	if err := vpic.Write(&file, tables()); err != nil {
		t.Fatal(err)
	}
	good := file.Bytes()
	var bad *vpic.FormatError
	for _, b := range [][]byte{nil, []byte("PK\x03\x04"), good[:20], good[:len(good)-3], append(slices.Clone(good[:len(good)-8]), 1, 2, 3, 4, 5, 6, 7, 8)} {
		if _, err := vpic.Read(b); !errors.As(err, &bad) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
}

func TestKeysBecomeSets(t *testing.T) {
	t.Parallel()
	// 1-A is malformed in NHTSA's data and means 1 and A; the class holds no other digit.
	for _, c := range []struct{ class, in, out string }{{"*****|*[1-A-JT]", "1AJT", "05Z"}, {"*****|*[A-HJ-M]", "ABHJM", "INZ19"}, {"*****|*[089ET]", "089ET", "1A"}} {
		x := tables()
		x.Patterns[0].Key = x.Keys.Index(c.class)
		var file bytes.Buffer
		if err := vpic.Write(&file, x); err != nil {
			t.Fatal(err)
		}
		d, err := vpic.Read(file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		k := uint32(slices.Index(d.Keys.Text, c.class))
		set := d.Keys.Of(k)[7]
		for _, ch := range []byte(c.in) {
			if set&vpic.Bit(ch) == 0 {
				t.Errorf("%s lacks %c", c.class, ch)
			}
		}
		for _, ch := range []byte(c.out) {
			if set&vpic.Bit(ch) != 0 {
				t.Errorf("%s holds %c", c.class, ch)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	var file bytes.Buffer
	if err := vpic.Write(&file, tables()); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = vpic.Read(b)
	})
}
