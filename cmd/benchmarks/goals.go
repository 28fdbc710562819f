package main

import "fmt"

// goal is a figure to reach and the benchmark that measures it.
type goal struct {
	what, reach string
	by          string // the benchmark
	unit        string // its figure; with over, the ratio of both benchmarks' figures
	over        string // the peer
}

// goals are the figures that the design asks for, as far as a benchmark measures them.
var goals = []goal{
	{"100,000-row workbook against excelize's stream writer alone", "<= 1.2x", "Workbook100k", "ns/op", "StreamWriter100k"},
}

func (g goal) measure(results []result) string {
	find := func(name string) (float64, bool) {
		for _, r := range results {
			if v, ok := r.figures[g.unit]; ok && r.name == name {
				return v, true
			}
		}
		return 0, false
	}
	v, ok := find(g.by)
	if !ok {
		return "not measured in this run"
	}
	if g.over == "" {
		return figure(v, g.unit)
	}
	peer, ok := find(g.over)
	if !ok || peer == 0 {
		return figure(v, g.unit) + " (peer not measured)"
	}
	return fmt.Sprintf("%.2fx (%s against %s)", v/peer, figure(v, g.unit), figure(peer, g.unit))
}
