package schedule

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/identity"
	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/migrations"
	"bordereau/migrations/postgrestest"
)

// hand is a clock that a test moves.
type hand struct {
	mu  sync.Mutex
	now time.Time
}

func (h *hand) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hand) set(t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = t
}

// mailbox takes letters, and refuses what it is told to.
type mailbox struct {
	mu      sync.Mutex
	letters []Letter
	errs    []error       // of the next attempts
	hold    chan struct{} // nil, or what an attempt waits for
	entered chan struct{}
}

func (m *mailbox) Deliver(ctx context.Context, _ Destination, l Letter) (string, error) {
	m.mu.Lock()
	m.letters = append(m.letters, l)
	var err error
	if len(m.errs) > 0 {
		err, m.errs = m.errs[0], m.errs[1:]
	}
	hold := m.hold
	m.mu.Unlock()
	if hold != nil {
		m.entered <- struct{}{}
		select {
		case <-hold:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return "taken", err
}

func (m *mailbox) all() []Letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Letter(nil), m.letters...)
}

type noFiles struct{}

func (noFiles) Open(context.Context, string, string) (io.ReadSeekCloser, int64, error) {
	return nil, 0, errors.New("no files")
}

type oneModel struct{}

func (oneModel) Names() []string { return []string{"playbook", "other"} }

// bed is a scheduler over a real journal, whose turns a test ends itself.
type bed struct {
	t       *testing.T
	db      *sql.DB
	dialect migrations.Dialect
	hand    *hand
	journal *journal.Store
	people  *identity.Directory
	store   *Store
	mail    *mailbox
	s       *Scheduler
	desk    *Desk
	kim     identity.Person
}

// TestBothEngines runs what touches the database on each of them.
func TestBothEngines(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	for name, test := range map[string]func(*testing.T, *bed){
		"deliveryIsRetriedWithBackOff":           deliveryIsRetriedWithBackOff,
		"deliveryIsGivenUpAndRetriedByAPerson":   deliveryIsGivenUpAndRetriedByAPerson,
		"deliveryOfADeadProcess":                 deliveryOfADeadProcess,
		"tickMakesOneTurnAndDelivers":            tickMakesOneTurnAndDelivers,
		"missedTicks":                            missedTicks,
		"overlappingRuns":                        overlappingRuns,
		"pauseAndResume":                         pauseAndResume,
		"disabledPersonsSchedulePausesAndSaysSo": disabledPersonsSchedulePausesAndSaysSo,
		"replicasRace":                           replicasRace,
	} {
		t.Run("sqlite/"+name, func(t *testing.T) {
			t.Parallel()
			test(t, newBed(t, filepath.Join(t.TempDir(), "journal.db")))
		})
		t.Run("postgres/"+name, func(t *testing.T) {
			t.Parallel()
			test(t, newBed(t, postgrestest.Database(t, server, strings.ToLower(name))))
		})
	}
}

func newBed(t *testing.T, dsn string) *bed {
	t.Helper()
	db, dialect, err := migrations.Open(t.Context(), dsn, migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	b := &bed{t: t, db: db, dialect: dialect, hand: &hand{now: at(t, "2026-11-30T11:00:00Z")}, mail: &mailbox{}}
	if b.people, err = identity.New(identity.Config{DB: db, Now: b.hand.Now}); err != nil {
		t.Fatal(err)
	}
	if err := b.people.PutOrganisation(t.Context(), identity.Organisation{ID: "acme", Name: "Acme"}); err != nil {
		t.Fatal(err)
	}
	if b.kim, err = b.people.PutPerson(t.Context(), identity.Person{Org: "acme", Email: "kim@acme.example", Name: "Kim", Role: identity.Underwriter}); err != nil {
		t.Fatal(err)
	}
	b.s, b.store, b.journal = b.replica()
	if b.desk, err = NewDesk(DeskConfig{Store: b.store, Scheduler: b.s, Models: oneModel{}, People: b.people, NewID: uuid.NewString, Now: b.hand.Now}); err != nil {
		t.Fatal(err)
	}
	return b
}

// replica is another scheduler over the same database.
func (b *bed) replica() (*Scheduler, *Store, *journal.Store) {
	b.t.Helper()
	j, err := journal.Open(journal.Config{DB: b.db, Dialect: b.dialect, NewID: uuid.NewString, Now: b.hand.Now})
	if err != nil {
		b.t.Fatal(err)
	}
	st, err := NewStore(StoreConfig{DB: b.db, NewID: uuid.NewString})
	if err != nil {
		b.t.Fatal(err)
	}
	s, err := New(Config{
		Store: st, Journal: j, People: b.people, Files: noFiles{}, Deliverers: map[Kind]Deliverer{Email: b.mail, Webhook: b.mail}, Wake: func() {},
		NewID: uuid.NewString, Log: slog.New(slog.NewTextHandler(b.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})), Now: b.hand.Now, Jitter: func() float64 { return 0 },
		BackOffs: []time.Duration{time.Minute, 5 * time.Minute},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return s, st, j
}

func daily() Draft {
	return Draft{Name: "Daily", Task: "Reconcile yesterday's submissions", Cron: "30 6 * * *", Zone: "America/New_York", Deliver: []Destination{{Email, "kim@acme.example"}}}
}

func (b *bed) create(d Draft) Schedule {
	b.t.Helper()
	v, err := b.desk.Create(b.t.Context(), "acme", b.kim.ID, d, false)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

func (b *bed) passAt(when string) {
	b.t.Helper()
	b.hand.set(at(b.t, when))
	b.s.pass(b.t.Context())
}

func (b *bed) runs(v Schedule) []Run {
	b.t.Helper()
	runs, err := b.desk.History(b.t.Context(), "acme", v.ID, time.Time{}, 100)
	if err != nil {
		b.t.Fatal(err)
	}
	return runs
}

// states is the history as text, the newest first.
func (b *bed) states(v Schedule) string {
	b.t.Helper()
	var all []string
	for _, r := range b.runs(v) {
		all = append(all, string(r.State))
	}
	return strings.Join(all, " ")
}

func (b *bed) expect(v Schedule, want string) {
	b.t.Helper()
	if got := b.states(v); got != want {
		b.t.Errorf("history %q, want %q", got, want)
	}
}

// end claims the turn that waits and ends it; findings below 0 makes no reconciliation.
func (b *bed) end(o journal.Outcome, findings int) journal.Turn {
	b.t.Helper()
	ctx := b.t.Context()
	turn, err := b.journal.Claim(ctx, "test")
	if err != nil {
		b.t.Fatal(err)
	}
	l := journal.Lease{Turn: turn.ID, Epoch: turn.Epoch}
	if findings >= 0 {
		if _, err := b.journal.BeginStep(ctx, l, journal.Intent{N: 1, Kind: journal.ToolStep, Name: "reconcile", Request: json.RawMessage(`{}`)}); err != nil {
			b.t.Fatal(err)
		}
		answer, err := json.Marshal(map[string]any{"finding_count": findings})
		if err != nil {
			b.t.Fatal(err)
		}
		result, err := json.Marshal(map[string]any{"text": string(answer)})
		if err != nil {
			b.t.Fatal(err)
		}
		if _, err := b.journal.FinishStep(ctx, l, journal.End{N: 1, Attempt: 1, State: journal.Finished, Result: result}); err != nil {
			b.t.Fatal(err)
		}
	}
	if _, err := b.journal.FinishTurn(ctx, l, journal.Ending{Outcome: o, Answer: &journal.Message{
		ID: "answer-" + turn.ID, Content: model.Message{Role: model.Assistant, Blocks: []model.Block{{Kind: model.Text, Text: "There are findings."}}},
	}}); err != nil {
		b.t.Fatal(err)
	}
	return turn
}
