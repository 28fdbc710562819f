package vin_test

import (
	"strings"
	"testing"

	"bordereau/tools/vin"
)

// knownWrong are the answers that this decoder can't or shouldn't give, by VIN and field, with the reason.
func knownWrong() map[string]string {
	return map[string]string{
		"4ENGAAA81R1003437 year": "an E-ONE of 1994; NHTSA itself says 2024, since both years decode clean: 1994 is given as the other candidate",
		"3H3V532C6PT246813 year": "an invented serial: the maker's scheme for 2023 has no plant T, the one to 2020 has, so 1993 has fewer errors; 2023 is given as the other candidate",
		"JN1BJ1AW5PW109661 make": "no pattern of JN1 in 2023 is in the data, and Nissan and Infiniti share the code",
		"1FADP3E4XPL000001 all":  "an invented VIN: Ford sold no Focus in the USA in 2023",
		"1FADP3JE0PG000001 all":  "an invented VIN: Ford sold no Focus in the USA in 2023",
	}
}

// bodyWording brings the older wording of recorded answers to the one in the data.
func bodyWording(s string) string {
	return strings.NewReplacer("(SUV)", "[SUV]", "(MPV)", "[MPV]", "Multi-Purpose", "Multipurpose").Replace(s)
}

func TestRecordedAnswersOfNHTSA(t *testing.T) {
	t.Parallel()
	d := decoder(t)
	n := 0
	for _, a := range answers(t) {
		if a.Quality != "api" {
			continue
		}
		n++
		r := d.Decode(a.VIN, vin.Hint{})
		compare := func(field, got, want string) {
			if got != want {
				t.Errorf("%s: %s is %q, NHTSA said %q", a.VIN, field, got, want)
			}
		}
		compare("make", r.Make(), a.Make)
		compare("model", r.Model(), a.Model)
		compare("body class", r.BodyClass(), bodyWording(a.BodyClass))
		if a.GVWR != "" { // "" where the record was cut
			compare("weight class", r.Value("GVWR"), a.GVWR)
		}
		if r.Year() != a.Year {
			t.Errorf("%s: year is %d, NHTSA said %d", a.VIN, r.Year(), a.Year)
		}
		// The one answer without a code in the record is a documentation example.
		if a.ErrorCode != "" {
			compare("error code", r.ErrorCode(), a.ErrorCode)
		}
	}
	if n != 24 {
		t.Errorf("%d recorded answers instead of 24", n)
	}
}

func TestMakeAndYearOfAllAnswers(t *testing.T) {
	t.Parallel()
	d := decoder(t)
	known := knownWrong()
	makes, years := 0, 0
	for _, a := range answers(t) {
		r := d.Decode(a.VIN, vin.Hint{})
		if a.Make == "" || strings.EqualFold(r.Make(), a.Make) {
			makes++
		} else if known[a.VIN+" make"] == "" {
			t.Errorf("%s (%s): make is %q instead of %q", a.VIN, a.Quality, r.Make(), a.Make)
		}
		switch {
		case a.Year == 0 || r.Year() == a.Year:
			years++
		case known[a.VIN+" year"] == "":
			t.Errorf("%s (%s): year is %d instead of %d", a.VIN, a.Quality, r.Year(), a.Year)
		case !hasCandidate(&r, a.Year):
			t.Errorf("%s: the true year %d is no candidate", a.VIN, a.Year)
		}
		if a.Quality == "vpic-derived" && known[a.VIN+" all"] == "" {
			if r.Model() != a.Model || a.BodyClass != "" && r.BodyClass() != bodyWording(a.BodyClass) {
				t.Errorf("%s: %s, %s instead of %s, %s", a.VIN, r.Model(), r.BodyClass(), a.Model, a.BodyClass)
			}
		}
	}
	t.Logf("make %d of 293, year %d of 293", makes, years)
	if makes < 292 || years < 291 {
		t.Errorf("make %d and year %d of 293 are right", makes, years)
	}
}

func hasCandidate(r *vin.Result, year int) bool {
	for _, c := range r.Candidates {
		if c.Year == year {
			return true
		}
	}
	return false
}

// A stated year settles which of the two candidate years is meant.
func TestStatedYearIsTheHint(t *testing.T) {
	t.Parallel()
	d := decoder(t)
	for _, c := range []struct {
		vin  string
		year int
	}{{"4ENGAAA81R1003437", 1994}, {"4ENGAAA81R1003437", 2024}, {"3H3V532C6PT246813", 2023}, {"4P1BAAGF0RA026408", 1994}} {
		r := d.Decode(c.vin, vin.Hint{Year: c.year})
		if r.Year() != c.year {
			t.Errorf("%s with %d stated decodes as %d", c.vin, c.year, r.Year())
		}
	}
	// A year that the VIN can't have is decoded as asked, with NHTSA's warning.
	r := d.Decode("1XPXD49XXRD898766", vin.Hint{Year: 2019})
	if r.Year() != 2019 || !strings.Contains(","+r.ErrorCode()+",", ",12,") {
		t.Errorf("year %d, code %s", r.Year(), r.ErrorCode())
	}
	// Years that no vehicle has are no hint.
	for _, year := range []int{-5, 3, 1979, 2029, 99999} {
		if r := d.Decode("1XPXD49XXRD898766", vin.Hint{Year: year}); r.Year() != 2024 || r.ErrorCode() != "0" {
			t.Errorf("hint %d: year %d, code %s", year, r.Year(), r.ErrorCode())
		}
	}
}

// Clean VINs with a right check digit get no position error and aren't called suspicious.
func TestNoFalsePositionErrors(t *testing.T) {
	t.Parallel()
	d := decoder(t)
	for _, a := range answers(t) {
		switch a.Quality {
		case "public-mock", "fixture", "issue", "disagreement":
			continue // serial numbers are invented, or the error is the point
		}
		r := d.Decode(a.VIN, vin.Hint{})
		for _, c := range r.Codes {
			if c >= 2 && c <= 5 {
				t.Errorf("%s (%s): code %d, %s", a.VIN, a.Quality, c, r.PossibleValues)
			}
		}
		if r.Suspicious {
			t.Errorf("%s (%s) is called suspicious", a.VIN, a.Quality)
		}
	}
}

// Great Dane's scheme since 2018 begins with a digit: these published sample VINs are inventions.
func TestInventedTrailersAreSuspicious(t *testing.T) {
	t.Parallel()
	d := decoder(t)
	n := 0
	for _, a := range answers(t) {
		if !strings.HasPrefix(a.VIN, "1GRAA062") || a.StatedYear < 2018 {
			continue
		}
		n++
		c := d.Check([]vin.Row{{VIN: a.VIN, Year: a.StatedYear}})[0]
		if !c.Suspicious || c.Why == "" {
			t.Errorf("%s for %d isn't suspicious: %v", a.VIN, a.StatedYear, c.Result.Codes)
		}
	}
	if n == 0 {
		t.Error("no such VIN among the answers")
	}
}
