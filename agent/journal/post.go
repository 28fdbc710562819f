package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"bordereau/agent/model"
)

// MaxMessage bounds a person's message, in bytes of text.
const MaxMessage = 256 << 10

// Post is a person's message to a conversation.
type Post struct {
	Owner        Owner
	Conversation string
	Create       bool   // make the conversation when there is none
	Title        string // of a conversation that it makes; "" is the message's first line
	MessageID    string // "": a new one; posting the same id again returns the first answer
	Content      model.Message
	Model        string // of a new turn; "" is the default
	Cause        string // of a new turn: "chat", "schedule", "api"; "" is "chat"
	Today        string // of a new turn: see Turn.Today
	Deadline     time.Time
	RefuseBusy   bool // ErrBusy when a turn is live, instead of letting it take the message
}

// Posted is what came of it.
type Posted struct {
	Conversation Conversation
	Message      Message
	Turn         Turn // the new turn, or the live one
	Joined       bool // a turn was live: it takes the message at its next step
	Again        bool // this message id was posted before; nothing changed
}

// Post stores the message and, unless a turn of the conversation is live, a queued turn, in one transaction.
func (s *Store) Post(ctx context.Context, p Post) (Posted, error) {
	return s.PostWith(ctx, p, func(*sql.Tx, Posted) error { return nil })
}

// PostWith is Post that stores something of its caller in the same transaction: both are there afterwards, or neither. also must
// be free of effects outside the transaction.
func (s *Store) PostWith(ctx context.Context, p Post, also func(tx *sql.Tx, posted Posted) error) (out Posted, err error) {
	if err := p.Check(); err != nil {
		return out, err
	}
	if p.MessageID == "" {
		p.MessageID = s.newID()
	}
	err = s.write(ctx, "posting a message", func(tx *sql.Tx) error {
		if out, err = s.post(ctx, tx, p); err != nil {
			return err
		}
		return also(tx, out)
	})
	return out, err
}

// Check refuses what Post would refuse before it looks at what is stored, and makes the text one that every engine takes. Whoever keeps
// something for a message, a file say, checks the message first.
func (p *Post) Check() error {
	if err := checkOwner(p.Owner); err != nil {
		return err
	}
	if err := checkID("conversation", p.Conversation); err != nil {
		return err
	}
	if p.MessageID != "" {
		if err := checkID("message", p.MessageID); err != nil {
			return err
		}
	}
	if p.Content.Role != model.User || len(p.Content.Blocks) == 0 {
		return fmt.Errorf("%w: a person's message has role user and at least one block", ErrInvalid)
	}
	size := 0
	for i, b := range p.Content.Blocks {
		if b.Kind != model.Text {
			return fmt.Errorf("%w: a person's message holds text only", ErrInvalid)
		}
		// Postgres stores no NUL and no broken UTF-8; SQLite would, and a reader would stumble later.
		p.Content.Blocks[i].Text = strings.ReplaceAll(strings.ToValidUTF8(b.Text, "�"), "\x00", "")
		size += len(b.Text)
	}
	if size > MaxMessage {
		return fmt.Errorf("%w: a message has at most %d bytes", ErrTooLarge, MaxMessage)
	}
	if size == 0 || strings.TrimSpace(textOf(p.Content)) == "" {
		return fmt.Errorf("%w: the message is empty", ErrInvalid)
	}
	if p.Cause == "" {
		p.Cause = "chat"
	}
	return nil
}

func (s *Store) post(ctx context.Context, tx *sql.Tx, p Post) (out Posted, err error) {
	if p.Create {
		title := p.Title
		if title == "" {
			title = textOf(p.Content)
		}
		if _, err := s.insertConversation(ctx, tx, p.Owner, p.Conversation, title); err != nil {
			return out, err
		}
	}
	// From here the conversation's row is locked: posts and the end of a turn come one after the other.
	now := s.now()
	out.Conversation, err = scanConversation(tx.QueryRowContext(ctx, `UPDATE conversations SET updated = $1 WHERE id = $2 AND org = $3 RETURNING `+conversationColumns,
		micros(now), p.Conversation, p.Owner.Org))
	if err != nil {
		return out, err
	}
	content, err := json.Marshal(p.Content)
	if err != nil {
		return out, err
	}
	known, err := scanMessage(tx.QueryRowContext(ctx, `SELECT `+messageColumns+` FROM messages m WHERE m.conversation = $1 AND m.id = $2`, p.Conversation, p.MessageID))
	if err == nil {
		return s.postedBefore(ctx, tx, out, known, content)
	}
	if !errors.Is(err, ErrNotFound) {
		return out, err
	}
	live, err := scanTurn(tx.QueryRowContext(ctx, `SELECT `+turnColumns+` FROM turns WHERE conversation = $1 AND status IN ('queued', 'running')`, p.Conversation))
	switch {
	case err == nil && p.RefuseBusy:
		return out, ErrBusy
	case err == nil:
		out.Turn, out.Joined = live, true
	case !errors.Is(err, ErrNotFound):
		return out, err
	default:
		out.Turn = Turn{
			ID: s.newID(), Org: p.Owner.Org, Conversation: p.Conversation, Person: p.Owner.Person, Role: p.Owner.Role,
			Model: p.Model, Cause: p.Cause, Today: p.Today, Outcome: Outcome{Status: Queued}, Created: now, Deadline: p.Deadline,
		}
		if err := insertTurn(ctx, tx, out.Turn); err != nil {
			return out, err
		}
	}
	taker := out.Turn.ID
	if out.Joined {
		taker = ""
	}
	out.Message = Message{ID: p.MessageID, Conversation: p.Conversation, Turn: taker, Content: p.Content, Created: now}
	return out, insertMessage(ctx, tx, &out.Message, string(content))
}

func (s *Store) postedBefore(ctx context.Context, tx *sql.Tx, out Posted, known Message, content []byte) (Posted, error) {
	was, err := json.Marshal(known.Content)
	if err != nil {
		return out, err
	}
	if string(was) != string(content) {
		return out, fmt.Errorf("%w: message %s was posted with another content", ErrConflict, known.ID)
	}
	out.Message, out.Again = known, true
	query, arg := `SELECT `+turnColumns+` FROM turns WHERE id = $1`, known.Turn
	if known.Turn == "" {
		query, arg = `SELECT `+turnColumns+` FROM turns WHERE conversation = $1 ORDER BY created DESC LIMIT 1`, known.Conversation
		out.Joined = true
	}
	out.Turn, err = scanTurn(tx.QueryRowContext(ctx, query, arg))
	return out, err
}

func insertTurn(ctx context.Context, tx *sql.Tx, t Turn) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO turns (id, org, conversation, person, role, model, cause, status, created, deadline, today)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 'queued', $8, $9, $10)`,
		t.ID, t.Org, t.Conversation, t.Person, t.Role, t.Model, t.Cause, micros(t.Created), micros(t.Deadline), t.Today); err != nil {
		return err
	}
	return insertMarks(ctx, tx, t.ID, 0, []Mark{{At: t.Created, Kind: "queued", Note: t.Cause}})
}

// insertMessage gives m the next position. The caller holds the conversation's row.
func insertMessage(ctx context.Context, tx *sql.Tx, m *Message, content string) error {
	return tx.QueryRowContext(ctx, `INSERT INTO messages (conversation, id, position, turn, after_step, content, ui, created)
		SELECT $1, $2, COALESCE(MAX(position), 0) + 1, $3, $4, $5, $6, $7 FROM messages WHERE conversation = $8 RETURNING position`,
		m.Conversation, m.ID, m.Turn, m.AfterStep, content, string(m.UI), micros(m.Created), m.Conversation).Scan(&m.Position)
}

func textOf(m model.Message) string {
	var b strings.Builder
	for _, block := range m.Blocks {
		if block.Kind == model.Text && utf8.ValidString(block.Text) {
			b.WriteString(block.Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
