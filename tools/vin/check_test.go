package vin_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bordereau/tools/vin"
)

func verdict(t *testing.T, c *vin.Checked, field string) vin.Verdict {
	t.Helper()
	f, ok := c.Check(field)
	if !ok {
		t.Fatalf("%s: %s was not compared", c.VIN, field)
	}
	return f.Verdict
}

func TestMakesAndModelsOfDocuments(t *testing.T) {
	t.Parallel()
	const (
		peterbilt = "1XPXD49XXRD898766" // 389 of 2024
		kenworth  = "1NKDX4TX8JJ223393" // T8 Series of 2018, a straight truck
		w9        = "1XKWD49XXPR236509" // W9 Series of 2023
		volvo     = "4V4NC9EH3NN315325" // VNL of 2022
		cascadia  = "1FUJGLDR3CLBP8834" // of 2012
		mack      = "1M1AW02Y39N008115" // CXU (Pinnacle) of 2009
		wabash    = "1JJV532D9JL178490" // dry van of 2018
		ford      = "1FTFW1ET9DFC10312" // F-150 of 2013
		utility   = "1UYVS2539NU384721"
		hyundai   = "3H3V532T5NL400014"
		greatDane = "1GRAA0622PB847291"
	)
	d := decoder(t)
	for _, c := range []struct {
		vin, make, model string
		wantMake         vin.Verdict
		wantModel        vin.Verdict // "" is not compared
	}{
		{peterbilt, "PETERBILT", "389", vin.Agrees, vin.Agrees},
		{peterbilt, "Peterbilt Motors Co.", "389 EXHD", vin.Variant, vin.Variant},
		{peterbilt, "PTRB", "", vin.Variant, ""},
		{peterbilt, "Pete", "", vin.Variant, ""},
		{peterbilt, "Peterbuilt", "379", vin.Variant, vin.Conflict},
		{peterbilt, "Kenworth", "T680", vin.Conflict, vin.Unresolved},
		{peterbilt, "Freightliner", "", vin.Conflict, ""},
		{kenworth, "KW", "T800", vin.Variant, vin.Variant},
		{kenworth, "Kenworth", "T880", vin.Agrees, vin.Conflict},
		{w9, "KENW", "W900L", vin.Variant, vin.Variant},
		{w9, "Kenworth", "T680", vin.Agrees, vin.Conflict},
		{volvo, "Volvo", "VNL 670", vin.Variant, vin.Variant},
		{volvo, "VOLV", "VNL64T", vin.Variant, vin.Variant},
		{volvo, "Volvo Trucks", "VNR", vin.Variant, vin.Conflict},
		{volvo, "Mack", "", vin.Conflict, ""},
		{cascadia, "FRHT", "CA125", vin.Variant, vin.Variant},
		{cascadia, "Freightliner", "Cascadia 125", vin.Agrees, vin.Variant},
		{cascadia, "Frieghtliner", "Freightliner Cascadia", vin.Variant, vin.Variant},
		{cascadia, "Freightliner", "Columbia", vin.Agrees, vin.Conflict},
		{cascadia, "Freightliner", "Sleeper", vin.Agrees, vin.Unresolved},
		{mack, "Mack", "Pinnacle", vin.Agrees, vin.Variant},
		{mack, "MACK TRUCKS", "CXU613", vin.Variant, vin.Variant},
		{wabash, "Wabash", "Duraplate", vin.Variant, vin.Variant},
		{wabash, "Wabash National", "", vin.Variant, ""},
		{wabash, "WANC", "", vin.Variant, ""},
		{wabash, "Great Dane", "", vin.Conflict, ""},
		{utility, "Utility", "3000R", vin.Variant, vin.Unresolved},
		{utility, "Utility Trailer Mfg", "", vin.Variant, ""},
		{utility, "UTIL", "", vin.Variant, ""},
		{hyundai, "Hyundai", "", vin.Variant, ""},
		{hyundai, "Hyundai Translead", "", vin.Variant, ""},
		{hyundai, "HYTR", "", vin.Variant, ""},
		{greatDane, "Great Dane", "", vin.Variant, ""},
		{greatDane, "GDAN", "", vin.Variant, ""},
		{"1C6RR7LT4DS500001", "Dodge", "1500", vin.Variant, ""},
		{ford, "Ford", "F150", vin.Agrees, vin.Variant},
		{ford, "Ford", "F-550", vin.Agrees, vin.Conflict},
	} {
		got := d.Check([]vin.Row{{VIN: c.vin, Make: c.make, Model: c.model}})[0]
		if v := verdict(t, &got, vin.FieldMake); v != c.wantMake {
			f, _ := got.Check(vin.FieldMake)
			t.Errorf("%s: %q against %q is %s instead of %s (%s)", c.vin, c.make, f.Decoded, v, c.wantMake, f.Note)
		}
		if c.wantModel == "" {
			continue
		}
		if v := verdict(t, &got, vin.FieldModel); v != c.wantModel {
			f, _ := got.Check(vin.FieldModel)
			t.Errorf("%s: %q against %q is %s instead of %s (%s)", c.vin, c.model, f.Decoded, v, c.wantModel, f.Note)
		}
	}
}

func TestBodiesAndWeightsOfDocuments(t *testing.T) {
	t.Parallel()
	d := decoder(t)
	for _, c := range []struct {
		vin, body string
		want      vin.Verdict
	}{
		{"1XPXD49XXRD898766", "Tractor", vin.Agrees},
		{"1XPXD49XXRD898766", "Truck Tractor - Sleeper", vin.Agrees},
		{"1XPXD49XXRD898766", "Truck", vin.Variant},
		{"1XPXD49XXRD898766", "Dry Van Trailer", vin.Conflict},
		{"1XPXD49XXRD898766", "Pickup", vin.Conflict},
		{"1XPXD49XXRD898766", "wingding", vin.Unresolved},
		{"1JJV532D9JL178490", "Dry Van", vin.Agrees},
		{"1JJV532D9JL178490", "Trailer", vin.Agrees},
		{"1JJV532D9JL178490", "Reefer", vin.Conflict},
		{"1JJV532D9JL178490", "Sleeper Tractor", vin.Conflict},
		{"1UYVS2539NU384721", "Reefer Trailer", vin.Agrees},
		{"1NKDX4TX8JJ223393", "Dump Truck", vin.Agrees},
		{"1NKDX4TX8JJ223393", "Tractor", vin.Conflict},
		{"1FTFW1ET9DFC10312", "Pickup Truck", vin.Agrees},
		{"1FTFW1ET9DFC10312", "Tractor", vin.Conflict},
		{"NOTAVINATALL", "Tractor", vin.Unresolved},
	} {
		got := d.Check([]vin.Row{{VIN: c.vin, BodyType: c.body}})[0]
		if v := verdict(t, &got, vin.FieldBodyType); v != c.want {
			f, _ := got.Check(vin.FieldBodyType)
			t.Errorf("%s: %q against %q is %s instead of %s (%s)", c.vin, c.body, f.Decoded, v, c.want, f.Note)
		}
	}
	for _, c := range []struct {
		vin  string
		gvw  int
		want vin.Verdict
	}{
		{"1XPXD49XXRD898766", 80_000, vin.Agrees},
		{"1XPXD49XXRD898766", 33_001, vin.Agrees},
		{"1XPXD49XXRD898766", 33_000, vin.Conflict},
		{"1XPXD49XXRD898766", 26_000, vin.Conflict},
		{"1FTFW1ET9DFC10312", 7_500, vin.Agrees},
		{"1FTFW1ET9DFC10312", 80_000, vin.Conflict},
		{"1JJV532D9JL178490", 65_000, vin.Unresolved},
	} {
		got := d.Check([]vin.Row{{VIN: c.vin, GVW: c.gvw}})[0]
		if v := verdict(t, &got, vin.FieldGVW); v != c.want {
			t.Errorf("%s: %d lb is %s instead of %s", c.vin, c.gvw, v, c.want)
		}
	}
}

func TestYearsOfDocuments(t *testing.T) {
	t.Parallel()
	d := decoder(t)
	for _, c := range []struct {
		vin     string
		stated  int
		want    vin.Verdict
		decoded string
	}{
		{"1XPXD49XXRD898766", 2024, vin.Agrees, "2024"},
		{"1XPXD49XXRD898766", 1994, vin.Agrees, "1994"}, // the other year of the same code is no discrepancy
		{"1XPXD49XXRD898766", 2023, vin.Conflict, "2024"},
		{"1FTFW1ET9DFC10312", 2013, vin.Agrees, "2013"},
		{"JTDBBRBE6LJ007243", 1990, vin.Conflict, "2020"}, // position 7 settles the cycle of a car
		{"ABC", 2020, vin.Unresolved, ""},
	} {
		got := d.Check([]vin.Row{{VIN: c.vin, Year: c.stated}})[0]
		f, _ := got.Check(vin.FieldYear)
		if f.Verdict != c.want || f.Decoded != c.decoded {
			t.Errorf("%s with %d is %s, %s, instead of %s, %s", c.vin, c.stated, f.Verdict, f.Decoded, c.want, c.decoded)
		}
	}
}

// The published sample VINs whose stated year or make contradicts the VIN are all found, and only those.
func TestStatedContradictionsAreFound(t *testing.T) {
	t.Parallel()
	d := decoder(t)
	conflicts := 0
	for _, a := range answers(t) {
		if a.StatedYear == 0 || a.Quality != "public-mock" {
			continue
		}
		c := d.Check([]vin.Row{{VIN: a.VIN, Year: a.StatedYear, Make: a.StatedMake}})[0]
		f, _ := c.Check(vin.FieldYear)
		// Position 10 alone decides for these vehicles: the stated year is one of its two years, or it isn't.
		possible := a.Year == a.StatedYear || a.Year == a.StatedYear+30 || a.Year == a.StatedYear-30
		if a.Year == 0 {
			continue
		}
		if possible != (f.Verdict == vin.Agrees) {
			t.Errorf("%s: stated %d, true %d, verdict %s", a.VIN, a.StatedYear, a.Year, f.Verdict)
		}
		if !possible {
			conflicts++
		}
	}
	if conflicts == 0 {
		t.Error("no contradiction among the answers")
	}
	t.Logf("%d contradictions found", conflicts)
}

func TestDuplicatesAndNearRows(t *testing.T) {
	t.Parallel()
	rows := []vin.Row{
		{Ref: "a", VIN: "1XPXD49XXRD898766"},
		{Ref: "b", VIN: "1xpxd49xxrd898766"},
		{Ref: "c", VIN: "IXPXD49XXRD898766"}, // read as the same
		{Ref: "d", VIN: "1XPXD49XXRD8987G6"}, // 6 misread as G
		{Ref: "e", VIN: "1XPXD49XXRD897866"}, // 87 swapped
		{Ref: "f", VIN: withCheckDigit(t, "1XPXD49XXRD898767")},
		{Ref: "g", VIN: "4V4NC9EH3NN315325"},
		{Ref: "h", VIN: ""},
		{Ref: "i", VIN: ""},
	}
	c := decoder(t).Check(rows)
	if !slices.Equal(c[0].Duplicates, []string{"b", "c"}) || !slices.Equal(c[2].Duplicates, []string{"a", "b"}) {
		t.Errorf("duplicates %v and %v", c[0].Duplicates, c[2].Duplicates)
	}
	near := func(i int) string {
		var refs []string
		for _, n := range c[i].Near {
			refs = append(refs, n.Ref)
		}
		slices.Sort(refs)
		return strings.Join(refs, "")
	}
	// f is the next truck off the line: its check digit is right, so it is another vehicle.
	for i, want := range map[int]string{0: "de", 3: "abc", 4: "abc", 5: "", 6: "", 7: ""} {
		if got := near(i); got != want {
			t.Errorf("row %s is near %q instead of %q", rows[i].Ref, got, want)
		}
	}
	if v := verdict(t, &c[0], vin.FieldVIN); v != vin.Unresolved {
		t.Errorf("a VIN with a near twin is %s", v)
	}
	if v := verdict(t, &c[5], vin.FieldVIN); v != vin.Agrees {
		t.Errorf("the next truck is %s", v)
	}
	for i := 7; i < 9; i++ {
		if len(c[i].Duplicates) > 0 || verdict(t, &c[i], vin.FieldVIN) != vin.Unresolved {
			t.Errorf("an empty VIN: %v", c[i].Duplicates)
		}
	}
}

// 5,000 rows in one call, all of one fleet.
func TestLargeSchedule(t *testing.T) {
	t.Parallel()
	rows := make([]vin.Row, 5000)
	for i := range rows {
		rows[i] = vin.Row{Ref: fmt.Sprint(i), VIN: withCheckDigit(t, fmt.Sprintf("1XPXD49XXRD%06d", 800_000+i)), Year: 2024, Make: "Peterbilt", Model: "389", BodyType: "Tractor", GVW: 80_000}
	}
	rows[4999].VIN = rows[0].VIN
	for i, c := range decoder(t).Check(rows) {
		if c.Worst != vin.Agrees && c.Worst != vin.Variant || len(c.Near) > 0 || (len(c.Duplicates) > 0) != (i == 0 || i == 4999) {
			t.Fatalf("row %d: %s, %v, near %v, duplicates %v", i, c.Worst, c.Checks, c.Near, c.Duplicates)
		}
	}
}

func TestJSONIsFlatWithNamesOfNHTSA(t *testing.T) {
	t.Parallel()
	d := decoder(t)
	b, err := json.Marshal(d.Check([]vin.Row{{Ref: "r1", VIN: "1XPXD49XXRD898766", Year: 2024, Make: "Pete"}})[0])
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"ref": "r1", "vin": "1XPXD49XXRD898766", "VIN": "1XPXD49XXRD898766", "Make": "PETERBILT", "Model": "389",
		"ModelYear": "2024", "ErrorCode": "0", "conclusive": false,
		"data_date": "2026-02-17", "worst": "variant", "suspicious": false, "DisplacementCC": "14900.0",
	} {
		if got := m[name]; got != want {
			t.Errorf("%s is %v instead of %v", name, got, want)
		}
	}
	provenance := m["provenance"].(map[string]any)["Model"].(map[string]any)
	if provenance["source"] != "Pattern" || provenance["key"] != "X" || !strings.Contains(fmt.Sprint(provenance["schema"]), "Peterbilt") {
		t.Errorf("provenance %v", provenance)
	}
	if c := m["candidates"].([]any); len(c) != 2 {
		t.Errorf("candidates %v", c)
	}
	if !slices.Contains(m["not_in_data_set"].([]any), any("Axles")) || m["Axles"] != nil {
		t.Errorf("axles aren't in the embedded data, and must not read as none: %v", m["Axles"])
	}
	if w := m["gvwr_lb"].(map[string]any); w["from"] != float64(33001) || w["class"] != "8" {
		t.Errorf("weight %v", w)
	}
	if _, ok := m["TrailerType"]; ok {
		t.Error("a row of thousands repeats defaults")
	}
	// The decode of one VIN has all of NHTSA's names.
	b, err = json.Marshal(d.Decode("1XPXD49XXRD898766", vin.Hint{}))
	if err != nil {
		t.Fatal(err)
	}
	full := map[string]any{}
	if err := json.Unmarshal(b, &full); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"VehicleDescriptor": "1XPXD49X*RD", "TrailerType": "Not Applicable", "Series": "", "MakeID": "495", "ManufacturerId": "1033"} {
		if full[name] != want {
			t.Errorf("%s is %v instead of %v", name, full[name], want)
		}
	}
	// What isn't decoded has the same shape.
	b, err = json.Marshal(d.Decode("<b>", vin.Hint{}))
	if err != nil || !strings.Contains(string(b), `"ErrorCode":"6,400"`) || !strings.Contains(string(b), `"Make":""`) {
		t.Errorf("%s, %v", b, err)
	}
}

// A schedule that says one VIN in every row doesn't answer with each row's list of all the others.
func TestOneVINInEveryRow(t *testing.T) {
	t.Parallel()
	rows := make([]vin.Row, 5000)
	for i := range rows {
		rows[i] = vin.Row{Ref: fmt.Sprint(i), VIN: "1XPXD49XXRD898766"}
	}
	for i, c := range decoder(t).Check(rows) {
		if len(c.Duplicates) != 20 || slices.Contains(c.Duplicates, c.Ref) {
			t.Fatalf("row %d: %v", i, c.Duplicates)
		}
	}
}

// What a service answers can be read back by the program that asked.
func TestCheckedReadsBack(t *testing.T) {
	t.Parallel()
	for i, want := range decoder(t).Check([]vin.Row{
		{Ref: "5", VIN: "1XPXD49XXRD898766", Year: 2023, Make: "Kenworth", Model: "T680", BodyType: "Tractor", GVW: 80000},
		{Ref: "6", VIN: "1XPXD49XXRD898766", Year: 2024, Make: "PETERBILT"},
		{Ref: "7", VIN: "3HSDJSJR7CN547291"},
		{Ref: "8", VIN: "ZZZ00000000000000", Make: "Nobody"},
		{Ref: "9", VIN: "no VIN"},
	}) {
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got vin.Checked
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		a, b := &want.Result, &got.Result
		if a.Year() != b.Year() || a.Make() != b.Make() || a.Model() != b.Model() || a.BodyClass() != b.BodyClass() || a.Value("GVWR") != b.Value("GVWR") {
			t.Errorf("row %d: %d %s %s %s, want %d %s %s %s", i, b.Year(), b.Make(), b.Model(), b.BodyClass(), a.Year(), a.Make(), a.Model(), a.BodyClass())
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if x, y := without(t, raw, "not_in_data_set"), without(t, again, "not_in_data_set"); x != y {
			t.Errorf("row %d:\n%s\n%s", i, x, y)
		}
	}
}

func without(t *testing.T, object []byte, name string) string {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		t.Fatal(err)
	}
	delete(all, name)
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
