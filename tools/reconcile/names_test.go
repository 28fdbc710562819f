package reconcile

import (
	"testing"
	"time"

	"bordereau/tools/guideline"
)

func TestLikeness(t *testing.T) {
	t.Parallel()
	const same, variant, conflict, untold = guideline.Consistent, guideline.BenignVariant, guideline.Conflict, ""
	for _, c := range []struct {
		how        string
		like       func(a, b string) likeness
		a, b, want string
	}{
		{"company", companies, "Amber Run Freight LLC", "Amber Run Freight LLC", same},
		{"company", companies, "Amber Run Freight LLC", "AMBER RUN FREIGHT, L.L.C.", variant},
		{"company", companies, "Amber Run Freight LLC", "Amber Run Freight Limited Liability Company", variant},
		{"company", companies, "Amber Run Freight, Inc.", "Amber Run Freight Incorporated", variant},
		{"company", companies, "Amber & Run Freight", "Amber and Run Freight", variant},
		{"company", companies, "Amber Run Freight", "Amber Run Freight LLC", variant},
		{"company", companies, "Amber Run Freight LLC", "Amber Run Freight Inc", conflict},
		{"company", companies, "Amber Run Freight LLC", "Amber Bun Freight LLC", untold},
		{"company", companies, "Amber Run Freight LLC", "Amber Run Logistics LLC", conflict},
		{"address", addresses, "12 Depot Street, Dallas, TX 75201", "12 DEPOT ST DALLAS TX 75201-1234", variant},
		{"address", addresses, "12 N Depot St, Dallas, TX 75201", "12 North Depot Street, Dallas TX 75201", variant},
		{"address", addresses, "12 N Depot St, Dallas, TX 75201", "12 Depot St, Dallas, TX 75201", conflict},
		{"address", addresses, "12 N Depot St, Dallas, TX 75201", "12 S Depot St, Dallas, TX 75201", conflict},
		{"address", addresses, "12 Depot St, Dallas, TX 75201", "12 Depot Ave, Dallas, TX 75201", conflict},
		{"person", people, "Wren Oakhanger", "OAKHANGER, WREN", variant},
		{"person", people, "Wren A. Oakhanger", "Wren Oakhanger", variant},
		{"person", people, "Wren A. Oakhanger", "Wren Alder Oakhanger", variant},
		{"person", people, "Wren A. Oakhanger", "Wren B. Oakhanger", conflict},
		{"person", people, "Wren Oakhanger Jr.", "Wren Oakhanger", variant},
		{"date", dates, "2026-12-01", "12/01/2026", variant},
		{"date", dates, "2026-12-01", "12/10/2026", conflict},
		{"date", dates, "2026-12-01", "soon", untold},
		{"limit", limits, "$1,000,000", "1000000", variant},
		{"limit", limits, "1,000,000", "750,000", conflict},
		{"limit", limits, "1,000,000", "as expiring", untold},
		{"symbol", symbols, "7, 8, 9", "9 8 7", variant},
		{"symbol", symbols, "7", "1", conflict},
		{"number", digitsOf("FEIN"), "12-3456789", "123456789", variant},
		{"number", digitsOf("MC number"), "MC-123456", "123457", conflict},
	} {
		if got := c.like(c.a, c.b); got.class != c.want {
			t.Errorf("%s %q, %q: %q (%s), not %q", c.how, c.a, c.b, got.class, got.why, c.want)
		}
		if got, back := c.like(c.a, c.b), c.like(c.b, c.a); got.class != back.class {
			t.Errorf("%s %q, %q: not the same both ways", c.how, c.a, c.b)
		}
		if got := c.like(c.a, c.b); got.class != same && got.why == "" {
			t.Errorf("%s %q, %q: no reason", c.how, c.a, c.b)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]float64{"1,000,000": 1e6, "$45,000.50": 45000.5, "80,000 lbs": 80000, "60%": 60, "$1M": 1e6, "thirteen (13)": 13, "twelve": 12, "(200)": -200, "2.5 years": 2.5} {
		if got, err := parseNumber(s); err != nil || got != want {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "twelve (13)", "n/a", "10-12", "1.2.3", "abc 5"} {
		if got, err := parseNumber(s); err == nil {
			t.Errorf("%q is read as %v", s, got)
		}
	}
}

func TestMaskedKeepsTheEnd(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"fein", "12-3456789", "**-***6789"}, {"license_number", "TX 1234 5678", "** **** 5678"}, {"date_of_birth", "03/04/1984", "1984-**-**"}, {"date_of_birth", "unreadable", "****"}, {"vin", "1XP", "1XP"}, {"ssn", "123-45-6789", "***-**-6789"}} {
		if got := masked(c[0], c[1]); got != c[2] {
			t.Errorf("%s %q: %q, not %q", c[0], c[1], got, c[2])
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	g := newGeography()
	if len(g.borders) != 51 {
		t.Errorf("%d states", len(g.borders))
	}
	for s, list := range g.borders {
		for _, n := range list {
			if g.hops(n, s) != 1 {
				t.Errorf("%s borders %s, but not the reverse", s, n)
			}
		}
	}
	if g.hops("TX", "GA") != 4 && g.hops("TX", "GA") != 3 {
		t.Error(g.hops("TX", "GA"))
	}
	if g.hops("TX", "HI") != -1 {
		t.Error("there is a road to Hawaii")
	}
	if n, ok := g.miles("Dallas", "TX", "fort worth", "tx"); !ok || n < 25 || n > 40 {
		t.Error(n, ok)
	}
	if _, ok := g.miles("Dallas", "TX", "Nowhere", "TX"); ok {
		t.Error("the distance to Nowhere is known")
	}
}

// TestRecencyAloneChangesNothing: a later document supersedes only when its own text says so.
func TestRecencyAloneChangesNothing(t *testing.T) {
	t.Parallel()
	early := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	build := func(change string, late time.Time) comparison {
		p := &Packet{ID: "S", Documents: []Document{
			{ID: "D-1", Type: application, Filename: "application.pdf", Received: early, Fields: []Field{{ID: "F-1", Name: "csl_limit", Value: "750000", Confidence: 0.9}}},
			{ID: "D-2", Type: brokerEmail, Filename: "mail.eml", Received: late, Fields: []Field{{ID: "F-2", Name: "csl_limit", Value: "1000000", Confidence: 0.8}}},
		}}
		if change != "" {
			p.Documents[1].Fields = append(p.Documents[1].Fields, Field{ID: "F-3", Name: "declared_change", Value: change, Confidence: 0.9})
		}
		x := index(p)
		return x.compare("csl_limit", x.all("csl_limit", application, brokerEmail), limits)
	}
	for _, c := range []struct {
		change string
		late   time.Time
		want   string
	}{
		{"", early.AddDate(0, 0, 5), guideline.Conflict},
		{"Please change the CSL limit to 1000000.", early.AddDate(0, 0, 5), guideline.Supersession},
		{"Please change the CSL limit to 2000000.", early.AddDate(0, 0, 5), guideline.Conflict},
		{"Please change the garaging address.", early.AddDate(0, 0, 5), guideline.Conflict},
		{"Please change the CSL limit to 1000000.", early, guideline.Conflict},
	} {
		if got := build(c.change, c.late); got.class != c.want {
			t.Errorf("%q at %s: %s, not %s", c.change, c.late, got.class, c.want)
		}
	}
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{"1,000", "twelve (13)", "12/01/2026", "Müller & Söhne, L.L.C.", "(", "{", "P.O. Box 1", "\x00"} {
		f.Add(s, "x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		_, _ = parseNumber(a)
		_, _ = parseDate(a)
		_ = vehicleType(a)
		for _, like := range []func(a, b string) likeness{companies, addresses, people, dates, limits, symbols, digitsOf("x")} {
			if like(a, b).class != like(b, a).class {
				t.Errorf("%q, %q: not the same both ways", a, b)
			}
			if like(a, a).class != guideline.Consistent {
				t.Errorf("%q differs from itself", a)
			}
		}
	})
}
