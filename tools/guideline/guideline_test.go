package guideline

import "testing"

func TestEmbeddedGuidelinesLoad(t *testing.T) {
	t.Parallel()
	l, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if len(l.All()) != 4 {
		t.Errorf("%d guidelines", len(l.All()))
	}
}
