package dataset_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bordereau/governance/dataset"
	"bordereau/governance/fault"
	"bordereau/migrations"
	"bordereau/migrations/postgrestest"
)

// people has one value of every kind that is masked, where it can stand.
const people = `{"type":"submission","id":"S-1","workflow":"W","status":"received","insured_name":"Jo 111-22-3333","received_at":"2026-08-02T00:00:00Z"}
{"type":"document","id":"D-1","submission_id":"S-1","document_type":"driver_list","filename":"list.pdf"}
{"type":"row","id":"R-1","document_id":"D-1","table":"drivers","index":1}
{"type":"field","id":"F-1","document_id":"D-1","row_id":"R-1","field":"license_number","value":"n123-4567-8901","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-2","document_id":"D-1","row_id":"R-1","field":"date_of_birth","value":"07/04/1976","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-3","document_id":"D-1","row_id":"R-1","field":"ssn","value":"111-22-3333","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-4","document_id":"D-1","field":"fein","value":"12-3456789","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-5","document_id":"D-1","field":"notes","value":"ssn 111-22-3333, fein 12-3456789, born 7/4/1976, dob 1976-07-04","extracted_at":"2026-08-02T00:00:00Z"}
`

const (
	maskedFields  = "SELECT field_id, value FROM extracted_fields ORDER BY 1"
	maskedDrivers = "SELECT license_number, date_of_birth::VARCHAR FROM drivers"
)

// untilServed looks after the data as a server does, until the standard profile is served.
func untilServed(t *testing.T, s *dataset.Store) dataset.Pinned {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Tend(ctx, dataset.Tending{Every: time.Hour, Quiet: time.Hour, Keep: 9})
	}()
	defer func() { stop(); <-done }()
	deadline := time.After(2 * time.Minute)
	for {
		p, release, err := s.Pin(t.Context(), "acme", dataset.Standard)
		if err == nil {
			release()
			return p
		}
		if !fault.Is(err, fault.Unavailable) {
			t.Fatal(err)
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatal("the data is not masked anew")
		}
	}
}

func refusedMasks(t *testing.T, err error, code fault.Code) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != code || f.Rule != "masks" || f.Hint == "" {
		t.Errorf("got %+v, want %s", err, code)
	}
}

func TestMasksFollowThePolicy(t *testing.T) {
	t.Parallel()
	for name, openDB := range map[string]func(t *testing.T) (*dataset.Store, *sql.DB){
		"sqlite, files of their own": func(t *testing.T) (*dataset.Store, *sql.DB) { return open(t, t.TempDir()) },
		"postgres, logs":             func(t *testing.T) (*dataset.Store, *sql.DB) { return openOn(t, t.TempDir(), postgrestest.Start(t), 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := openDB(t)
			first := importFile(t, s, write(t, "a.ndjson", people))
			edited := importFile(t, s, write(t, "b.ndjson", `{"type":"edit","id":"E-1","field_id":"F-3","from":"111-22-3333","to":"111-22-3334","by":"pat","source":"human","at":"2026-08-03T00:00:00Z","reason":"was 111 22 3333"}`))
			full := everything(t, s, dataset.Full)
			for _, c := range []struct {
				masks   map[string]string
				fields  []string
				drivers string
				absent  []string
			}{
				{
					map[string]string{"ssn": "last4", "fein": "last4", "license_number": "last4", "date_of_birth": "year"},
					[]string{"F-1|***8901", "F-2|1976-**-**", "F-3|***3334", "F-4|***6789", "F-5|ssn ***-**-3333, fein *****6789, born **/**/1976, dob 1976-**-**"},
					"***8901|1976-01-01",
					[]string{"~"},
				},
				{
					map[string]string{"ssn": "null", "fein": "null", "license_number": "null", "date_of_birth": "null"},
					[]string{"F-1|<nil>", "F-2|<nil>", "F-3|<nil>", "F-4|<nil>", "F-5|ssn ***-**-****, fein *********, born **/**/****, dob ****-**-**"},
					"<nil>|<nil>",
					[]string{"~", "8901", "3334", "3333", "6789", "1976"},
				},
			} {
				if err := s.Enforce(t.Context(), c.masks); err != nil {
					t.Fatal(err)
				}
				// Nothing that is masked otherwise is served; the full profile isn't touched by this.
				_, _, err := s.Pin(t.Context(), "acme", dataset.Standard)
				refusedMasks(t, err, fault.Unavailable)
				if _, release, err := s.Pin(t.Context(), "acme", dataset.Full); err != nil {
					t.Error(err)
				} else {
					release()
				}
				p := untilServed(t, s)
				if p.Generation == edited.Generation {
					t.Error("the same generation is masked in two ways")
				}
				want(t, ask(t, s, dataset.Standard, maskedFields), c.fields...)
				want(t, ask(t, s, dataset.Standard, maskedDrivers), c.drivers)
				if diff := cmp.Diff(full, everything(t, s, dataset.Full)); diff != "" {
					t.Errorf("the full profile (-before +now)\n%s", diff)
				}
				var all strings.Builder
				for _, rows := range everything(t, s, dataset.Standard) {
					all.WriteString(strings.Join(rows, "\n"))
				}
				file, err := os.ReadFile(p.Path)
				if err != nil {
					t.Fatal(err)
				}
				for _, gone := range c.absent {
					if strings.Contains(all.String(), gone) || len(gone) > 1 && strings.Contains(string(file), "***"+gone) {
						t.Errorf("%q is there still", gone)
					}
				}
			}
			// What earlier answers cite is masked as it was, and so isn't shown any more.
			for _, id := range []string{first.Generation, edited.Generation} {
				_, _, err := s.PinGeneration(t.Context(), "acme", dataset.Standard, id)
				refusedMasks(t, err, fault.Denied)
				if _, release, err := s.PinGeneration(t.Context(), "acme", dataset.Full, id); err != nil {
					t.Error(err)
				} else {
					release()
				}
			}
			// What comes later is masked the same way, and so is what is built from the facts alone.
			importFile(t, s, write(t, "c.ndjson", strings.NewReplacer(`-1"`, `-2"`, `"F-`, `"G-`).Replace(people)))
			want(t, ask(t, s, dataset.Standard, "SELECT DISTINCT value FROM extracted_fields WHERE field_name = 'fein'"), "<nil>")
			if _, err := s.Rebuild(t.Context(), "acme"); err != nil {
				t.Fatal(err)
			}
			want(t, ask(t, s, dataset.Standard, "SELECT DISTINCT value FROM extracted_fields WHERE field_name <> 'notes'"), "<nil>")
			// An import after a change masks all of it, not only what comes.
			if err := s.Enforce(t.Context(), map[string]string{"ssn": "token", "fein": "token", "license_number": "token", "date_of_birth": "token"}); err != nil {
				t.Fatal(err)
			}
			importFile(t, s, write(t, "d.ndjson", strings.NewReplacer(`-1"`, `-3"`, `"F-`, `"H-`).Replace(people)))
			want(t, ask(t, s, dataset.Standard, "SELECT count(*), count(DISTINCT value), bool_and(value SIMILAR TO '\\*+~[0-9a-f]{16}') FROM extracted_fields WHERE field_name IN ('fein', 'license_number', 'date_of_birth')"), "9|3|true")
			want(t, ask(t, s, dataset.Standard, "SELECT count(*), count(DISTINCT license_number), count(date_of_birth) FROM drivers"), "3|1|0")
		})
	}
}

// A store that nobody told of a policy masks as it is built in, and a policy that says the same changes nothing.
func TestBuiltInMasksChangeNothing(t *testing.T) {
	t.Parallel()
	s, _ := open(t, t.TempDir())
	first := importFile(t, s, write(t, "a.ndjson", people))
	for _, masks := range []map[string]string{nil, {"ssn": "last4+token"}, {"ssn": "last4+token", "fein": "last4+token", "license_number": "last4+token", "date_of_birth": "year+token"}} {
		if err := s.Enforce(t.Context(), masks); err != nil {
			t.Fatal(err)
		}
		if same, err := s.InForce(t.Context(), masks); err != nil || !same {
			t.Errorf("%v: %v %v", masks, same, err)
		}
		if p := untilServed(t, s); p.Generation != first.Generation {
			t.Errorf("%v: built %s", masks, p.Generation)
		}
	}
	if same, err := s.InForce(t.Context(), map[string]string{"ssn": "null"}); err != nil || same {
		t.Errorf("other masks: %v %v", same, err)
	}
	for _, wrong := range []map[string]string{{"name": "null"}, {"ssn": "year"}, {"date_of_birth": "last4"}, {"ssn": ""}} {
		if err := s.Enforce(t.Context(), wrong); err == nil {
			t.Errorf("%v is in force", wrong)
		}
	}
}

// openOn opens a store on a database, where small imports into files of growAbove bytes or more grow a log.
func openOn(t *testing.T, dir, dsn string, growAbove int64) (*dataset.Store, *sql.DB) {
	t.Helper()
	db, dialect, err := migrations.Open(t.Context(), dsn, migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s, err := dataset.Open(dataset.Config{Dir: dir, DB: db, Dialect: dialect, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Builder: builder(t), GrowAbove: growAbove})
	if err != nil {
		t.Fatal(err)
	}
	return s, db
}
