package vin

import (
	"testing"

	"bordereau/tools/vin/vpic"
)

// The results are those of recorded answers of NHTSA's service.
func TestConversionsAsNHTSAComputes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x, factor string
		divide    bool
		want      string
	}{
		{"3", "0.016387064", true, "183.0712322841"},
		{"3", "1000", false, "3000"},
		{"1.6", "0.016387064", true, "97.63799055157"},
		{"1.6", "1000", false, "1600.0"},
		{"2.0", "0.016387064", true, "122.04748818946"},
		{"2.0", "1000", false, "2000.0"},
		{"212", "16.387064", false, "3474.057568"},
		{"212", "0.016387064", false, "3.474057568"},
	} {
		got, ok := calculate(c.x, vpic.Conversion{Factor: c.factor, Divide: c.divide})
		if !ok || got != c.want {
			t.Errorf("%s with %s (divide %v) is %s, %v instead of %s", c.x, c.factor, c.divide, got, ok, c.want)
		}
	}
	for _, x := range []string{"", "x", "1e9", "0x10", "1/3", "123456789012345678901"} {
		if got, ok := calculate(x, vpic.Conversion{Factor: "1000"}); ok {
			t.Errorf("%q became %s", x, got)
		}
	}
}
