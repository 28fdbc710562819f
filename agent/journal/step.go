package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"bordereau/agent/model"
)

// Intent announces a step before its side effect.
type Intent struct {
	N       int
	Kind    StepKind
	Name    string
	Request json.RawMessage
	Chunk   Chunk  // events to be published when the intent is stored
	Reserve int64  // how many more events may be published before the step's end is stored
	Take    bool   // take the messages that wait: they come before this step
	Unknown Charge // charge for an earlier attempt whose end nobody saw; used when it has no row
	Marks   []Mark
}

// Begun is what storing an Intent brought.
type Begun struct {
	Step   Step
	Taken  []Message
	Cancel bool
}

// BeginStep stores an intent. A step that was begun before gets its next attempt; one that is done is ErrConflict: read it instead.
func (s *Store) BeginStep(ctx context.Context, l Lease, in Intent) (out Begun, err error) {
	if in.N < 1 || in.Kind != ModelStep && in.Kind != ToolStep {
		return out, fmt.Errorf("%w: an intent needs a number and a kind", ErrInvalid)
	}
	err = s.write(ctx, "beginning a step", func(tx *sql.Tx) error {
		out, err = s.beginStep(ctx, tx, l, in)
		return err
	})
	return out, err
}

func (s *Store) beginStep(ctx context.Context, tx *sql.Tx, l Lease, in Intent) (out Begun, err error) {
	if in.Take { // lock order: a conversation before its turn
		if _, err := tx.ExecContext(ctx, `UPDATE conversations SET updated = $1 WHERE id = (SELECT conversation FROM turns WHERE id = $2)`, micros(s.now()), l.Turn); err != nil {
			return out, err
		}
	}
	beat, err := s.hold(ctx, tx, l)
	if err != nil {
		return out, err
	}
	out.Cancel = beat.Cancel
	now := micros(s.now())
	was, err := scanStep(tx.QueryRowContext(ctx, `SELECT `+stepColumns+` FROM steps WHERE turn = $1 AND n = $2`, l.Turn, in.N))
	switch {
	case errors.Is(err, ErrNotFound):
		_, err = tx.ExecContext(ctx, `INSERT INTO steps (turn, n, kind, name, state, epoch, attempt, request, started) VALUES ($1, $2, $3, $4, 'started', $5, 1, $6, $7)`,
			l.Turn, in.N, string(in.Kind), in.Name, l.Epoch, string(in.Request), now)
	case err != nil:
	case was.State == Finished:
		return out, fmt.Errorf("%w: step %d is done", ErrConflict, in.N)
	default:
		if err = s.giveUp(ctx, tx, l, was, in.Unknown, now); err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE steps SET name = $1, state = 'started', epoch = $2, attempt = attempt + 1, request = $3, error_class = '', ended = 0
				WHERE turn = $4 AND n = $5`, in.Name, l.Epoch, string(in.Request), l.Turn, in.N)
		}
	}
	if err != nil {
		return out, err
	}
	if out.Step, err = scanStep(tx.QueryRowContext(ctx, `SELECT `+stepColumns+` FROM steps WHERE turn = $1 AND n = $2`, l.Turn, in.N)); err != nil {
		return out, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO attempts (turn, n, attempt, epoch, state, started) VALUES ($1, $2, $3, $4, 'started', $5)`,
		l.Turn, in.N, out.Step.Attempt, l.Epoch, now); err != nil {
		return out, err
	}
	if err := s.insertChunk(ctx, tx, l, in.Chunk, in.Reserve); err != nil {
		return out, err
	}
	if err := insertMarks(ctx, tx, l.Turn, l.Epoch, in.Marks); err != nil {
		return out, err
	}
	if in.Take {
		out.Taken, err = takeMessages(ctx, tx, l.Turn, in.N-1)
	}
	return out, err
}

// giveUp closes the attempt that its runner left open, and sees that a model attempt is charged even so.
func (s *Store) giveUp(ctx context.Context, tx *sql.Tx, l Lease, was Step, unknown Charge, now int64) error {
	if was.State != Started {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `UPDATE attempts SET state = 'failed', error_class = 'interrupted', error = 'the runner was lost before the end', ended = $1
		WHERE turn = $2 AND n = $3 AND attempt = $4 AND state = 'started'`, now, l.Turn, was.N, was.Attempt); err != nil {
		return err
	}
	if was.Kind != ModelStep {
		return nil
	}
	unknown.Turn, unknown.N, unknown.Attempt, unknown.Model, unknown.Estimated = l.Turn, was.N, was.Attempt, was.Name, true
	return s.charge(ctx, tx, unknown, false)
}

func takeMessages(ctx context.Context, tx *sql.Tx, turn string, after int) ([]Message, error) {
	waiting, err := collect(ctx, tx, scanMessage, `SELECT `+messageColumns+` FROM messages m JOIN turns t ON t.conversation = m.conversation
		WHERE t.id = $1 AND m.turn = '' ORDER BY m.position`, turn)
	if err != nil {
		return nil, err
	}
	for i := range waiting {
		waiting[i].Turn, waiting[i].AfterStep = turn, after
		if _, err := tx.ExecContext(ctx, `UPDATE messages SET turn = $1, after_step = $2 WHERE conversation = $3 AND id = $4`,
			turn, after, waiting[i].Conversation, waiting[i].ID); err != nil {
			return nil, err
		}
	}
	return waiting, nil
}

// FirstByte records that a model attempt was accepted: it will be billed, whatever becomes of it, so it is charged by what
// is known now. The end of the step replaces that charge.
func (s *Store) FirstByte(ctx context.Context, l Lease, n, attempt int, modelName string, known model.Usage) error {
	return s.write(ctx, "recording a first byte", func(tx *sql.Tx) error {
		if _, err := s.hold(ctx, tx, l); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE attempts SET first_byte = $1 WHERE turn = $2 AND n = $3 AND attempt = $4 AND state = 'started' AND first_byte = 0`,
			micros(s.now()), l.Turn, n, attempt); err != nil {
			return err
		}
		return s.charge(ctx, tx, Charge{Turn: l.Turn, N: n, Attempt: attempt, Model: modelName, Usage: known, Estimated: true}, false)
	})
}

// charge writes one row of the ledger, which has room for one an attempt. final replaces an estimate, never a final row.
func (s *Store) charge(ctx context.Context, tx *sql.Tx, c Charge, final bool) error {
	conflict := `DO NOTHING`
	if final {
		conflict = `(turn, n, attempt) DO UPDATE SET input = excluded.input, output = excluded.output, cache_read = excluded.cache_read,
			cache_write = excluded.cache_write, cost_micros = excluded.cost_micros, estimated = excluded.estimated, at = excluded.at WHERE ledger.estimated`
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO ledger (turn, n, attempt, org, person, model, input, output, cache_read, cache_write, cost_micros, estimated, at)
		SELECT $1, CAST($2 AS BIGINT), CAST($3 AS BIGINT), org, person, $4, CAST($5 AS BIGINT), CAST($6 AS BIGINT), CAST($7 AS BIGINT), CAST($8 AS BIGINT), CAST($9 AS BIGINT), CAST($10 AS BOOLEAN), CAST($11 AS BIGINT)
		FROM turns WHERE id = $12 ON CONFLICT `+conflict,
		c.Turn, c.N, c.Attempt, c.Model, c.Usage.Input, c.Usage.Output, c.Usage.CacheRead, c.Usage.CacheWrite, c.Usage.CostMicros, c.Estimated, micros(s.now()), c.Turn)
	return err
}

// End is how an attempt of a step ended.
type End struct {
	N          int
	Attempt    int
	State      StepState // Finished or StepFail; a failed step may be begun again
	Result     json.RawMessage
	ErrorClass string
	Error      string
	FirstByte  time.Time
	Charge     *Charge // of a model step
	Chunk      Chunk   // the step's events, published or about to be
	Artifacts  []Artifact
	Marks      []Mark
}

// FinishStep stores an attempt's end with its charge, events and artifacts, in one transaction. It returns the artifacts as
// they are stored.
func (s *Store) FinishStep(ctx context.Context, l Lease, e End) (stored []Artifact, err error) {
	if e.State != Finished && e.State != StepFail {
		return nil, fmt.Errorf("%w: a step ends done or failed", ErrInvalid)
	}
	err = s.write(ctx, "finishing a step", func(tx *sql.Tx) error {
		stored, err = s.finishStep(ctx, tx, l, e)
		return err
	})
	return stored, err
}

func (s *Store) finishStep(ctx context.Context, tx *sql.Tx, l Lease, e End) ([]Artifact, error) {
	if _, err := s.hold(ctx, tx, l); err != nil {
		return nil, err
	}
	now := micros(s.now())
	res, err := tx.ExecContext(ctx, `UPDATE steps SET state = $1, result = $2, error_class = $3, ended = $4 WHERE turn = $5 AND n = $6 AND attempt = $7 AND epoch = $8 AND state = 'started'`,
		string(e.State), string(e.Result), e.ErrorClass, now, l.Turn, e.N, e.Attempt, l.Epoch)
	if err != nil {
		return nil, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return nil, errors.Join(err, fmt.Errorf("%w: step %d attempt %d isn't open", ErrConflict, e.N, e.Attempt))
	}
	if _, err := tx.ExecContext(ctx, `UPDATE attempts SET state = $1, error_class = $2, error = $3, ended = $4,
		first_byte = CASE WHEN first_byte = 0 THEN $5 ELSE first_byte END WHERE turn = $6 AND n = $7 AND attempt = $8`,
		string(e.State), e.ErrorClass, e.Error, now, micros(e.FirstByte), l.Turn, e.N, e.Attempt); err != nil {
		return nil, err
	}
	if e.State == Finished {
		if _, err := tx.ExecContext(ctx, `UPDATE turns SET idle_claims = 0 WHERE id = $1`, l.Turn); err != nil {
			return nil, err
		}
	}
	if e.Charge != nil {
		c := *e.Charge
		c.Turn, c.N, c.Attempt = l.Turn, e.N, e.Attempt
		if err := s.charge(ctx, tx, c, true); err != nil {
			return nil, err
		}
	}
	if err := s.insertChunk(ctx, tx, l, e.Chunk, 0); err != nil {
		return nil, err
	}
	stored, err := s.insertArtifacts(ctx, tx, l, e.Artifacts)
	if err != nil {
		return nil, err
	}
	return stored, insertMarks(ctx, tx, l.Turn, l.Epoch, e.Marks)
}

// insertArtifacts keeps the newest content of each name; ids that are set are kept.
func (s *Store) insertArtifacts(ctx context.Context, tx *sql.Tx, l Lease, all []Artifact) ([]Artifact, error) {
	stored := make([]Artifact, 0, len(all))
	for _, a := range all {
		if a.ID == "" {
			a.ID = s.newID()
		}
		kept, err := scanArtifact(tx.QueryRowContext(ctx, `INSERT INTO artifacts (id, org, conversation, turn, name, media_type, size, sha256, run, created)
			SELECT $1, org, conversation, id, $2, $3, CAST($4 AS BIGINT), $5, CAST($6 AS TEXT), CAST($7 AS BIGINT) FROM turns WHERE id = $8
			ON CONFLICT (turn, name) DO UPDATE SET media_type = excluded.media_type, size = excluded.size, sha256 = excluded.sha256, run = excluded.run
			RETURNING `+artifactColumns, a.ID, a.Name, a.MediaType, a.Size, a.SHA256, a.Run, micros(s.now()), l.Turn))
		if err != nil {
			return nil, err
		}
		stored = append(stored, kept)
	}
	return stored, nil
}
