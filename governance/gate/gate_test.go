package gate_test

import (
	"errors"
	"testing"

	"bordereau/governance/duck/ducktest"
	"bordereau/governance/gate"
)

func TestQueryAnswers(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"acme/standard": ducktest.Generation(t, "acme", true, 30)}, options{})
	var out table
	a, err := h.Query(t.Context(), asker("acme", "underwriter"), gate.Request{SQL: "SELECT workflow, count(*) AS n FROM submissions GROUP BY ALL ORDER BY 1"}, &out)
	if err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	if len(out.rows) != 3 || out.rows[0][0] != "Claims Intake" || out.rows[0][1] != int64(10) {
		t.Errorf("rows %v", out.rows)
	}
	t.Logf("%+v", a)
}
