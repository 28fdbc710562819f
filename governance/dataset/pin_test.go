package dataset_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bordereau/governance/dataset"
	"bordereau/governance/fault"
)

func TestPinnedGenerationsStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, db := open(t, dir)
	if _, _, err := s.Pin(t.Context(), "acme", dataset.Standard); !fault.Is(err, fault.NotFound) {
		t.Errorf("nothing imported yet: %v", err)
	}
	for _, org := range []string{"", "..", "a/b", ".x", "a\x00"} {
		if _, _, err := s.Pin(t.Context(), org, dataset.Standard); !fault.Is(err, fault.Invalid) {
			t.Errorf("organisation %q: %v", org, err)
		}
	}
	first := importFile(t, s, sample(t, t.TempDir(), 1))
	old, release, err := s.Pin(t.Context(), "acme", dataset.Standard)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Pin(t.Context(), "acme", "raw"); !fault.Is(err, fault.Invalid) {
		t.Errorf("unknown profile: %v", err)
	}
	second := importFile(t, s, sample(t, t.TempDir(), 2))
	// Another process on this machine sees the pin too: a second store stands for it.
	other, _ := open(t, dir)
	gone, err := other.Retire(t.Context(), "acme", 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{first.Generation}, gone.Pinned); diff != "" {
		t.Error(diff)
	}
	check(t, old)
	again, releaseAgain, err := s.PinGeneration(t.Context(), "acme", dataset.Full, first.Generation)
	if err != nil {
		t.Fatal(err)
	}
	release()
	release() // twice does no harm
	check(t, again)
	releaseAgain()
	gone, err = s.Retire(t.Context(), "acme", 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{first.Generation}, gone.Generations); diff != "" || gone.Bytes == 0 {
		t.Error(diff, gone.Bytes)
	}
	if _, err := os.Stat(old.Path); !os.IsNotExist(err) {
		t.Errorf("the retired file: %v", err)
	}
	if _, _, err := s.PinGeneration(t.Context(), "acme", dataset.Full, first.Generation); !fault.Is(err, fault.NotFound) {
		t.Errorf("retired: %v", err)
	}
	now, release, err := s.Pin(t.Context(), "acme", dataset.Full)
	if err != nil || now.Generation != second.Generation {
		t.Fatalf("%+v %v", now, err)
	}
	release()
	if _, err := s.Rebuild(t.Context(), "acme"); err != nil {
		t.Errorf("facts outlive generations: %v", err)
	}
	orgs, err := s.Organisations(t.Context())
	if err != nil || len(orgs) != 1 || orgs[0].Relations["submissions"] != 2 {
		t.Errorf("%+v %v", orgs, err)
	}
	_ = db
}
