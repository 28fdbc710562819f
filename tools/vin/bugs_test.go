package vin_test

import (
	"strings"
	"testing"

	"bordereau/tools/vin"
)

// withCheckDigit puts the right check digit into a VIN.
func withCheckDigit(t *testing.T, v string) string {
	t.Helper()
	c := vin.CheckDigit(v)
	if c == 0 {
		t.Fatalf("%s has no check digit", v)
	}
	return v[:8] + string(c) + v[9:]
}

// Each case is a bug that was reported against another decoder.
func TestPublicBugs(t *testing.T) {
	t.Parallel()
	d := decoder(t)
	cases := []struct {
		bug, vin    string
		year        int
		make, model string
		code        string // "" is not compared
		notCode     string
	}{
		{bug: "corgi#35: an IC bus of 2016 became 1986 without patterns", vin: "4DRBUC8N0GB123456", year: 2016, make: "IC BUS"},
		{bug: "corgi#16, #17: years before 2010", vin: "1XP5DB9X46D885311", year: 2006, make: "PETERBILT", model: "379", code: "0"},
		{bug: "corgi#17: fire apparatus", vin: "4EN6AAA80P1005091", year: 2023, make: "E-ONE"},
		{bug: "corgi#17: fire apparatus", vin: "4P1BAAGF0RA026408", year: 2024, make: "PIERCE MANUFACTURING"},
		{bug: "corgi#22: an F-150 became an F-550", vin: "1FTFW5L86RFB45612", year: 2024, make: "FORD", model: "F-150"},
		{bug: "corgi#32: an F-150 became an F-450", vin: "1FTFW4L86RFA86622", year: 2024, make: "FORD", model: "F-150"},
		{bug: "corgi#14: 0 at position 10 blocked the decode", vin: "1FTMW1T880FA00001", year: 0, make: "FORD", code: "1,11,400"},
		{bug: "corgi#26, #29, SwiftyVIN#7, vininfo#19: no check digit in Europe", vin: "WVWZZZ1KZAW000001", year: 2010, make: "VOLKSWAGEN"},
		{bug: "corgi#33, vehicle_signal_specification#944: codes of 6 characters", vin: "1N9BL1714RW414011", year: 2024, make: "NORTH STAR LOGISTICS"},
		{bug: "corgi#33: plant patterns were matched without the rest", vin: "1XKYDP9XXFJ440749", year: 2015, make: "KENWORTH", model: "T680", code: "0"},
		{bug: "libvin#24: a heavy truck of 2009 became 2039", vin: "1M1AW02Y39N008115", year: 2009, make: "MACK", code: "0"},
		{bug: "vininfo#9: 2021 became 2001 or 1991", vin: "1FTMW1T88MFA00001", year: 2021, make: "FORD", model: "F-150", code: "0"},
		{bug: "corgi: a trailer of 2018 became a FRP Drop Frame of 1988", vin: "1JJV532D9JL178490", year: 2018, make: "WABASH VANS", model: "Dry Van Duraplate", code: "0"},
		{bug: "pyvin#8, #9: a wrong check digit gave an empty list", vin: "1FBNE3BE1CDB23596", year: 2012, make: "FORD", code: "1,3,14"},
		{bug: "vindetta#1, vin-decoder#6: lower case", vin: "1xpxd49xxrd898766", year: 2024, make: "PETERBILT", model: "389", code: "0"},
		{bug: "vin-decoder-dart#7: manufacturers told by two characters", vin: "JH4DC54873S000001", make: "ACURA", year: 2003},
		{bug: "j1939-84#964: a remainder of 10 is X, not 1", vin: "1XPXD49XXRD898766", year: 2024, make: "PETERBILT", notCode: "1"},
		{bug: "spVinDecode: the malformed class [1-A-JT] of 7T0 stopped the procedure", vin: withCheckDigit(t, "7T0ABCDE0RA000001"), year: 2024},
	}
	for _, c := range cases {
		r := d.Decode(c.vin, vin.Hint{})
		if r.Year() != c.year || c.make != "" && r.Make() != c.make || c.model != "" && r.Model() != c.model {
			t.Errorf("%s: %s is %d %s %s, code %s", c.bug, c.vin, r.Year(), r.Make(), r.Model(), r.ErrorCode())
		}
		if c.code != "" && r.ErrorCode() != c.code {
			t.Errorf("%s: %s has code %s instead of %s", c.bug, c.vin, r.ErrorCode(), c.code)
		}
		if c.notCode != "" && strings.Contains(","+r.ErrorCode()+",", ","+c.notCode+",") {
			t.Errorf("%s: %s has code %s", c.bug, c.vin, r.ErrorCode())
		}
	}
}

// libvin#21: seventeen ones pass the check digit.
func TestOneCharacterRepeatedIsNoVIN(t *testing.T) {
	t.Parallel()
	d := decoder(t)
	for _, c := range "10Z" {
		r := d.Decode(strings.Repeat(string(c), 17), vin.Hint{})
		if r.Clean() || r.Decoded() || r.Make() != "" || len(r.Notes) == 0 {
			t.Errorf("%c repeated: codes %v, make %s", c, r.Codes, r.Make())
		}
	}
}

// j1939-84#564: an invalid VIN was then reported as a mismatch of years.
func TestInvalidVINIsNoYearMismatch(t *testing.T) {
	t.Parallel()
	c := decoder(t).Check([]vin.Row{{VIN: "ABC", Year: 2020}, {VIN: "1XPXD49XX0D898766", Year: 2020}})
	for _, row := range c {
		if f, ok := row.Check(vin.FieldYear); !ok || f.Verdict != vin.Unresolved {
			t.Errorf("%s: %+v", row.VIN, f)
		}
	}
}

// faker#540: generated VINs held I, O and Q. The letters are legal nowhere; a schedule reads them as 1 and 0.
func TestLettersThatNoVINHolds(t *testing.T) {
	t.Parallel()
	d := decoder(t)
	r := d.Decode("IXPXD49XXRD898766", vin.Hint{})
	if !strings.Contains(r.ErrorCode(), "400") {
		t.Errorf("code %s", r.ErrorCode())
	}
	c := d.Check([]vin.Row{{VIN: "IXPXD49XXRD898766"}, {VIN: "1NKDX4TX8JJ22339Q"}})
	f, _ := c[0].Check(vin.FieldVIN)
	if f.Verdict != vin.Variant || c[0].Result.Model() != "389" {
		t.Errorf("%+v, %s", f, c[0].Result.Model())
	}
}

// Decoders call 12345678901234567 a Sherman + Reilly trailer; NHTSA does too, with codes that say how little that means.
func TestMakeAloneIsNoDecode(t *testing.T) {
	t.Parallel()
	r := decoder(t).Decode("12345678901234567", vin.Hint{})
	if r.Decoded() || r.ErrorCode() != "1,11,14,400" {
		t.Errorf("decoded %v, code %s", r.Decoded(), r.ErrorCode())
	}
}

func TestBadInputGetsACodeAndASentence(t *testing.T) {
	t.Parallel()
	d := decoder(t)
	for _, c := range []struct{ name, input, code, note string }{
		{"empty", "", "6", "no VIN"},
		{"blank", " \t\n", "6", "no VIN"},
		{"5,000 characters", strings.Repeat("1XPXD49XXRD898766", 295)[:5000], "6,400", "5000 bytes"},
		{"18 characters", "1XPXD49XXRD8987660", "400", "18 characters"},
		{"Cyrillic", "1ХPXD49XXRD898766", "400", "only looks like X"},
		{"full width", "1\uff38PXD49XXRD898766", "400", "only looks like X"},
		{"HTML", "<html><body>503</body></html>", "400", "'<'"},
		{"phone number", "(555) 123-4567", "6,400", "'('"},
		{"phone number with dashes", "555-123-4567", "6", "digits and nothing else"},
		{"a word", "SEEATTACHED", "6,7,400", "isn't formed like a VIN"},
		{"not a word", "N/A", "6,400", "'/'"},
		{"NUL", "1XPXD49XXRD89876\x00", "400", "U+0000"},
		{"broken UTF-8", "1XPXD49XXRD89876\xff", "400", "no readable character"},
		{"formula", "=HYPERLINK(1)", "6,400", "'='"},
	} {
		r := d.Decode(c.input, vin.Hint{})
		if r.ErrorCode() != c.code || r.Make() != "" || r.Year() != 0 || len(r.Notes) == 0 || !strings.Contains(r.Notes[0], c.note) {
			t.Errorf("%s: code %s, %d %s, notes %q", c.name, r.ErrorCode(), r.Year(), r.Make(), r.Notes)
		}
		if r.ErrorText() == "" {
			t.Errorf("%s: no text", c.name)
		}
	}
	for _, input := range []string{"1xpxd49xxrd898766", " 1XPXD49XXRD898766 ", "1XP-XD49XX-RD-898766", "1XPX D49X XRD8 9876 6", "1XPXD49XXRD898766\u00a0"} {
		if r := d.Decode(input, vin.Hint{}); !r.Clean() || r.Model() != "389" {
			t.Errorf("%q: code %s, model %s", input, r.ErrorCode(), r.Model())
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"1XPXD49XXRD898766", "5UXWX7C5*BA", "", "1N9BL1714RW414011", "<p>", "1ХPXD", "*****************", "7T0ABCDE0RA000001"} {
		f.Add(s, 2020)
	}
	d := decoder(f)
	f.Fuzz(func(t *testing.T, s string, year int) {
		r := d.Decode(s, vin.Hint{Year: year})
		if len(r.Codes) == 0 {
			t.Errorf("%q has no code", s)
		}
		if _, err := r.MarshalJSON(); err != nil {
			t.Errorf("%q: %v", s, err)
		}
		if len(r.SuggestedVIN) > 17 {
			t.Errorf("%q: suggested %q", s, r.SuggestedVIN)
		}
		d.Check([]vin.Row{{VIN: s, Year: year, Make: s, Model: s, BodyType: s, GVW: year}, {VIN: s}})
	})
}
