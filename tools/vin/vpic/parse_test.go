package vpic

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// FuzzParse mutates what is inside the compression, where a checksum doesn't stop it first.
func FuzzParse(f *testing.F) {
	t := &Tables{
		Date: "2026-01-02", Lookups: map[string][]Name{"vehicletype": {{ID: 6, Text: "Trailer"}}},
		Elements: []ElementRow{{ID: 28, Name: "Model", Code: "Model", Lookup: "model", Decode: "Pattern"}}, Makes: []Name{{ID: 1, Text: "A"}}, Models: []Name{{ID: 10, Text: "M"}},
		Makers: []Name{{ID: 7, Text: "A Inc"}}, ModelMakes: []Pair{{A: 10, B: 1}}, WMIs: []WMIRow{{ID: 3, Code: "AAA", Maker: 7, Type: 6}}, WMIMakes: []Pair{{A: 3, B: 1}},
		WMISchemas: []WMISchemaRow{{WMI: 3, Schema: 5, From: 2010}}, Schemas: []SchemaRow{{ID: 5, Name: "five"}},
	}
	t.Patterns = []PatternRow{{Schema: 5, Element: 28, Key: t.Keys.Index("A[B-D]"), Value: t.Values.Index("10")}}
	var file bytes.Buffer
	if err := Write(&file, t); err != nil {
		f.Fatal(err)
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		f.Fatal(err)
	}
	defer dec.Close()
	all, err := dec.DecodeAll(file.Bytes()[len(magic):], nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(all)
	f.Fuzz(func(_ *testing.T, b []byte) {
		d, err := parse(b)
		if err != nil {
			return
		}
		for i := range d.WMIs {
			for _, l := range d.LinksOf(&d.WMIs[i]) {
				d.GroupsOf(l.Schema)
			}
		}
	})
}
