package pdf

import (
	"slices"
	"strings"
	"testing"
)

// TestRightToLeft holds lines with names from right to left against their order on paper. Letters are compared in their plain forms.
func TestRightToLeft(t *testing.T) {
	t.Parallel()
	back := func(s string) string {
		r := []rune(s)
		slices.Reverse(r)
		return string(r)
	}
	const one, two = "\u05D0\u05D1\u05D2", "\u05D3\u05D4" // Hebrew letters, which have one form
	for line, want := range map[string]string{
		"Plain Freight LLC":             "Plain Freight LLC",
		one + " " + two:                 back(one + " " + two),
		"driver " + one + " is young":   "driver " + back(one) + " is young",
		one + " are both licensed":      back(one) + " are both licensed", // a line that goes on from the one before it
		one + " (" + two + ") LLC":      "(" + back(two) + ") " + back(one) + " LLC",
		one + " 1,250.50 " + two:        back(two) + " 1,250.50 " + back(one),
		"(" + one + ") LLC":             "(" + back(one) + ") LLC",
		one + " 2019 LLC":               "2019 " + back(one) + " LLC",
		one + " 2019 " + two + " LLC":   back(two) + " 2019 " + back(one) + " LLC",
		"S-0004 " + one + " " + two:     "S-0004 " + back(one+" "+two),
		"unit 7 of " + one + ", unit 8": "unit 7 of " + back(one) + ", unit 8",
	} {
		if got := visual(line); got != want {
			t.Errorf("%q stands as %q, want %q", line, got, want)
		}
	}
	if got := visual("\u0645\u062D\u0645\u062F"); strings.ContainsFunc(got, func(r rune) bool { return r < 0xFE80 }) {
		t.Errorf("letters that aren't joined in %q", got)
	}
}
