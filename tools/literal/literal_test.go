package literal_test

import (
	"errors"
	"testing"
	"time"

	"bordereau/tools/literal"
)

func TestBind(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 29, 23, 0, 0, 0, time.UTC)
	got, err := literal.Bind("a = $1 AND c < $2 AND d = $3 LIMIT $4", "O'Brien; -- $2", day, nil, 7)
	want := "a = 'O''Brien; -- $2' AND c < DATE '2026-11-29' AND d = NULL LIMIT 7"
	if err != nil || got != want {
		t.Fatalf("Bind = %q, %v; want %q", got, err, want)
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	if _, err := literal.Bind("$1", "a\x00b"); !errors.Is(err, literal.ErrText) {
		t.Errorf("NUL: %v", err)
	}
	if _, err := literal.Bind("$1", "\xff"); !errors.Is(err, literal.ErrText) {
		t.Errorf("not UTF-8: %v", err)
	}
	if _, err := literal.Bind("$2", "a"); err == nil {
		t.Error("a placeholder without a value was bound")
	}
	if _, err := literal.Bind("$1", 1.5); err == nil {
		t.Error("a float was bound")
	}
}

// FuzzBind holds that whatever the text, it stays one literal: outside quotes nothing of it is left.
func FuzzBind(f *testing.F) {
	for _, s := range []string{"", "'", "''", "a'b", "$1", "\\'", "x' OR '1'='1", "--", "/*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := literal.Bind("[$1]", s)
		if err != nil {
			return
		}
		inside, outside := false, ""
		for i := range len(got) {
			if got[i] == '\'' {
				inside = !inside
				continue
			}
			if !inside {
				outside += string(got[i])
			}
		}
		if inside || outside != "[]" {
			t.Fatalf("%q leaves %q outside its literal", s, outside)
		}
	})
}
