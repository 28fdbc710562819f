package gate_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"bordereau/governance/duck"
	"bordereau/governance/duck/ducktest"
	"bordereau/governance/gate"
)

// intervals differ in how the driver hands them out, JSON in that the driver decodes it.
func comparable(columns []gate.Column, rows [][]any) []int {
	var keep []int
	for i, c := range columns {
		if !strings.Contains(c.Type, "INTERVAL") && !strings.Contains(c.Type, "JSON") {
			keep = append(keep, i)
		}
	}
	return keep
}

func project(rows [][]any, keep []int) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		parts := make([]string, len(keep))
		for j, k := range keep {
			parts[j] = fmt.Sprintf("%T %v", r[k], r[k])
		}
		out[i] = strings.Join(parts, " | ")
	}
	return out
}

// peer is DuckDB without a gate.
type peer func(sql string) (columns []string, rows [][]any)

// same asks the gate and DuckDB itself, and says how the answers differ.
func same(t *testing.T, h *house, org, role string, peer peer, sql string) string {
	t.Helper()
	var got table
	a, err := h.Query(t.Context(), asker(org, role), gate.Request{SQL: sql}, &got)
	if err != nil {
		return fmt.Sprintf("refused: %v (%v)", err, errors.Unwrap(err))
	}
	names, want := peer(sql)
	for i, n := range names {
		if got.columns[i].Name != n && !strings.ContainsAny(n, "('") {
			return fmt.Sprintf("column %d is %q, want %q", i, got.columns[i].Name, n)
		}
	}
	keep := comparable(got.columns, got.rows)
	g, w := project(got.rows, keep), project(want, keep)
	slices.Sort(g)
	slices.Sort(w)
	if d := cmp.Diff(w, g, cmpopts.EquateEmpty()); d != "" {
		return fmt.Sprintf("%s\nran %s", d, a.SQLAsRun)
	}
	return ""
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/corpus.sql")
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(list) < 200 {
		t.Fatalf("%d queries", len(list))
	}
	path := ducktest.Generation(t, "acme", true, 40)
	h := newHouse(t, map[string]string{"acme/standard": path}, options{policy: unbudgeted, duck: duck.Config{Threads: 1}})
	raw := ducktest.Peer(t, path)
	for _, q := range list {
		if d := same(t, h, "acme", "underwriter", raw, q); d != "" {
			t.Errorf("%s\n  %s", q, d)
		}
	}
}
