// Package sample invents organisations to try Bordereau on: submissions with real document files, human edits, planted discrepancies and the answer key.
package sample

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"bordereau/tools/reconcile"
)

// Config says what to invent. The same configuration gives the same bytes.
type Config struct {
	Today   time.Time // the UTC day on which the newest submissions arrive
	Seed    uint64
	Decoder reconcile.Decoder // proves that every invented VIN decodes to what is stated
}

// Org is one invented organisation.
type Org struct {
	ID          string
	Name        string
	Submissions []*Submission
	Key         Key
}

// Orgs lists the ids of the organisations; the first is the main one.
func Orgs() []string { return []string{"northgate", "southfield", "eastbank"} }

// size of each organisation: how many submissions, and how many of them today.
var sizes = map[string][2]int{"northgate": {324, 25}, "southfield": {40, 4}, "eastbank": {30, 3}}

// Generate invents one organisation in memory.
func Generate(ctx context.Context, cfg Config, id string) (*Org, error) {
	size, known := sizes[id]
	if !known {
		return nil, fmt.Errorf("sample: no organisation %q; there are %v", id, Orgs())
	}
	if cfg.Decoder == nil || cfg.Today.IsZero() {
		return nil, errors.New("sample: a day and a decoder are needed")
	}
	today := time.Date(cfg.Today.Year(), cfg.Today.Month(), cfg.Today.Day(), 0, 0, 0, 0, time.UTC)
	org := &Org{ID: id, Name: orgNames[id], Submissions: make([]*Submission, size[0])}
	arrivals := arrivals(today, size[0], size[1], cfg.Seed)
	plans := plan(size[0])
	book, err := newBlank()
	if err != nil {
		return nil, err
	}
	workers := max(2, runtime.GOMAXPROCS(0))
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < size[0]; i += workers {
				if errs[w] = ctx.Err(); errs[w] != nil {
					return
				}
				rng := rand.New(rand.NewPCG(cfg.Seed^hash(id), uint64(i)+1))
				if org.Submissions[i], errs[w] = invent(cfg, rng, org.ID, i, arrivals[i], today, plans[i], book); errs[w] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	org.Key = key(org, today, cfg.Seed)
	return org, nil
}

var orgNames = map[string]string{"northgate": "Northgate Underwriting (sample)", "southfield": "Southfield Programs (sample)", "eastbank": "Eastbank Specialty (sample)"}

func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// Summer returns the first day of the latest June and the last day of the latest July that have both begun.
func Summer(today time.Time) (from, to time.Time) {
	year := today.Year()
	if today.Before(time.Date(year, 7, 1, 0, 0, 0, 0, time.UTC)) {
		year--
	}
	return time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(year, 7, 31, 0, 0, 0, 0, time.UTC)
}

// arrivals spreads the submissions over the last seven months, or from that June on when it is longer ago; the last ones come today.
func arrivals(today time.Time, n, now int, seed uint64) []time.Time {
	from := today.AddDate(0, -7, 0)
	if june, _ := Summer(today); june.Before(from) {
		from = june
	}
	span := int(today.Sub(from).Hours() / 24)
	rng := rand.New(rand.NewPCG(seed, 77))
	out := make([]time.Time, n)
	for i := range n {
		if i < n-now {
			day := from.AddDate(0, 0, i*span/(n-now))
			out[i] = day.Add(time.Duration(7*60+i*37%600)*time.Minute + time.Duration(rng.IntN(60))*time.Second)
			continue
		}
		k := i - (n - now)
		out[i] = today.Add(time.Duration((k+1)*350/(now+1))*time.Minute + time.Duration(rng.IntN(60))*time.Second)
	}
	return out
}
