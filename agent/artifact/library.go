package artifact

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Upload is a file that a person put into a conversation; turns find it in their workspace.
type Upload struct {
	ID           string
	Org          string
	Conversation string
	Person       string
	Name         string
	MediaType    string
	Size         int64
	SHA256       string
	Created      time.Time
}

// Library lists the uploads of conversations, in the journal's database.
type Library struct {
	db  *sql.DB
	now func() time.Time
}

// NewLibrary returns a library. now is time.Now when nil.
func NewLibrary(db *sql.DB, now func() time.Time) (*Library, error) {
	if db == nil {
		return nil, fmt.Errorf("%w: a library needs a database", ErrConfig)
	}
	if now == nil {
		now = time.Now
	}
	return &Library{db: db, now: now}, nil
}

const (
	insertUpload = `INSERT INTO uploads (id, org, conversation, person, name, media_type, size, sha256, created)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (org, conversation, name) DO NOTHING`
	uploadColumns = `SELECT id, org, conversation, person, name, media_type, size, sha256, created FROM uploads `
	uploadByName  = uploadColumns + `WHERE org = $1 AND conversation = $2 AND name = $3`
	uploadByID    = uploadColumns + `WHERE org = $1 AND conversation = $2 AND id = $3`
	uploadsOf     = uploadColumns + `WHERE org = $1 AND conversation = $2 ORDER BY created, name`
)

// Add puts a file into a conversation. The same file under the same name is the upload that is there already;
// another file under a taken name is ErrConflict.
func (l *Library) Add(ctx context.Context, u Upload) (Upload, error) {
	u.ID, u.Created = "upload-"+uuid.NewString(), l.now().UTC().Truncate(time.Millisecond)
	if _, err := l.db.ExecContext(ctx, insertUpload, u.ID, u.Org, u.Conversation, u.Person, u.Name, u.MediaType, u.Size, u.SHA256,
		u.Created.UnixMilli()); err != nil {
		return Upload{}, fmt.Errorf("recording an upload: %w", err)
	}
	there, err := scanUpload(l.db.QueryRowContext(ctx, uploadByName, u.Org, u.Conversation, u.Name))
	if err != nil {
		return Upload{}, err
	}
	if there.SHA256 != u.SHA256 {
		return Upload{}, fmt.Errorf("%w: %s", ErrConflict, u.Name)
	}
	return there, nil
}

// Find returns one upload of a conversation.
func (l *Library) Find(ctx context.Context, org, conversation, id string) (Upload, error) {
	return scanUpload(l.db.QueryRowContext(ctx, uploadByID, org, conversation, id))
}

// List returns the uploads of a conversation in the order they came.
func (l *Library) List(ctx context.Context, org, conversation string) ([]Upload, error) {
	rows, err := l.db.QueryContext(ctx, uploadsOf, org, conversation)
	if err != nil {
		return nil, fmt.Errorf("listing uploads: %w", err)
	}
	defer rows.Close()
	var all []Upload
	for rows.Next() {
		u, err := scanUpload(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, rows.Err()
}

type scanner interface{ Scan(dest ...any) error }

func scanUpload(row scanner) (Upload, error) {
	var u Upload
	var created int64
	err := row.Scan(&u.ID, &u.Org, &u.Conversation, &u.Person, &u.Name, &u.MediaType, &u.Size, &u.SHA256, &created)
	if errors.Is(err, sql.ErrNoRows) {
		return Upload{}, fmt.Errorf("%w: upload", ErrNotFound)
	}
	if err != nil {
		return Upload{}, fmt.Errorf("reading an upload: %w", err)
	}
	u.Created = time.UnixMilli(created).UTC()
	return u, nil
}
