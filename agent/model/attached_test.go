package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bordereau/agent/model"
)

func TestAttached(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{{"fleet.xlsx"}, {"Smith, John.csv", "b.tar.gz", "c, d"}, {"notes"}} {
		if diff := cmp.Diff(names, model.AttachedIn(model.Attached(names))); diff != "" {
			t.Error(diff)
		}
	}
	if got := model.AttachedIn(model.Block{Kind: model.Text, Text: "Attached, in /workspace/documents: a.csv"}); len(got) != 1 || got[0] != "a.csv" {
		t.Errorf("an earlier message: %q", got)
	}
	if got := model.AttachedIn(model.Block{Kind: model.Text, Text: "I attached, in /workspace/documents: a.csv"}); got != nil {
		t.Errorf("read %q", got)
	}
}
