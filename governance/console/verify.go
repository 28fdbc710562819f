package console

import (
	"encoding/json"
	"errors"
	"net/http"

	"bordereau/governance/audit"
	"bordereau/governance/gate"
)

// verifying is what to verify against.
type verifying struct {
	Anchor string `json:"anchor"` // a hash that was kept from an earlier verification, "" for none
}

// progress is a line of a verification under way.
type progress struct {
	Checked int64 `json:"checked"`
	Of      int64 `json:"of"`
}

// verdict is its last line.
type verdict struct {
	Holds   bool   `json:"holds"`
	Entries int64  `json:"entries"`        // that hold
	Hash    string `json:"hash,omitempty"` // of the last one: kept elsewhere, it proves later that the chain was not written anew
	Seq     int64  `json:"seq,omitempty"`  // of the first fault
	Why     string `json:"why,omitempty"`  // what is wrong there
}

// verify answers POST /api/console/verify with NDJSON: {"progress": …} lines and a last one, {"verdict": …} or {"error": …}.
func (c *Console) verify(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	var ask verifying
	if err := decode(r, &ask); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	lines := json.NewEncoder(deadlined{w})
	check := audit.Check{Org: p.Org, Anchor: ask.Anchor, Progress: func(checked, of int64) {
		_ = lines.Encode(map[string]progress{"progress": {checked, of}}) // a caller that left ends the request's context
	}}
	verified, err := check.Verify(r.Context(), c.c.DB)
	v := verdict{Holds: err == nil, Entries: verified.Entries, Hash: verified.Hash}
	if broken, ok := errors.AsType[*audit.BrokenError](err); ok {
		v.Seq, v.Why, v.Hash = broken.Seq, broken.Why, ""
		v.Entries = max(broken.Seq-1, 0)
	} else if err != nil {
		_ = lines.Encode(failure{typed(err)}) // the same
		return err
	}
	return lines.Encode(map[string]verdict{"verdict": v})
}
