package httpapi

import (
	"context"
	"io"
	"iter"
	"net/url"
	"time"

	"bordereau/agent/artifact"
	"bordereau/agent/identity"
	"bordereau/agent/identity/oidc"
	"bordereau/agent/journal"
	"bordereau/agent/schedule"
	"bordereau/agent/stream"
)

// Authenticator tells whom a key or a session's token speaks for; identity.ErrKey and identity.ErrSession refuse.
type Authenticator interface {
	Authenticate(ctx context.Context, key string) (identity.Principal, error)
	Resume(ctx context.Context, token string) (identity.Principal, error)
}

// SignIn begins and ends sessions.
type SignIn interface {
	SignIn(ctx context.Context, c identity.Credentials) (identity.SignedIn, error)
	Invitation(ctx context.Context, token string) (identity.Invitation, error)
	Redeem(ctx context.Context, r identity.Redeem) (identity.SignedIn, error)
	SignOut(ctx context.Context, p identity.Principal) error
	ChangePassword(ctx context.Context, by identity.Principal, old, password string) error
	FindOrganisation(ctx context.Context, id string) (identity.Organisation, error)
}

// Sessions lists and ends sessions.
type Sessions interface {
	Sessions(ctx context.Context, org, person string) ([]identity.Session, error)
	EndSession(ctx context.Context, org, person, id string) error
	EndSessions(ctx context.Context, org, person, but string) (int64, error)
}

// People keeps an organisation's people, and the record of who changed what.
type People interface {
	People(ctx context.Context, org string) ([]identity.Person, error)
	FindPerson(ctx context.Context, org, id string) (identity.Person, error)
	AddPerson(ctx context.Context, p identity.Person) (identity.Person, error)
	ChangePerson(ctx context.Context, p identity.Person) (identity.Person, error)
	IssueLink(ctx context.Context, org, person string) (string, time.Time, error)
	Log(ctx context.Context, org, before string, limit int) ([]identity.Entry, error)
	VerifyLog(ctx context.Context, org, kept string) (identity.Verified, error)
}

// Keys keeps API keys.
type Keys interface {
	Keys(ctx context.Context, org string) ([]identity.Key, error)
	IssueKey(ctx context.Context, org, person, label string, expires time.Time, scopes ...identity.Scope) (identity.Key, string, error)
	RevokeKey(ctx context.Context, org, id string) error
}

// OIDC signs people in with their organisation's identity provider.
type OIDC interface {
	Begin(ctx context.Context, a oidc.Ask) (to, flow string, err error)
	End(ctx context.Context, flow string, answer url.Values, v identity.Visit) (identity.SignedIn, string, error)
}

// Conversations keeps talks and their messages.
type Conversations interface {
	Post(ctx context.Context, p journal.Post) (journal.Posted, error)
	CreateConversation(ctx context.Context, o journal.Owner, id, title string) (journal.Conversation, error)
	ConversationTaken(ctx context.Context, id string) (bool, error)
	Conversation(ctx context.Context, o journal.Owner, id string) (journal.Conversation, error)
	Conversations(ctx context.Context, o journal.Owner, p journal.Page) ([]journal.Conversation, error)
	RenameConversation(ctx context.Context, o journal.Owner, id, title string) error
	Messages(ctx context.Context, o journal.Owner, conversation string, after int64, limit int) ([]journal.Message, error)
}

// Delivered finds the files that turns delivered.
type Delivered interface {
	Artifacts(ctx context.Context, o journal.Owner, conversation string) ([]journal.Artifact, error)
	Artifact(ctx context.Context, o journal.Owner, id string) (journal.Artifact, error)
}

// History tells what a turn did, step by step and try by try.
type History interface {
	Steps(ctx context.Context, o journal.Owner, turn string) ([]journal.Step, error)
	Attempts(ctx context.Context, o journal.Owner, turn string) ([]journal.Attempt, error)
	Marks(ctx context.Context, o journal.Owner, turn string) ([]journal.Mark, error)
	Charges(ctx context.Context, o journal.Owner, turn string) ([]journal.Charge, error)
}

// Turns keeps turns, their steps and what they delivered.
type Turns interface {
	Turn(ctx context.Context, o journal.Owner, id string) (journal.Turn, error)
	Turns(ctx context.Context, o journal.Owner, conversation string, p journal.Page) ([]journal.Turn, error)
	History
	SpentBy(ctx context.Context, f journal.SpentFilter) ([]journal.SpentGroup, error)
	Delivered
	Ahead(ctx context.Context, t journal.Turn) (int, error)
}

// Events reads the events of turns, live or over; turn.Events does it from the buffer and the journal. It waits for a turn that
// nobody runs yet, and ends after the terminal event.
type Events interface {
	Read(ctx context.Context, turn string, afterSeq int64) iter.Seq2[stream.Event, error]
}

// Runner runs turns, here or elsewhere.
type Runner interface {
	Wake()                                                          // a turn was queued
	Cancel(ctx context.Context, o journal.Owner, turn string) error // journal.ErrNotFound when it isn't live
}

// Models knows which models a turn may ask for.
type Models interface {
	Names() []string // the first is the default
}

// Sandboxes tells of a conversation's sandbox, and makes one ready for whoever is about to ask.
type Sandboxes interface {
	Warm(ctx context.Context, conversation, org string) error       // "" is a conversation to come
	State(ctx context.Context, conversation string) (string, error) // none, starting, running, paused, stopped
}

// Schedules is where people make and change what the clock starts.
type Schedules interface {
	Create(ctx context.Context, org, person string, d schedule.Draft, paused bool) (schedule.Schedule, error)
	Get(ctx context.Context, org, id string) (schedule.Schedule, error)
	List(ctx context.Context, org, person string) ([]schedule.Schedule, error)
	Change(ctx context.Context, v schedule.Schedule, d schedule.Draft, paused bool) (schedule.Schedule, error)
	Remove(ctx context.Context, org, id string) error
	ScheduleFacts
}

// ScheduleFacts is what follows from a schedule, or from a cron line.
type ScheduleFacts interface {
	Kinds() []schedule.Kind
	Preview(line, zone string, n int) ([]time.Time, error)
	Next(v schedule.Schedule, n int) []time.Time
	Secret(v schedule.Schedule, to schedule.Destination) string
}

// ScheduleRuns starts and lists the runs of schedules, and their deliveries.
type ScheduleRuns interface {
	RunNow(ctx context.Context, v schedule.Schedule) (schedule.Run, error)
	Last(ctx context.Context, org string) (map[string]schedule.Run, error)
	History(ctx context.Context, org, id string, before time.Time, limit int) ([]schedule.Run, error)
	Retry(ctx context.Context, org, id, delivery string) error
}

// Files keeps content by hash.
type Files interface {
	Put(ctx context.Context, p artifact.Put) (artifact.File, error)
	Open(ctx context.Context, org, sha string) (io.ReadSeekCloser, int64, error)
}

// Uploads lists the files that people put into a conversation.
type Uploads interface {
	Add(ctx context.Context, u artifact.Upload) (artifact.Upload, error)
	Find(ctx context.Context, org, conversation, id string) (artifact.Upload, error)
	List(ctx context.Context, org, conversation string) ([]artifact.Upload, error)
}

var (
	_ Conversations = (*journal.Store)(nil)
	_ Turns         = (*journal.Store)(nil)
	_ Authenticator = (*identity.Directory)(nil)
	_ SignIn        = (*identity.Directory)(nil)
	_ Sessions      = (*identity.Directory)(nil)
	_ People        = (*identity.Directory)(nil)
	_ Keys          = (*identity.Directory)(nil)
	_ OIDC          = (*oidc.SignIn)(nil)
	_ Files         = (*artifact.Store)(nil)
	_ Uploads       = (*artifact.Library)(nil)
	_ Schedules     = (*schedule.Desk)(nil)
	_ ScheduleRuns  = (*schedule.Desk)(nil)
)
