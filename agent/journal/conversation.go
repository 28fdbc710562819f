package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of what is stored as text.
const (
	maxID    = 128
	maxTitle = 200
	maxPage  = 500
)

// Page bounds a list: rows older than Before (zero: from the newest), at most Limit (0: 50).
type Page struct {
	Before time.Time
	Limit  int
}

func (p Page) before() int64 {
	if p.Before.IsZero() {
		return 1<<63 - 1
	}
	return micros(p.Before)
}

func (p Page) limit() int {
	switch {
	case p.Limit <= 0:
		return 50
	case p.Limit > maxPage:
		return maxPage
	default:
		return p.Limit
	}
}

const conversationColumns = `id, org, person, title, created, updated`

func scanConversation(r scanner) (c Conversation, err error) {
	var created, updated int64
	err = r.Scan(&c.ID, &c.Org, &c.Person, &c.Title, &created, &updated)
	c.Created, c.Updated = moment(created), moment(updated)
	return c, missing(err)
}

// ConversationTaken tells whether any organisation has a conversation of that id, which ErrInvalid says that none can have. It is for
// deciding whether one can be made, and never for telling anybody.
func (s *Store) ConversationTaken(ctx context.Context, id string) (bool, error) {
	if err := checkID("conversation", id); err != nil {
		return false, err
	}
	var n int
	err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM conversations WHERE id = $1`, id).Scan(&n)
	return n > 0, err
}

// CreateConversation makes an empty conversation of o.Person. id may be "" for a new one; an id that is taken is ErrConflict.
func (s *Store) CreateConversation(ctx context.Context, o Owner, id, title string) (c Conversation, err error) {
	if id == "" {
		id = s.newID()
	}
	if err := checkOwner(o); err != nil {
		return c, err
	}
	if err := checkID("conversation", id); err != nil {
		return c, err
	}
	err = s.write(ctx, "creating a conversation", func(tx *sql.Tx) error {
		created, err := s.insertConversation(ctx, tx, o, id, title)
		if err != nil {
			return err
		}
		if !created {
			return ErrConflict
		}
		c, err = scanConversation(tx.QueryRowContext(ctx, `SELECT `+conversationColumns+` FROM conversations WHERE id = $1`, id))
		return err
	})
	return c, err
}

func (s *Store) insertConversation(ctx context.Context, tx *sql.Tx, o Owner, id, title string) (created bool, err error) {
	now := micros(s.now())
	res, err := tx.ExecContext(ctx, `INSERT INTO conversations (id, org, person, title, created, updated)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING`, id, o.Org, o.Person, Title(title), now, now)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// Conversation returns one conversation of o.Org.
func (s *Store) Conversation(ctx context.Context, o Owner, id string) (Conversation, error) {
	return scanConversation(s.db.QueryRowContext(ctx, `SELECT `+conversationColumns+` FROM conversations WHERE id = $1 AND org = $2`, id, o.Org))
}

// Conversations lists those of o.Person, or of all of o.Org when o.Person is empty, the last used first.
// Page.Before refers to Conversation.Updated.
func (s *Store) Conversations(ctx context.Context, o Owner, p Page) ([]Conversation, error) {
	all, err := collect(ctx, s.db, scanConversation, `SELECT `+conversationColumns+` FROM conversations
		WHERE org = $1 AND ($2 = '' OR person = $3) AND updated < $4 ORDER BY updated DESC, id LIMIT $5`,
		o.Org, o.Person, o.Person, p.before(), p.limit())
	if err != nil {
		return nil, fmt.Errorf("listing conversations: %w", err)
	}
	return all, nil
}

// RenameConversation sets the title.
func (s *Store) RenameConversation(ctx context.Context, o Owner, id, title string) error {
	return s.write(ctx, "renaming a conversation", func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE conversations SET title = $1 WHERE id = $2 AND org = $3`, Title(title), id, o.Org)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return orNotFound(err)
		}
		return nil
	})
}

const messageColumns = `m.conversation, m.id, m.position, m.turn, m.after_step, m.content, m.ui, m.created`

func scanMessage(r scanner) (m Message, err error) {
	var content, ui string
	var created int64
	if err := r.Scan(&m.Conversation, &m.ID, &m.Position, &m.Turn, &m.AfterStep, &content, &ui, &created); err != nil {
		return m, missing(err)
	}
	m.Created = moment(created)
	if ui != "" {
		m.UI = json.RawMessage(ui)
	}
	if err := json.Unmarshal([]byte(content), &m.Content); err != nil {
		return m, fmt.Errorf("message %s: %w", m.ID, err)
	}
	return m, nil
}

// Messages lists a conversation's messages in order, those after a position.
func (s *Store) Messages(ctx context.Context, o Owner, conversation string, after int64, limit int) ([]Message, error) {
	if _, err := s.Conversation(ctx, o, conversation); err != nil {
		return nil, err
	}
	all, err := collect(ctx, s.db, scanMessage, `SELECT `+messageColumns+` FROM messages m
		WHERE m.conversation = $1 AND m.position > $2 ORDER BY m.position LIMIT $3`, conversation, after, Page{Limit: limit}.limit())
	if err != nil {
		return nil, fmt.Errorf("listing messages: %w", err)
	}
	return all, nil
}

// Title makes a conversation's title from a text: its first line, bounded.
func Title(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= maxTitle {
		return text
	}
	return string([]rune(text)[:maxTitle-1]) + "…"
}

func orNotFound(err error) error {
	if err != nil {
		return err
	}
	return ErrNotFound
}

func checkOwner(o Owner) error {
	if o.Org == "" || o.Person == "" || o.Role == "" {
		return fmt.Errorf("%w: an owner needs org, person and role", ErrInvalid)
	}
	return nil
}

// checkID refuses what neither engine should store: text that is empty, long, not UTF-8 or has control characters.
func checkID(what, id string) error {
	bad := func(r rune) bool { return r < 0x20 || r == 0x7f || r == utf8.RuneError }
	if id == "" || len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, bad) {
		return fmt.Errorf("%w: %s id: want 1 to %d plain characters", ErrInvalid, what, maxID)
	}
	return nil
}
