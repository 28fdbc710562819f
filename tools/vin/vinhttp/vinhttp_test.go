package vinhttp_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"bordereau/tools/vin"
	"bordereau/tools/vin/vinhttp"
)

func TestEndpoints(t *testing.T) {
	t.Parallel()
	d, err := vin.Load()
	if err != nil {
		t.Fatal(err)
	}
	h, err := vinhttp.Handler(vinhttp.Config{Decoder: d})
	if err != nil {
		t.Fatal(err)
	}
	form := func(data string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/vin/DecodeVINValuesBatch/", strings.NewReader(url.Values{"format": {"json"}, "data": {data}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return r
	}
	post := func(body string) *http.Request {
		return httptest.NewRequest(http.MethodPost, "/vin/check", strings.NewReader(body))
	}
	for _, c := range []struct {
		name   string
		req    *http.Request
		status int
		want   []string
	}{
		{"one", httptest.NewRequest(http.MethodGet, "/vin/1XPXD49XXRD898766?modelyear=2024", nil), 200, []string{`"Count":1`, `"Make":"PETERBILT"`, `"ModelYear":"2024"`}},
		{"what isn't a VIN", httptest.NewRequest(http.MethodGet, "/vin/%3Cb%3E", nil), 200, []string{`"ErrorCode":"6,400"`}},
		{"a bad year", httptest.NewRequest(http.MethodGet, "/vin/1XPXD49XXRD898766?modelyear=x", nil), 400, []string{`"code":"invalid"`}},
		{"batch, with spaces", form("1XPXD49XXRD898766, 2024; 5UXWX7C5*BA ;1JJV532D9JL178490,2018"), 200, []string{`"Count":3`, `"BMW"`, `"WABASH VANS"`}},
		{"empty batch", form(" ; "), 400, []string{`"code":"invalid"`}},
		{"large batch", form(strings.Repeat("1XPXD49XXRD898766;", 5001)), 413, []string{`"code":"too_large"`}},
		{"check", post(`{"vins":[{"ref":"r","vin":"1XPXD49XXRD898766","year":2023}]}`), 200, []string{`"data_date":"2026-02-17"`, `"ref":"r"`, `"verdict":"conflict"`}},
		{"unknown member", post(`{"vins":[{"vim":"x"}]}`), 400, []string{`vim`}},
		{"no rows", post(`{"vins":[]}`), 400, []string{`"code":"invalid"`}},
		{"many rows", post(`{"vins":[` + strings.TrimSuffix(strings.Repeat(`{"vin":""},`, 5001), ",") + `]}`), 413, []string{`too_large`}},
		{"huge", post(`{"vins":[{"vin":"` + strings.Repeat("1", 5<<20) + `"}]}`), 413, []string{`too_large`}},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, c.req)
		if w.Code != c.status || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: status %d, %.200s", c.name, w.Code, w.Body)
		}
		for _, want := range c.want {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: no %s in %.300s", c.name, want, w.Body)
			}
		}
	}
	if _, err := vinhttp.Handler(vinhttp.Config{}); err == nil {
		t.Error("a handler without a decoder")
	}
}
