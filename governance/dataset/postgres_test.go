package dataset_test

import (
	"log/slog"
	"testing"
	"time"

	"bordereau/governance/dataset"
	"bordereau/migrations"
	"bordereau/migrations/postgrestest"
)

// The same SQL text on the other engine.
func TestPostgresKeepsTheLedger(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.Start(t)
	db, dialect, err := migrations.Open(t.Context(), dsn, migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s, err := dataset.Open(dataset.Config{Dir: t.TempDir(), DB: db, Dialect: dialect, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Builder: builder(t)})
	if err != nil {
		t.Fatal(err)
	}
	importFile(t, s, sample(t, t.TempDir(), 1))
	importFile(t, s, sample(t, t.TempDir(), 2))
	want(t, ask(t, s, dataset.Standard, "SELECT count(*) FROM submissions"), "2")
	if f, m, err := s.Document(t.Context(), "acme", "D-1-1"); err != nil || m.Bytes != 14 || f.Close() != nil {
		t.Errorf("%+v %v", m, err)
	}
	if _, err := s.Rebuild(t.Context(), "acme"); err != nil {
		t.Error(err)
	}
	if gone, err := s.Retire(t.Context(), "acme", 1); err != nil || len(gone.Generations) != 2 {
		t.Errorf("%+v %v", gone, err)
	}
	if orgs, err := s.Organisations(t.Context()); err != nil || len(orgs) != 1 {
		t.Errorf("%+v %v", orgs, err)
	}
}
