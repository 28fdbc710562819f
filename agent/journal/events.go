package journal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// codec packs events: one line of JSON each, compressed. Both halves are safe for concurrent use.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func (c codec) pack(events []json.RawMessage) []byte {
	size := 0
	for _, e := range events {
		size += len(e) + 1
	}
	b := make([]byte, 0, size)
	for _, e := range events {
		b = append(b, e...)
		b = append(b, '\n')
	}
	return c.enc.EncodeAll(b, make([]byte, 0, size/4+64))
}

func (c codec) unpack(body []byte) ([]json.RawMessage, error) {
	b, err := c.dec.DecodeAll(body, nil)
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	events := make([]json.RawMessage, len(lines))
	for i, line := range lines {
		events[i] = line
	}
	return events, nil
}

// insertChunk keeps events under the lease's epoch and raises the turn's event mark to cover reserve more.
func (s *Store) insertChunk(ctx context.Context, tx *sql.Tx, l Lease, c Chunk, reserve int64) error {
	if len(c.Events) > 0 {
		if _, err := tx.ExecContext(ctx, `INSERT INTO events (turn, first_seq, last_seq, epoch, body) VALUES ($1, $2, $3, $4, $5)`,
			l.Turn, c.First, c.Last(), l.Epoch, s.codec.pack(c.Events)); err != nil {
			return err
		}
	}
	if len(c.Events) == 0 && reserve == 0 {
		return nil
	}
	return raiseMark(ctx, tx, l.Turn, c.Last()+reserve)
}

func raiseMark(ctx context.Context, q querier, turn string, mark int64) error {
	_, err := q.ExecContext(ctx, `UPDATE turns SET event_mark = $1 WHERE id = $2 AND event_mark < $3`, mark, turn, mark)
	return err
}

// RaiseMark promises that no event with a sequence number above mark is published before the next promise.
// A runner that takes over and finds the buffer lost numbers its own events above it.
func (s *Store) RaiseMark(ctx context.Context, l Lease, mark int64) error {
	return s.write(ctx, "raising the event mark", func(tx *sql.Tx) error {
		if _, err := s.hold(ctx, tx, l); err != nil {
			return err
		}
		return raiseMark(ctx, tx, l.Turn, mark)
	})
}

// Chunks returns the events of a turn that its finished steps published, after a sequence number. Between chunks there may be
// gaps: events of an attempt that was given up.
func (s *Store) Chunks(ctx context.Context, turn string, after int64) ([]Chunk, error) {
	all, err := collect(ctx, s.db, func(r scanner) (c Chunk, err error) {
		var body []byte
		if err := r.Scan(&c.First, &c.Epoch, &body); err != nil {
			return c, err
		}
		c.Events, err = s.codec.unpack(body)
		return c, err
	}, `SELECT first_seq, epoch, body FROM events WHERE turn = $1 AND last_seq > $2 ORDER BY first_seq`, turn, after)
	if err != nil {
		return nil, fmt.Errorf("reading events of turn %s: %w", turn, err)
	}
	return all, nil
}

// LastSeq is the sequence number of the last event that Chunks has, 0 for none.
func (s *Store) LastSeq(ctx context.Context, turn string) (seq int64, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT COALESCE(MAX(last_seq), 0) FROM events WHERE turn = $1`, turn).Scan(&seq)
	return seq, err
}
