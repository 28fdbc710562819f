package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEarlierFiguresStay writes a page, measures one benchmark anew, and finds the others as they were.
func TestEarlierFiguresStay(t *testing.T) {
	t.Parallel()
	first := []result{
		{"agent/stream", "Replay10000", map[string]float64{"ns/op": 5_660_000, "allocs/op": 37356}},
		{"reports/excel", "Workbook100k", map[string]float64{"ns/op": 3.92e9}},
		{"reports/excel", "StreamWriter100k", map[string]float64{"ns/op": 3.58e9}},
		{"tools/vin", "Decode", map[string]float64{"ns/op": 9160, "vins/s-of-cpu": 104960, "B/op": 12}},
	}
	before := append(page(first), "\n## Sandboxes\n\n| a | b | 1 ms/op |\n"...)
	if diff := cmp.Diff(first, earlier(before), cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("read back (-wrote +read):\n%s", diff)
	}
	anew := []result{{"tools/vin", "Decode", map[string]float64{"ns/op": 8000}}, {"cmd/x", "New", map[string]float64{"ns/op": 3}}}
	text := string(page(with(anew, earlier(before))))
	for _, want := range []string{"| cmd/x | New | 3 ns/op |", "| tools/vin | Decode | 8 µs/op |", "1.09x (3.92 s/op against 3.58 s/op)", "| agent/stream | Replay10000 | 37356 allocs/op, 5.66 ms/op |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "104960") {
		t.Error("a figure that was measured anew stands there still")
	}
}
