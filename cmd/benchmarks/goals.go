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
	{"request accepted to model request on the wire, warm", "p50 <= 10 ms", "AcceptedToRequest", "request-p50-ms", ""},
	{"upstream byte to reader", "p50 <= 1 ms", "ModelToReader", "event-p50-ms", ""},
	{"1,000 turns streaming at once: added latency", "p99 <= 100 ms", "ThousandTurns", "event-p99-ms", ""},
	{"1,000 turns streaming at once: memory", "<= 256 KiB a turn", "ThousandTurns", "KiB/turn", ""},
	{"10,000 events replayed, in process", "<= 10 ms", "MemoryReplay10000", "ns/op", ""},
	{"10,000 events replayed, Redis", "<= 10 ms", "Replay10000", "ns/op", ""},
	{"events appended in batches of eight, Redis", ">= 50,000/s", "AppendEight", "events/s", ""},
	{"governed SQL against raw DuckDB, 10M-row edit-rate question", "<= 1.10x", "EditRate10M", "ratio", ""},
	{"governed point look-up, warm worker", "p50 <= 5 ms", "PointLookup", "p50-ms", ""},
	{"1,000 edits into an organisation of 10M fields visible", "<= 2 s", "EditsInALargeOrganisation", "s/1000edits", ""},
	{"scans after those edits, against the compact file", "<= 1.2x", "EditsInALargeOrganisation", "scan/compact", ""},
	{"scans after as many edits as a log takes before it is folded", "<= 1.2x", "EditsInALargeOrganisation", "scan-full-log/compact", ""},
	{"200 organisations asked one after another: what their warm workers hold", "<= 2048 MiB", "TwoHundredOrganisations", "MiB", ""},
	{"rows of sixteen types written as Arrow", "", "Arrow", "rows/s", ""},
	{"VIN decode on one core, unique VINs", ">= 50,000/s", "Decode", "vins/s-of-cpu", ""},
	{"10,000 submissions with 30 vehicles each reconciled", "<= 60 s", "TenThousandSubmissions", "ns/op", ""},
	{"the same read from the database, evaluated and stored: time", "<= 60 s", "TenThousandStored", "ns/op", ""},
	{"the same: memory of the process that reconciles", "<= 1024 MiB", "TenThousandStored", "MiB-rss", ""},
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
