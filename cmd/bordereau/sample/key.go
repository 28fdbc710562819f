package sample

import (
	"math"
	"sort"
	"time"
)

// Key is the answers: what a reconciliation must find, and the edit rates that governed SQL must come to.
type Key struct {
	Org       string     `json:"org"`
	Today     string     `json:"today"`
	Seed      uint64     `json:"seed"`
	Findings  []Planted  `json:"findings"`
	Clean     []string   `json:"clean"`     // submissions in which nothing may be found
	Received  []string   `json:"today_ids"` // submissions received today
	Injected  []string   `json:"injected"`  // submissions with instructions to a machine
	EditRates []EditRate `json:"edit_rates"`
	Accuracy  []Accuracy `json:"accuracy"` // of fields extracted in June and July
	Volumes   []Volume   `json:"volumes"`  // of submissions received in June and July
}

// Planted is one finding that must be there.
type Planted struct {
	Submission string `json:"submission_id"`
	Rule       string `json:"rule_id"`
	Entity     string `json:"entity"`
	Outcome    string `json:"outcome"`
	Class      string `json:"class"`
}

// EditRate is how many fields of one name, extracted on one day by Claims Intake, a person edited.
type EditRate struct {
	Day     string  `json:"day"`
	Field   string  `json:"field_name"`
	Fields  int     `json:"fields"`
	Edited  int     `json:"edited"`
	Percent float64 `json:"percent"` // rounded to two places
}

func key(org *Org, today time.Time, seed uint64) Key {
	k := Key{Org: org.ID, Today: today.Format(time.DateOnly), Seed: seed, Findings: []Planted{}, Clean: []string{}, Received: []string{}, Injected: []string{}, EditRates: []EditRate{}}
	from, to := Summer(today)
	type cell struct{ day, field string }
	rates := map[cell]*EditRate{}
	for _, s := range org.Submissions {
		k.Findings = append(k.Findings, s.Planted...)
		if len(s.Planted) == 0 {
			k.Clean = append(k.Clean, s.ID)
		}
		if !s.Received.Before(today) {
			k.Received = append(k.Received, s.ID)
		}
		if s.Injected {
			k.Injected = append(k.Injected, s.ID)
		}
		if s.Workflow != "Claims Intake" {
			continue
		}
		for _, f := range s.Documents {
			for _, spot := range f.Spots {
				if spot.At.Before(from) || !spot.At.Before(to.AddDate(0, 0, 1)) {
					continue
				}
				c := cell{spot.At.Format(time.DateOnly), spot.Field}
				r := rates[c]
				if r == nil {
					r = &EditRate{Day: c.day, Field: c.field}
					rates[c] = r
				}
				r.Fields++
				for _, e := range spot.Edits {
					if e.Source == "human" {
						r.Edited++
						break
					}
				}
			}
		}
	}
	for _, r := range rates {
		r.Percent = math.Round(float64(r.Edited)*10000/float64(r.Fields)) / 100
		k.EditRates = append(k.EditRates, *r)
	}
	sort.Slice(k.EditRates, func(i, j int) bool {
		a, b := k.EditRates[i], k.EditRates[j]
		return a.Day < b.Day || a.Day == b.Day && a.Field < b.Field
	})
	k.Accuracy, k.Volumes = accuracy(org, from, to.AddDate(0, 0, 1)), volumes(org, from, to.AddDate(0, 0, 1))
	return k
}

// planned is what one submission gets.
type planned struct {
	carrier string
	plants  []plant
	inject  bool
}

// plan spreads the plants: three of five submissions are spoilt, and every carrier meets every plant before one comes again.
// Those of today take the plants from the start, so that a day's report shows many kinds.
func plan(n int) []planned {
	var all []plant
	for _, list := range [][]plant{companyPlants(), fleetPlants(), driverPlants(), lossPlants(), operationPlants()} {
		all = append(all, list...)
	}
	carriers := []string{"alder", "birch", "cedar"}
	next := map[string]int{"alder": 0, "birch": len(all) / 3, "cedar": 2 * len(all) / 3}
	// Strides that share no factor with the number of plants reach each of them, in a mixed order.
	stride := 29
	for gcd(stride, len(all)) != 1 {
		stride++
	}
	out := make([]planned, n)
	for i := n - 1; i >= 0; i-- {
		c := carriers[i/3%3]
		out[i] = planned{carrier: c, inject: i%11 == 5}
		if (n-1-i)%5 >= 3 {
			continue
		}
		groups := map[string]bool{}
		want := 1 + (n-1-i)%3
		for len(out[i].plants) < want {
			p := all[next[c]*stride%len(all)]
			if len(out[i].plants) > 0 && (p.group == "alone" || groups["alone"] || groups[p.group]) {
				break
			}
			groups[p.group] = true
			out[i].plants = append(out[i].plants, p)
			next[c]++
		}
	}
	return out
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
