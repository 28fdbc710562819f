package gate_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/governance/audit"
	"bordereau/governance/duck/ducktest"
	"bordereau/governance/fault"
	"bordereau/governance/gate"
)

// attack is one line of testdata/attacks.jsonl. {DIR} stands for the folder of another organisation's file, {OTHER} for that file and
// {OWN} for the asker's. must is "reject" (no row), "no-leak" (nothing of what is masked or another's) or "limit" (ends in time).
type attack struct{ ID, Cat, SQL, Why, Must string }

func attacks(t testing.TB) []attack {
	t.Helper()
	raw, err := os.ReadFile("testdata/attacks.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []attack
	sc := bufio.NewScanner(bytes.NewReader(raw))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var a attack
		if err := json.Unmarshal(sc.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

// serverCeiling is what the process that holds the gate may have resident, whatever is asked.
const serverCeiling = 512 << 20

// attackTime is the deadline of each attack; slack is how long after it an answer may come.
const (
	attackTime = 400 * time.Millisecond
	slack      = 500 * time.Millisecond
)

func TestAttacks(t *testing.T) {
	t.Parallel()
	list := attacks(t)
	if len(list) < 250 {
		t.Fatalf("%d attacks", len(list))
	}
	own := ducktest.Generation(t, "acme", true, 1500)
	other := ducktest.Generation(t, "globex", false, 50)
	h := newHouse(t, map[string]string{"acme/standard": own, "globex/full": other}, options{policy: unbudgeted})
	names := strings.NewReplacer("{DIR}", filepath.Dir(other), "{OTHER}", other, "{OWN}", own)
	var done sync.WaitGroup
	work := make(chan attack)
	var mu sync.Mutex
	var late []attack
	for range runtime.NumCPU() {
		done.Go(func() {
			for a := range work {
				a.SQL = names.Replace(a.SQL)
				switch err := try(t, h, a, other); {
				case errors.Is(err, errLate):
					mu.Lock()
					late = append(late, a)
					mu.Unlock()
				case err != nil:
					t.Errorf("%s (%s): %v\n  %.300s", a.ID, a.Why, err, a.SQL)
				}
			}
		})
	}
	for _, a := range list {
		work <- a
	}
	close(work)
	done.Wait()
	again := 0
	for _, a := range late { // alone, since a machine that is busy with other things is late with everything
		var err error
		for range 3 {
			again++
			if err = try(t, h, a, other); err == nil {
				break
			}
		}
		if err != nil {
			t.Errorf("%s (%s): %v\n  %.300s", a.ID, a.Why, err, a.SQL)
		}
	}
	var s table
	if _, err := h.Query(t.Context(), asker("acme", "underwriter"), gate.Request{SQL: "SELECT count(*) FROM submissions"}, &s); err != nil || s.rows[0][0] != int64(1500) {
		t.Errorf("afterwards: %v %v", s.rows, err)
	}
	if v, err := audit.Verify(t.Context(), h.db, "acme", ""); err != nil || v.Entries != int64(2*(len(list)+again)+2) {
		t.Errorf("audit: %+v %v", v, err)
	}
}

var errLate = errors.New("outlived its deadline")

// try runs an attack and says what was wrong with how it ended.
func try(t *testing.T, h *house, a attack, other string) error {
	var out leakSink
	begun := time.Now()
	answer, err := h.Query(t.Context(), asker("acme", "underwriter"), gate.Request{SQL: a.SQL, Timeout: attackTime}, &out)
	took := time.Since(begun)
	var f *fault.Error
	if err != nil && (!errors.As(err, &f) || f.Code == fault.Internal || f.Code == fault.Unavailable) {
		return fmt.Errorf("ended with %w (%w)", err, errors.Unwrap(err))
	}
	if err != nil && (f.Rule == "" || f.AuditID == "") && f.Code != fault.Interrupted {
		return fmt.Errorf("refused without rule or record: %+w", f)
	}
	if took > attackTime+slack {
		return fmt.Errorf("%w: %v, of which %v ms ran", errLate, took, answer.MillisRun)
	}
	if rss := resident(t); rss > serverCeiling {
		return fmt.Errorf("the server holds %d MiB", rss>>20)
	}
	if a.Must == "reject" && (err == nil || out.rows > 0) {
		return fmt.Errorf("was answered with %d rows", out.rows)
	}
	told := ""
	if f != nil {
		told = f.Message + f.Hint
	}
	for _, secret := range []string{ducktest.Canary("acme"), ducktest.Canary("globex"), "globex", filepath.Dir(other), "root:"} {
		if strings.Contains(told, secret) && !strings.Contains(a.SQL, secret) {
			return fmt.Errorf("the refusal tells %q: %s", secret, told)
		}
		if out.has(secret) && !strings.Contains(a.SQL, secret) {
			return fmt.Errorf("the answer tells %q", secret)
		}
	}
	return nil
}

// leakSink keeps the text of an answer's first rows.
type leakSink struct {
	rows int
	text strings.Builder
}

func (s *leakSink) Begin(c []gate.Column) error {
	fmt.Fprint(&s.text, c)
	return nil
}

func (s *leakSink) Row(v []any) error {
	if s.rows++; s.text.Len() < 4<<20 {
		fmt.Fprintln(&s.text, v...)
	}
	return nil
}

func (s *leakSink) has(secret string) bool { return strings.Contains(s.text.String(), secret) }

func resident(t testing.TB) int64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(raw), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// unbudgeted is the built-in policy without the budgets that a test suite would use up.
const unbudgeted = `
version: 1
profiles:
  standard: {mask: {ssn: last4, fein: last4, license_number: token, date_of_birth: year}}
  full: {mask: {}}
roles:
  underwriter: {profile: standard, limits: {rows: 200000, bytes: 64MiB, seconds: 30, memory: 256MiB}}
  auditor: {profile: full, limits: {rows: 2000000, bytes: 512MiB, seconds: 60, memory: 512MiB}}
budgets:
  turn: {queries: 1000000, seconds: 1000000, bytes: 1024GiB}
  person: {queries: 1000000, seconds: 1000000, bytes: 1024GiB}
  organisation: {queries: 1000000, seconds: 1000000, bytes: 1024GiB}
`
