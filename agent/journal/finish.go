package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// Ending is the end of a turn.
type Ending struct {
	Outcome   Outcome
	Answer    *Message // the answer to keep in the conversation; ID, Content, UI and AfterStep are used
	Chunk     Chunk    // the last events, the terminal one among them
	Artifacts []Artifact
	Marks     []Mark
}

// FinishTurn stores the end of a turn with its terminal event, in one transaction. When messages still wait, it queues the
// turn that answers them and returns it.
func (s *Store) FinishTurn(ctx context.Context, l Lease, e Ending) (next *Turn, err error) {
	if e.Outcome.Status.Live() || e.Outcome.Status == "" {
		return nil, fmt.Errorf("%w: a turn ends with a terminal status", ErrInvalid)
	}
	err = s.write(ctx, "finishing a turn", func(tx *sql.Tx) error {
		next, err = s.finishTurn(ctx, tx, l, e)
		return err
	})
	return next, err
}

func (s *Store) finishTurn(ctx context.Context, tx *sql.Tx, l Lease, e Ending) (*Turn, error) {
	now := s.now()
	// Lock order: the conversation before its turn, as in post.
	if _, err := tx.ExecContext(ctx, `UPDATE conversations SET updated = $1 WHERE id = (SELECT conversation FROM turns WHERE id = $2)`, micros(now), l.Turn); err != nil {
		return nil, err
	}
	if _, err := s.hold(ctx, tx, l); err != nil {
		return nil, err
	}
	outcome, err := json.Marshal(e.Outcome)
	if err != nil {
		return nil, err
	}
	t, err := scanTurn(tx.QueryRowContext(ctx, `UPDATE turns SET status = $1, outcome = $2, ended = $3 WHERE id = $4 RETURNING `+turnColumns,
		string(e.Outcome.Status), string(outcome), micros(now), l.Turn))
	if err != nil {
		return nil, err
	}
	if err := s.closeSteps(ctx, tx, l, e.Outcome, micros(now)); err != nil {
		return nil, err
	}
	if err := s.insertChunk(ctx, tx, l, e.Chunk, 0); err != nil {
		return nil, err
	}
	if _, err := s.insertArtifacts(ctx, tx, l, e.Artifacts); err != nil {
		return nil, err
	}
	if err := insertMarks(ctx, tx, l.Turn, l.Epoch, append(e.Marks, Mark{At: now, Kind: "ended", Note: string(e.Outcome.Status)})); err != nil {
		return nil, err
	}
	if e.Answer != nil {
		m := *e.Answer
		m.Conversation, m.Turn, m.Created = t.Conversation, t.ID, now
		content, err := json.Marshal(m.Content)
		if err != nil {
			return nil, err
		}
		if err := insertMessage(ctx, tx, &m, string(content)); err != nil {
			return nil, err
		}
	}
	return s.queueNext(ctx, tx, t)
}

// closeSteps leaves no step open behind an ended turn; an open model attempt stays charged by its estimate.
func (s *Store) closeSteps(ctx context.Context, tx *sql.Tx, l Lease, o Outcome, now int64) error {
	class := "interrupted"
	if o.Status == Cancelled {
		class = "cancelled"
	}
	if _, err := tx.ExecContext(ctx, `UPDATE steps SET state = 'failed', error_class = $1, ended = $2 WHERE turn = $3 AND state = 'started'`, class, now, l.Turn); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE attempts SET state = 'failed', error_class = $1, ended = $2 WHERE turn = $3 AND state = 'started'`, class, now, l.Turn)
	return err
}

// queueNext makes the turn for messages that came too late for t.
func (s *Store) queueNext(ctx context.Context, tx *sql.Tx, t Turn) (*Turn, error) {
	var waiting int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM messages WHERE conversation = $1 AND turn = ''`, t.Conversation).Scan(&waiting); err != nil || waiting == 0 {
		return nil, err
	}
	next := Turn{
		ID: s.newID(), Org: t.Org, Conversation: t.Conversation, Person: t.Person, Role: t.Role, Model: t.Model, Cause: t.Cause,
		Outcome: Outcome{Status: Queued}, Created: s.now(),
	}
	if err := insertTurn(ctx, tx, next); err != nil {
		return nil, err
	}
	_, err := tx.ExecContext(ctx, `UPDATE messages SET turn = $1 WHERE conversation = $2 AND turn = ''`, next.ID, t.Conversation)
	return &next, err
}

// History returns what a turn answers and what was said before: the conversation's messages that this turn or an earlier one
// took, in order. It is for the runner.
func (s *Store) History(ctx context.Context, t Turn) ([]Message, error) {
	all, err := collect(ctx, s.db, scanMessage, `SELECT `+messageColumns+` FROM messages m WHERE m.conversation = $1 AND m.turn <> '' ORDER BY m.position`, t.Conversation)
	if err != nil {
		return nil, fmt.Errorf("reading the history of turn %s: %w", t.ID, err)
	}
	return all, nil
}
