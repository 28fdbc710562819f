package main

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var tableLine = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$`)

// earlier reads the table of all benchmarks in a page that was written before.
func earlier(page []byte) []result {
	_, table, _ := strings.Cut(string(page), "\n## All benchmarks\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var all []result
	for _, m := range tableLine.FindAllStringSubmatch(table, -1) {
		r := result{pkg: m[1], name: m[2], figures: map[string]float64{}}
		for text := range strings.SplitSeq(m[3], ", ") {
			number, unit, _ := strings.Cut(text, " ")
			v, err := strconv.ParseFloat(number, 64)
			if err != nil {
				continue
			}
			// As figure wrote the time of an operation.
			switch unit {
			case "s/op":
				v, unit = v*1e9, "ns/op"
			case "ms/op":
				v, unit = v*1e6, "ns/op"
			case "µs/op":
				v, unit = v*1e3, "ns/op"
			}
			r.figures[unit] = v
		}
		if len(r.figures) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// with adds those earlier results that were not measured anew.
func with(measured, earlier []result) []result {
	for _, old := range earlier {
		if !slices.ContainsFunc(measured, func(r result) bool { return r.pkg == old.pkg && r.name == old.name }) {
			measured = append(measured, old)
		}
	}
	slices.SortStableFunc(measured, func(a, b result) int { return cmp.Compare(a.pkg, b.pkg) })
	return measured
}
