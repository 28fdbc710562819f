package online_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bordereau/migrations"
	"bordereau/tools/vin"
	"bordereau/tools/vin/online"
)

// service is a fake of NHTSA's, which answers in recorded shapes.
type service struct {
	mu     sync.Mutex
	calls  []url.Values
	times  []time.Time
	answer func(n int, data []string) (status int, header http.Header, body string, err error)
}

func (s *service) RoundTrip(req *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(b))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.calls, s.times = append(s.calls, form), append(s.times, time.Now())
	n := len(s.calls)
	s.mu.Unlock()
	status, header, body, err := s.answer(n, strings.Split(form.Get("data"), ";"))
	if err != nil {
		return nil, err
	}
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// recorded answers as NHTSA did: an envelope, one flat object a VIN, all values texts.
func recorded(_ int, data []string) (int, http.Header, string, error) {
	var list []string
	for _, d := range data {
		v, _, _ := strings.Cut(d, ",")
		list = append(list, fmt.Sprintf(`{"ABS":"","Axles":"2","BodyClass":"Trailer","DriveType":"","ErrorCode":"0","ErrorText":"0 - VIN decoded clean. Check Digit (9th position) is correct",`+
			`"Make":"WABASH VANS","MakeID":"7210","Model":"Dry Van Duraplate","ModelYear":"2018","TrailerBodyType":"Van","TrailerLength":"53","TrailerType":"Straight Semi/Semi Trailer","VIN":"%s"}`, v))
	}
	return 200, nil, `{"Count":` + fmt.Sprint(len(data)) + `,"Message":"Results returned successfully","SearchCriteria":"","Results":[` + strings.Join(list, ",") + `]}`, nil
}

// memory is a cache for one test.
type memory map[online.Query]map[string]string

func (m memory) Get(_ context.Context, q online.Query, _ time.Time) (map[string]string, bool, error) {
	v, ok := m[q]
	return v, ok, nil
}

func (m memory) Put(_ context.Context, queries []online.Query, answers []map[string]string, _ time.Time) error {
	for i, q := range queries {
		m[q] = answers[i]
	}
	return nil
}

func client(t *testing.T, s *service, cache online.Cache) *online.Client {
	t.Helper()
	c, err := online.New(online.Config{
		HTTP: &http.Client{Transport: s}, BaseURL: online.BaseURL, Cache: cache, Now: time.Now, Interval: online.DefaultInterval,
		Timeout: online.DefaultTimeout, Cooldown: online.DefaultCooldown, MaxAge: online.DefaultMaxAge,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func queries(n int) []online.Query {
	out := make([]online.Query, n)
	for i := range out {
		out[i] = online.Query{VIN: fmt.Sprintf("1JJV532D9JL%06d", i)}
	}
	return out
}

func TestEnrichAddsWhatTheOfflineDataLacks(t *testing.T) {
	t.Parallel()
	d, err := vin.Load()
	if err != nil {
		t.Fatal(err)
	}
	s := &service{answer: recorded}
	r := d.Decode("1JJV532D9JL178490", vin.Hint{})
	bad := d.Decode("<html>", vin.Hint{})
	if notes := client(t, s, memory{}).Enrich(t.Context(), []*vin.Result{&r, &bad}); len(notes) > 0 {
		t.Fatalf("notes %v", notes)
	}
	e, _ := r.Element("TrailerLength")
	if e.Value != "53" || e.Source != vin.SourceOnline || r.Value("Axles") != "2" || !r.Online || len(r.NotInDataSet()) == 0 {
		t.Errorf("%+v", e)
	}
	if e, _ := r.Element("Model"); e.Source != vin.SourcePattern {
		t.Errorf("the offline model was replaced: %+v", e)
	}
	if len(s.calls) != 1 || s.calls[0].Get("data") != "1JJV532D9JL178490,2018" || s.calls[0].Get("format") != "json" || bad.Online {
		t.Errorf("asked %v", s.calls)
	}
}

func TestBatchesLimitAndCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: recorded}
		c := client(t, s, memory{})
		answers, notes := c.Ask(t.Context(), append(queries(120), queries(10)...))
		if len(answers) != 120 || len(notes) != 0 || len(s.calls) != 3 {
			t.Fatalf("%d answers, %v, %d calls", len(answers), notes, len(s.calls))
		}
		for i, call := range s.calls {
			if n := len(strings.Split(call.Get("data"), ";")); n > 50 {
				t.Errorf("%d VINs in a call", n)
			}
			if i > 0 && s.times[i].Sub(s.times[i-1]) < online.DefaultInterval {
				t.Errorf("calls %v apart", s.times[i].Sub(s.times[i-1]))
			}
		}
		if answers, _ := c.Ask(t.Context(), queries(120)); len(answers) != 120 || len(s.calls) != 3 {
			t.Errorf("the cache wasn't used: %d calls", len(s.calls))
		}
	})
}

func TestServiceInTrouble(t *testing.T) {
	t.Parallel()
	html := "<!DOCTYPE html><html><body>We'll be right back</body></html>"
	for _, c := range []struct {
		name   string
		answer func(n int, data []string) (int, http.Header, string, error)
		kind   online.Kind
		calls  int
		least  time.Duration // that the whole took
	}{
		{"refused", func(int, []string) (int, http.Header, string, error) {
			return 0, nil, "", errors.New("connection refused")
		}, online.KindUnreachable, 3, 0},
		{"an error of its own", func(int, []string) (int, http.Header, string, error) { return 500, nil, html, nil }, online.KindFailing, 3, 600 * time.Millisecond},
		{"throttled", func(int, []string) (int, http.Header, string, error) {
			return 429, http.Header{"Retry-After": {"7"}}, html, nil
		}, online.KindThrottled, 3, 14 * time.Second},
		{"forbidden", func(int, []string) (int, http.Header, string, error) { return 403, nil, html, nil }, online.KindThrottled, 3, 0},
		{"throttled for long", func(int, []string) (int, http.Header, string, error) {
			return 503, http.Header{"Retry-After": {"3600"}}, html, nil
		}, online.KindThrottled, 1, 0},
		{"HTML instead of JSON", func(int, []string) (int, http.Header, string, error) { return 200, nil, html, nil }, online.KindShape, 1, 0},
		{"cut off", func(_ int, d []string) (int, http.Header, string, error) {
			_, _, body, _ := recorded(1, d)
			return 200, nil, body[:len(body)/2], nil
		}, online.KindShape, 1, 0},
		{"HTML as a year", func(_ int, d []string) (int, http.Header, string, error) {
			_, _, body, _ := recorded(1, d)
			return 200, nil, strings.Replace(body, `"2018"`, `"<h1>502</h1>"`, 1), nil
		}, online.KindShape, 1, 0},
		{"another vehicle", func(_ int, d []string) (int, http.Header, string, error) {
			_, _, body, _ := recorded(1, d)
			return 200, nil, strings.Replace(body, "1JJV532D9JL000000", "1JJV532D9JL999999", 1), nil
		}, online.KindShape, 1, 0},
		{"too few answers", func(_ int, d []string) (int, http.Header, string, error) { return recorded(1, d[:1]) }, online.KindShape, 1, 0},
		{"endless", func(int, []string) (int, http.Header, string, error) {
			return 200, nil, "{" + string(bytes.Repeat([]byte{' '}, 9<<20)), nil
		}, online.KindShape, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{answer: c.answer}
				client := client(t, s, memory{})
				start := time.Now()
				answers, notes := client.Ask(t.Context(), queries(2))
				if len(answers) != 0 || len(notes) != 1 || notes[0].Kind != c.kind || notes[0].Missing != 2 || notes[0].Message == "" {
					t.Fatalf("%v, %+v", answers, notes)
				}
				if len(s.calls) != c.calls || time.Since(start) < c.least {
					t.Errorf("%d calls in %v", len(s.calls), time.Since(start))
				}
				// It is left alone for a while, then asked again.
				if _, notes := client.Ask(t.Context(), queries(2)); len(s.calls) != c.calls || len(notes) != 1 || notes[0].Kind != c.kind {
					t.Errorf("asked again at once: %d calls, %v", len(s.calls), notes)
				}
				s.answer = recorded
				time.Sleep(time.Until(notes[0].RetryAt) + time.Second)
				if answers, notes := client.Ask(t.Context(), queries(2)); len(answers) != 2 || len(notes) != 0 {
					t.Errorf("after the pause: %d answers, %v", len(answers), notes)
				}
			})
		})
	}
}

func TestOneBadMomentIsForgiven(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(n int, data []string) (int, http.Header, string, error) {
			if n == 1 {
				return 502, nil, "bad gateway", nil
			}
			return recorded(n, data)
		}}
		if answers, notes := client(t, s, memory{}).Ask(t.Context(), queries(2)); len(answers) != 2 || len(notes) != 0 {
			t.Errorf("%d answers, %v", len(answers), notes)
		}
	})
}

func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	s := &service{answer: func(int, []string) (int, http.Header, string, error) {
		cancel(errors.New("enough"))
		return 0, nil, "", errors.New("broken")
	}}
	c := client(t, s, memory{})
	if _, notes := c.Ask(ctx, queries(1)); len(notes) != 1 || notes[0].Kind != online.KindCancelled {
		t.Errorf("%v", notes)
	}
	// That says nothing about the service.
	s.answer = recorded
	if answers, notes := c.Ask(t.Context(), queries(1)); len(answers) != 1 || len(notes) != 0 {
		t.Errorf("%v", notes)
	}
}

func TestSQLCache(t *testing.T) {
	t.Parallel()
	db, _, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "governance.db"), migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := online.NewSQLCache(db)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	q := []online.Query{{VIN: "1JJV532D9JL178490", Year: 2018}, {VIN: "1JJV532D9JL178490"}}
	for _, length := range []string{"48", "53"} {
		if err := c.Put(t.Context(), q, []map[string]string{{"TrailerLength": length, "ABS": ""}, {"Make": "WABASH VANS"}}, now); err != nil {
			t.Fatal(err)
		}
	}
	v, ok, err := c.Get(t.Context(), q[0], now.Add(-time.Hour))
	if err != nil || !ok || v["TrailerLength"] != "53" {
		t.Errorf("%v %v %v", v, ok, err)
	}
	if _, ok, _ := c.Get(t.Context(), q[0], now); ok {
		t.Error("an old answer was believed")
	}
	if err := c.Forget(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := c.Get(t.Context(), q[1], now.Add(-time.Hour)); ok {
		t.Error("a forgotten answer came back")
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	good := online.Config{HTTP: http.DefaultClient, BaseURL: online.BaseURL, Cache: memory{}, Now: time.Now, Interval: 1, Timeout: 1, Cooldown: 1, MaxAge: 1}
	for name, spoil := range map[string]func(*online.Config){
		"no HTTP": func(c *online.Config) { c.HTTP = nil }, "no cache": func(c *online.Config) { c.Cache = nil }, "no time": func(c *online.Config) { c.Now = nil },
		"no slash": func(c *online.Config) { c.BaseURL = "https://x" }, "no interval": func(c *online.Config) { c.Interval = 0 },
	} {
		c := good
		spoil(&c)
		if _, err := online.New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
