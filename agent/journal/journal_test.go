package journal_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/journal"
	"bordereau/agent/journal/journaltest"
	"bordereau/agent/model"
	"bordereau/migrations"
	"bordereau/migrations/postgrestest"
)

func TestSQLite(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, filepath.Join(t.TempDir(), "journal.db"))
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, postgrestest.Start(t))
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if _, err := journal.Open(journal.Config{}); !errors.Is(err, journal.ErrConfig) {
		t.Error(err)
	}
}

// BenchmarkStep is one step: two transactions with a charge and events.
func BenchmarkStep(b *testing.B) {
	for name, dsn := range map[string]string{"sqlite": filepath.Join(b.TempDir(), "journal.db"), "postgres": postgrestest.Start(b)} {
		b.Run(name, func(b *testing.B) {
			db, dialect, err := migrations.Open(b.Context(), dsn, migrations.Journal)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			s, err := journal.Open(journal.Config{DB: db, Dialect: dialect, NewID: uuid.NewString, LeaseTTL: time.Hour})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Post(b.Context(), journal.Post{
				Owner: journal.Owner{Org: "o", Person: "p", Role: "r"}, Conversation: uuid.NewString(), Create: true,
				Content: model.Message{Role: model.User, Blocks: []model.Block{{Kind: model.Text, Text: "x"}}},
			}); err != nil {
				b.Fatal(err)
			}
			t, err := s.Claim(b.Context(), "r")
			if err != nil {
				b.Fatal(err)
			}
			l := journal.Lease{Turn: t.ID, Epoch: t.Epoch}
			events := []json.RawMessage{json.RawMessage(`{"type":"text-delta","id":"1-1","delta":"words"}`), json.RawMessage(`{"type":"finish-step"}`)}
			n := 0
			for b.Loop() {
				n++
				if _, err := s.BeginStep(b.Context(), l, journal.Intent{N: n, Kind: journal.ModelStep, Name: "m", Request: json.RawMessage(`{}`), Take: true}); err != nil {
					b.Fatal(err)
				}
				if _, err := s.FinishStep(b.Context(), l, journal.End{
					N: n, Attempt: 1, State: journal.Finished, Result: json.RawMessage(`{}`), Charge: &journal.Charge{Model: "m"},
					Chunk: journal.Chunk{First: int64(2*n - 1), Events: events},
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
