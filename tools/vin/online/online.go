// Package online asks NHTSA's vPIC service for what the offline data lacks. It is an extra: whatever happens to the service, offline answers stand.
package online

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"bordereau/tools/vin"
)

// BaseURL is NHTSA's service.
const BaseURL = "https://vpic.nhtsa.dot.gov/api/vehicles/"

// Defaults for what NHTSA leaves open: it names no limit and throttles by itself.
const (
	DefaultInterval = 200 * time.Millisecond
	DefaultCooldown = 2 * time.Minute
	DefaultTimeout  = 30 * time.Second
	DefaultMaxAge   = 30 * 24 * time.Hour
	attempts        = 3
	batch           = 50
)

// Config holds what a client needs.
type Config struct {
	// HTTP makes the calls. Its transport decides what can be reached.
	HTTP *http.Client
	// BaseURL ends with a slash.
	BaseURL string
	// Cache keeps answers; it may be shared by many clients.
	Cache Cache
	// Now tells the time.
	Now func() time.Time
	// Interval is the least time between two calls.
	Interval time.Duration
	// Timeout bounds one call.
	Timeout time.Duration
	// Cooldown is how long a service that failed is left alone.
	Cooldown time.Duration
	// MaxAge is how long an answer is believed.
	MaxAge time.Duration
}

// Client asks the service. It is safe for concurrent use; its calls go out one after the other.
type Client struct {
	c Config

	turn      chan struct{} // holds one token: whoever has it may call
	last      time.Time     // of the last call; guarded by turn
	mu        sync.Mutex
	deadUntil time.Time
	deadWhy   Note
}

// New returns a client.
func New(c Config) (*Client, error) {
	switch {
	case c.HTTP == nil:
		return nil, errors.New("online: a client needs an HTTP client")
	case c.Cache == nil:
		return nil, errors.New("online: a client needs a cache")
	case c.Now == nil:
		return nil, errors.New("online: a client needs the time")
	case c.BaseURL == "" || c.BaseURL[len(c.BaseURL)-1] != '/':
		return nil, errors.New("online: the base URL must end with a slash")
	case c.Interval <= 0 || c.Timeout <= 0 || c.Cooldown <= 0 || c.MaxAge <= 0:
		return nil, errors.New("online: interval, timeout, cooldown and maximal age must be set")
	}
	out := &Client{c: c, turn: make(chan struct{}, 1)}
	out.turn <- struct{}{}
	return out, nil
}

// Query is a VIN with the year that a document states, 0 for none.
type Query struct {
	VIN  string
	Year int
}

// Enrich adds to each result what only the service knows. Results that it can't help stay as they are; the notes say why.
func (c *Client) Enrich(ctx context.Context, results []*vin.Result) []Note {
	var queries []Query
	for _, r := range results {
		// Only what is shaped like a VIN leaves the house, and nothing but the VIN.
		if r.WMI != "" && len(r.VIN) >= 3 && len(r.VIN) <= 17 {
			queries = append(queries, Query{VIN: r.VIN, Year: yearToAsk(r)})
		}
	}
	answers, notes := c.Ask(ctx, queries)
	for _, r := range results {
		if values, ok := answers[Query{VIN: r.VIN, Year: yearToAsk(r)}]; ok {
			r.AddOnline(values)
		}
	}
	return notes
}

// yearToAsk is the year to send along: the one that was chosen between two.
func yearToAsk(r *vin.Result) int {
	if r.Conclusive {
		return 0
	}
	return r.Year()
}

// Ask returns the service's answers by query, from the cache where it has them. It never fails: what couldn't be had is told in the notes.
func (c *Client) Ask(ctx context.Context, queries []Query) (map[Query]map[string]string, []Note) {
	out := map[Query]map[string]string{}
	var notes []Note
	var missing []Query
	seen := map[Query]bool{}
	for _, q := range queries {
		if seen[q] {
			continue
		}
		seen[q] = true
		values, ok, err := c.c.Cache.Get(ctx, q, c.c.Now().Add(-c.c.MaxAge))
		if err != nil && len(notes) == 0 {
			notes = append(notes, Note{Kind: KindCache, Message: "The cache of NHTSA's answers can't be read: " + err.Error()})
		}
		if ok {
			out[q] = values
			continue
		}
		missing = append(missing, q)
	}
	for len(missing) > 0 {
		n := min(batch, len(missing))
		part := missing[:n]
		missing = missing[n:]
		answers, note := c.fetch(ctx, part)
		if note != nil {
			note.Missing = n + len(missing)
			return out, append(notes, *note)
		}
		for i, values := range answers {
			out[part[i]] = values
		}
		if err := c.c.Cache.Put(ctx, part, answers, c.c.Now()); err != nil && len(notes) == 0 {
			notes = append(notes, Note{Kind: KindCache, Message: "NHTSA's answers can't be kept: " + err.Error()})
		}
	}
	return out, notes
}
