package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const turnColumns = `id, org, conversation, person, role, model, cause, status, outcome, runner, epoch, lease_until, idle_claims, cancel, event_mark, created, started, ended, deadline, today`

func scanTurn(r scanner) (t Turn, err error) {
	var status, outcome string
	var lease, created, started, ended, deadline int64
	if err := r.Scan(&t.ID, &t.Org, &t.Conversation, &t.Person, &t.Role, &t.Model, &t.Cause, &status, &outcome, &t.Runner, &t.Epoch, &lease,
		&t.IdleClaims, &t.Cancel, &t.EventMark, &created, &started, &ended, &deadline, &t.Today); err != nil {
		return t, missing(err)
	}
	t.LeaseUntil, t.Created, t.Started, t.Ended, t.Deadline = moment(lease), moment(created), moment(started), moment(ended), moment(deadline)
	if outcome != "" {
		if err := json.Unmarshal([]byte(outcome), &t.Outcome); err != nil {
			return t, fmt.Errorf("outcome of turn %s: %w", t.ID, err)
		}
	}
	t.Outcome.Status = Status(status)
	return t, nil
}

// Turn returns one turn of o.Org.
func (s *Store) Turn(ctx context.Context, o Owner, id string) (Turn, error) {
	return scanTurn(s.db.QueryRowContext(ctx, `SELECT `+turnColumns+` FROM turns WHERE id = $1 AND org = $2`, id, o.Org))
}

// Turns lists a conversation's turns, the newest first. Page.Before refers to Turn.Created.
func (s *Store) Turns(ctx context.Context, o Owner, conversation string, p Page) ([]Turn, error) {
	if _, err := s.Conversation(ctx, o, conversation); err != nil {
		return nil, err
	}
	return collect(ctx, s.db, scanTurn, `SELECT `+turnColumns+` FROM turns WHERE conversation = $1 AND created < $2 ORDER BY created DESC, id LIMIT $3`,
		conversation, p.before(), p.limit())
}

// LastTurn returns a conversation's newest turn: the live one, if one is live. ErrNotFound when it has none.
func (s *Store) LastTurn(ctx context.Context, o Owner, conversation string) (Turn, error) {
	return scanTurn(s.db.QueryRowContext(ctx, `SELECT `+turnColumns+` FROM turns WHERE conversation = $1 AND org = $2
		ORDER BY CASE WHEN status IN ('queued', 'running') THEN 0 ELSE 1 END, created DESC LIMIT 1`, conversation, o.Org))
}

// Find returns a turn whoever owns it: for operators and for the runner, never for a request.
func (s *Store) Find(ctx context.Context, id string) (Turn, error) {
	return scanTurn(s.db.QueryRowContext(ctx, `SELECT `+turnColumns+` FROM turns WHERE id = $1`, id))
}

// TurnLive tells whether a turn runs under that epoch; it makes the Store a turntoken.Liveness.
func (s *Store) TurnLive(ctx context.Context, turn string, epoch int64) (bool, error) {
	t, err := s.Find(ctx, turn)
	switch {
	case errors.Is(err, ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	}
	return t.Outcome.Status == Running && t.Epoch == epoch, nil
}

const stepColumns = `turn, n, kind, name, state, epoch, attempt, request, result, error_class, started, ended`

func scanStep(r scanner) (st Step, err error) {
	var kind, state, request, result string
	var started, ended int64
	err = r.Scan(&st.Turn, &st.N, &kind, &st.Name, &state, &st.Epoch, &st.Attempt, &request, &result, &st.ErrorClass, &started, &ended)
	st.Kind, st.State, st.Started, st.Ended = StepKind(kind), StepState(state), moment(started), moment(ended)
	if request != "" {
		st.Request = json.RawMessage(request)
	}
	if result != "" {
		st.Result = json.RawMessage(result)
	}
	return st, missing(err)
}

// Steps lists a turn's steps in order.
func (s *Store) Steps(ctx context.Context, o Owner, turn string) ([]Step, error) {
	if _, err := s.Turn(ctx, o, turn); err != nil {
		return nil, err
	}
	return s.StepsOf(ctx, turn)
}

// StepsOf is Steps whoever owns the turn: for the runner and operators.
func (s *Store) StepsOf(ctx context.Context, turn string) ([]Step, error) {
	return collect(ctx, s.db, scanStep, `SELECT `+stepColumns+` FROM steps WHERE turn = $1 ORDER BY n`, turn)
}

// Attempts lists every try of every step of a turn.
func (s *Store) Attempts(ctx context.Context, o Owner, turn string) ([]Attempt, error) {
	if _, err := s.Turn(ctx, o, turn); err != nil {
		return nil, err
	}
	return s.AttemptsOf(ctx, turn)
}

// AttemptsOf is Attempts whoever owns the turn.
func (s *Store) AttemptsOf(ctx context.Context, turn string) ([]Attempt, error) {
	scan := func(r scanner) (a Attempt, err error) {
		var state string
		var started, first, ended int64
		err = r.Scan(&a.Turn, &a.N, &a.Attempt, &a.Epoch, &state, &a.ErrorClass, &a.Error, &started, &first, &ended)
		a.State, a.Started, a.FirstByte, a.Ended = StepState(state), moment(started), moment(first), moment(ended)
		return a, err
	}
	return collect(ctx, s.db, scan, `SELECT turn, n, attempt, epoch, state, error_class, error, started, first_byte, ended FROM attempts
		WHERE turn = $1 ORDER BY n, attempt`, turn)
}

// Charges lists a turn's ledger.
func (s *Store) Charges(ctx context.Context, o Owner, turn string) ([]Charge, error) {
	if _, err := s.Turn(ctx, o, turn); err != nil {
		return nil, err
	}
	return s.ChargesOf(ctx, turn)
}

// ChargesOf is Charges whoever owns the turn.
func (s *Store) ChargesOf(ctx context.Context, turn string) ([]Charge, error) {
	scan := func(r scanner) (c Charge, err error) {
		var at int64
		err = r.Scan(&c.Turn, &c.N, &c.Attempt, &c.Model, &c.Usage.Input, &c.Usage.Output, &c.Usage.CacheRead, &c.Usage.CacheWrite, &c.Usage.CostMicros, &c.Estimated, &at)
		c.At = moment(at)
		return c, err
	}
	return collect(ctx, s.db, scan, `SELECT turn, n, attempt, model, input, output, cache_read, cache_write, cost_micros, estimated, at FROM ledger
		WHERE turn = $1 ORDER BY n, attempt`, turn)
}

// Marks lists a turn's timeline.
func (s *Store) Marks(ctx context.Context, o Owner, turn string) ([]Mark, error) {
	if _, err := s.Turn(ctx, o, turn); err != nil {
		return nil, err
	}
	return s.MarksOf(ctx, turn)
}

// MarksOf is Marks whoever owns the turn.
func (s *Store) MarksOf(ctx context.Context, turn string) ([]Mark, error) {
	scan := func(r scanner) (m Mark, err error) {
		var at, took int64
		err = r.Scan(&at, &m.N, &m.Epoch, &m.Kind, &took, &m.Note)
		m.At, m.Took = moment(at), time.Duration(took)*time.Microsecond
		return m, err
	}
	return collect(ctx, s.db, scan, `SELECT at, n, epoch, kind, took, note FROM marks WHERE turn = $1 ORDER BY at, n`, turn)
}

func insertMarks(ctx context.Context, q querier, turn string, epoch int64, marks []Mark) error {
	for _, m := range marks {
		if _, err := q.ExecContext(ctx, `INSERT INTO marks (turn, at, n, epoch, kind, took, note) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			turn, micros(m.At), m.N, epoch, m.Kind, m.Took.Microseconds(), m.Note); err != nil {
			return err
		}
	}
	return nil
}

const artifactColumns = `id, org, conversation, turn, name, media_type, size, sha256, run, created`

func scanArtifact(r scanner) (a Artifact, err error) {
	var created int64
	err = r.Scan(&a.ID, &a.Org, &a.Conversation, &a.Turn, &a.Name, &a.MediaType, &a.Size, &a.SHA256, &a.Run, &created)
	a.Created = moment(created)
	return a, missing(err)
}

// Artifact returns one artifact of o.Org.
func (s *Store) Artifact(ctx context.Context, o Owner, id string) (Artifact, error) {
	return scanArtifact(s.db.QueryRowContext(ctx, `SELECT `+artifactColumns+` FROM artifacts WHERE id = $1 AND org = $2`, id, o.Org))
}

// Artifacts lists what a conversation's turns delivered.
func (s *Store) Artifacts(ctx context.Context, o Owner, conversation string) ([]Artifact, error) {
	if _, err := s.Conversation(ctx, o, conversation); err != nil {
		return nil, err
	}
	return collect(ctx, s.db, scanArtifact, `SELECT `+artifactColumns+` FROM artifacts
		WHERE org = $1 AND conversation = $2 ORDER BY created, name`, o.Org, conversation)
}

// ArtifactsOf lists what one turn delivered, whoever owns it.
func (s *Store) ArtifactsOf(ctx context.Context, turn string) ([]Artifact, error) {
	return collect(ctx, s.db, scanArtifact, `SELECT `+artifactColumns+` FROM artifacts WHERE turn = $1 ORDER BY created, name`, turn)
}
