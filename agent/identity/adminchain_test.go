package identity

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// logHolds changes an admin log in every way that its chain shows.
func logHolds(t *testing.T, b *bed) {
	if v, err := b.VerifyLog(t.Context(), b.org, ""); err != nil || v != (Verified{}) {
		t.Fatalf("no log: %+v, %v", v, err)
	}
	b.add(t, b.org, b.email(), Analyst, good)
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := b.db.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	// As it was before there were chains: the next line takes the older ones in.
	exec(`UPDATE admin_log SET seq = 0, prev_hash = '', hash = '' WHERE org = $1`, b.org)
	exec(`DELETE FROM admin_log_heads WHERE org = $1`, b.org)
	if v, err := b.VerifyLog(t.Context(), b.org, ""); err != nil || v.Lines != 0 {
		t.Fatalf("a log from before: %+v, %v", v, err)
	}
	for n := range 3 {
		if err := b.note(t.Context(), entry{org: b.org, action: SignedOut, detail: fmt.Sprintf("bad \xff text\x00 %d", n)}); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			if err := b.note(t.Context(), entry{org: b.org, action: SignedOut, detail: fmt.Sprint("at once ", n)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	v, err := b.VerifyLog(t.Context(), b.org, "")
	if err != nil || v.Lines != 9 || len(v.Hash) != 64 {
		t.Fatalf("%+v, %v", v, err)
	}
	if again, err := b.VerifyLog(t.Context(), b.org, v.Hash); err != nil || again != v {
		t.Errorf("with its own hash: %+v, %v", again, err)
	}
	fails := func(line, holds int64, why, kept string) {
		t.Helper()
		_, err := b.VerifyLog(t.Context(), b.org, kept)
		broken, ok := errors.AsType[*BrokenError](err)
		if !ok || broken.Line != line || broken.Lines != holds || !strings.Contains(broken.Error(), why) {
			t.Errorf("%v, want line %d, %q", err, line, why)
		}
	}
	fails(9, 9, "the hash that was kept", strings.Repeat("a", 64))
	exec(`UPDATE admin_log SET detail = 'role analyst' WHERE org = $1 AND seq = 2`, b.org)
	fails(2, 1, "was changed", "")
	exec(`UPDATE admin_log SET detail = detail, prev_hash = 'x' WHERE org = $1 AND seq = 2`, b.org)
	fails(2, 1, "does not follow", "")
	exec(`DELETE FROM admin_log WHERE org = $1 AND seq = 2`, b.org)
	fails(2, 1, "is missing", "")
	exec(`DELETE FROM admin_log WHERE org = $1 AND seq > 1`, b.org)
	fails(2, 1, "is missing", "")
	exec(`UPDATE admin_log_heads SET seq = 1 WHERE org = $1`, b.org)
	fails(1, 0, "not the one that was written last", "")
	exec(`UPDATE admin_log_heads SET hash = (SELECT hash FROM admin_log WHERE org = $1 AND seq = 1) WHERE org = $1`, b.org)
	exec(`INSERT INTO admin_log (id, at, org, actor, actor_name, action, subject, detail, address) VALUES ($1, 1, $2, '', '', 'x', '', '', '')`, "0-"+b.org, b.org)
	fails(2, 1, "outside the chain", "")
	exec(`DELETE FROM admin_log WHERE id = $1`, "0-"+b.org)
	exec(`DELETE FROM admin_log_heads WHERE org = $1`, b.org)
	fails(1, 1, "the end of the chain", "")
}
