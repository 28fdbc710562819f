package vin_test

import (
	"bufio"
	"encoding/json"
	"os"
	"sync"
	"testing"
	"time"

	"bordereau/tools/vin"
	"bordereau/tools/vin/vpic"
)

// answer is a VIN with what is known of it.
type answer struct {
	VIN        string `json:"vin"`
	Make       string `json:"make"`
	Model      string `json:"model"`
	Year       int    `json:"year"`
	BodyClass  string `json:"body_class"`
	GVWR       string `json:"gvwr"`
	ErrorCode  string `json:"error_code"`
	Class      string `json:"class"`
	Quality    string `json:"quality"`
	StatedYear int    `json:"stated_year"`
	StatedMake string `json:"stated_make"`
}

func answers(t testing.TB) []answer {
	t.Helper()
	f, err := os.Open("testdata/vins.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []answer
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var a answer
		if err := json.Unmarshal(s.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	if len(out) != 293 {
		t.Fatalf("%d answers instead of 293", len(out))
	}
	return out
}

// shared reads the embedded data once for all tests; it is never changed.
var shared = sync.OnceValues(vpic.Embedded)

// decoder returns a decoder at a fixed time, so that answers don't change with the calendar.
func decoder(t testing.TB) *vin.Decoder {
	t.Helper()
	data, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	d, err := vin.New(vin.Config{Data: data, Now: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}
