package identity

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
)

// How somebody signed in.
const (
	ByPassword = "password"
	ByLink     = "link"
	ByOIDC     = "oidc"
)

// Visit is where a request comes from.
type Visit struct {
	Address string
	Agent   string // what the browser calls itself
}

// Session is a browser in which a person is signed in.
type Session struct {
	ID      string
	Person  string
	Method  string
	Visit   Visit
	Created time.Time
	Used    time.Time // to the minute
	Expires time.Time // whatever its use
}

// SignedIn is a session that has just begun.
type SignedIn struct {
	Person       Person
	Organisation Organisation
	Session      Session
	Token        string // for the cookie; only its hash is kept
}

const (
	insertSession = `INSERT INTO sessions (id, person, hash, method, address, agent, created, used, expires) VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)`
	findSession   = `SELECT s.hash, s.used, s.expires, s.ended, p.id, p.org, p.name, p.email, p.role, p.disabled
FROM sessions s JOIN people p ON p.id = s.person WHERE s.id = $1`
	touchSession = `UPDATE sessions SET used = $1 WHERE id = $2 AND used < $1`
	endSession   = `UPDATE sessions SET ended = $1 WHERE id = $2 AND person = $3 AND ended = 0`
	endSessions  = `UPDATE sessions SET ended = $1 WHERE person = $2 AND id <> $3 AND ended = 0 AND person IN (SELECT id FROM people WHERE org = $4)`
	listSessions = `SELECT s.id, s.person, s.method, s.address, s.agent, s.created, s.used, s.expires FROM sessions s JOIN people p ON p.id = s.person
WHERE p.org = $1 AND s.person = $2 AND s.ended = 0 AND s.expires > $3 AND s.used > $4 ORDER BY s.used DESC, s.id`
)

// maxAgent is how much is kept of what a browser calls itself.
const maxAgent = 300

// StartSession signs a person in who has proved who she is.
func (d *Directory) StartSession(ctx context.Context, p Person, method string, v Visit) (SignedIn, error) {
	o, err := d.FindOrganisation(ctx, p.Org)
	if err != nil {
		return SignedIn{}, err
	}
	id, secret, whole, err := d.token("")
	if err != nil {
		return SignedIn{}, err
	}
	if v.Agent = strings.ToValidUTF8(v.Agent, ""); len(v.Agent) > maxAgent {
		v.Agent = strings.ToValidUTF8(v.Agent[:maxAgent], "")
	}
	now := d.now()
	s := Session{ID: id, Person: p.ID, Method: method, Visit: v, Created: now, Used: now, Expires: now.Add(d.life)}
	if _, err := d.db.ExecContext(ctx, insertSession, id, p.ID, hash(secret), method, v.Address, v.Agent, now.UnixMilli(), s.Expires.UnixMilli()); err != nil {
		return SignedIn{}, fmt.Errorf("storing a session: %w", err)
	}
	err = d.note(ctx, entry{org: p.Org, actor: p.ID, name: p.Email, action: SignInDone, subject: p.ID, detail: "by " + method, address: v.Address})
	return SignedIn{Person: p, Organisation: o, Session: s, Token: whole}, err
}

// Resume returns whose session a token is. Every refusal is ErrSession and looks the same from outside.
func (d *Directory) Resume(ctx context.Context, token string) (Principal, error) {
	id, secret := parse("", token)
	if id == "" {
		return Principal{}, ErrSession
	}
	var (
		p                              Principal
		stored                         string
		used, expires, ended, disabled int64
	)
	err := d.db.QueryRowContext(ctx, findSession, id).Scan(&stored, &used, &expires, &ended, &p.Person, &p.Org, &p.Name, &p.Email, &p.Role, &disabled)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Principal{}, fmt.Errorf("looking up a session: %w", err)
	}
	now := d.now()
	if !same(stored, secret) || err != nil || ended != 0 || disabled != 0 || now.UnixMilli() >= expires || now.Sub(moment(used)) >= d.idle {
		return Principal{}, ErrSession
	}
	p.Session = id
	if now.Sub(moment(used)) > touchEvery {
		if _, err := d.db.ExecContext(ctx, touchSession, now.UnixMilli(), id); err != nil {
			return Principal{}, fmt.Errorf("noting the use of a session: %w", err)
		}
	}
	return p, nil
}

// CSRF is the value that unsafe requests of a session repeat in a header. Only pages of this origin can read it, and it is
// worth nothing with another session.
func CSRF(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("csrf"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Sessions lists a person's live sessions, the last used first.
func (d *Directory) Sessions(ctx context.Context, org, person string) ([]Session, error) {
	now := d.now()
	all, err := collect(ctx, d.db, func(rows *sql.Rows) (s Session, err error) {
		var created, used, expires int64
		err = rows.Scan(&s.ID, &s.Person, &s.Method, &s.Visit.Address, &s.Visit.Agent, &created, &used, &expires)
		s.Created, s.Used, s.Expires = moment(created), moment(used), moment(expires)
		return s, err
	}, listSessions, org, person, now.UnixMilli(), now.Add(-d.idle).UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("listing sessions: %w", err)
	}
	return all, nil
}

// EndSession ends one session of a person at once.
func (d *Directory) EndSession(ctx context.Context, org, person, id string) error {
	p, err := d.FindPerson(ctx, org, person)
	if err != nil {
		return err
	}
	r, err := d.db.ExecContext(ctx, endSession, d.now().UnixMilli(), id, person)
	if err != nil {
		return fmt.Errorf("ending session %s: %w", id, err)
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return errors.Join(fmt.Errorf("%w: no live session %s", ErrNotFound, id), err)
	}
	return d.note(ctx, entry{org: org, action: SessionEnded, subject: person, detail: p.Email})
}

// EndSessions ends all sessions of a person but one ("": all), and returns how many those were.
func (d *Directory) EndSessions(ctx context.Context, org, person, but string) (int64, error) {
	r, err := d.db.ExecContext(ctx, endSessions, d.now().UnixMilli(), person, but, org)
	if err != nil {
		return 0, fmt.Errorf("ending the sessions of %s: %w", person, err)
	}
	n, err := r.RowsAffected()
	if err != nil || n == 0 {
		return 0, err
	}
	return n, d.note(ctx, entry{org: org, action: SessionEnded, subject: person, detail: fmt.Sprintf("%d sessions", n)})
}
