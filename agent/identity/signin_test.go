package identity

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"bordereau/migrations"
	"bordereau/migrations/postgrestest"
)

var cheap = Cost{MemoryKiB: 64, Passes: 1, Threads: 1}

const (
	good  = "correct horse battery"
	other = "staple the wet tarmac"
)

// bed is a directory with an organisation of its own and a clock that a test moves.
type bed struct {
	*Directory
	db  *sql.DB
	org string
	now time.Time
}

func (b *bed) add(t *testing.T, org, email, role, password string) Person {
	t.Helper()
	if err := b.PutOrganisation(t.Context(), Organisation{ID: org, Name: "Organisation " + org}); err != nil {
		t.Fatal(err)
	}
	p, err := b.PutPerson(t.Context(), Person{Org: org, Email: email, Name: "Ann", Role: role})
	if err != nil {
		t.Fatal(err)
	}
	if password != "" {
		if err := b.storePassword(t.Context(), p, password); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (b *bed) email() string { return "ann@" + b.org + ".example" }

func (b *bed) from() Visit { return Visit{Address: "192.0.2.1/" + b.org, Agent: "test"} }

func (b *bed) signIn(t *testing.T, password string) (SignedIn, error) {
	t.Helper()
	return b.SignIn(t.Context(), Credentials{Email: " " + strings.ToUpper(b.email()), Password: password, Visit: b.from()})
}

func (b *bed) actions(t *testing.T, org string) string {
	t.Helper()
	all, err := b.Log(t.Context(), org, "", 200)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range slices.Backward(all) {
		out = append(out, e.Action)
	}
	return strings.Join(out, " ")
}

func wants(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("got %v, want %v", err, kind)
	}
}

// TestSignIn is the whole of signing in, on both engines.
func TestSignIn(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*testing.T, *bed){
		"password": password, "sessions end": sessionsEnd, "idle and life": idleAndLife, "organisations": organisations, "limits": limits,
		"many at once": manyAtOnce, "links": links, "first administrator": firstAdmin, "one administrator stays": oneAdmin, "vouched": vouched,
		"cost is raised": costIsRaised, "change of password": change, "weak": weak, "log": logged, "log holds": logHolds, "one link, many hands": oneLink,
	}
	for engine, dsn := range map[string]func(testing.TB) string{
		"sqlite":   func(t testing.TB) string { return filepath.Join(t.TempDir(), "journal.db") },
		"postgres": postgrestest.Start,
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			db, _, err := migrations.Open(t.Context(), dsn(t), migrations.Journal)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			for name, test := range tests {
				t.Run(name, func(t *testing.T) {
					b := &bed{db: db, org: "o-" + uuid.NewString(), now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
					if b.Directory, err = New(Config{DB: db, Now: func() time.Time { return b.now }, Cost: cheap}); err != nil {
						t.Fatal(err)
					}
					test(t, b)
				})
			}
		})
	}
}

func password(t *testing.T, b *bed) {
	p := b.add(t, b.org, b.email(), Auditor, good)
	in, err := b.signIn(t, good)
	if err != nil || in.Person.ID != p.ID || in.Organisation.ID != b.org {
		t.Fatalf("%+v, %v", in, err)
	}
	who, err := b.Resume(t.Context(), in.Token)
	if err != nil || who.Person != p.ID || who.Role != Auditor || who.Session != in.Session.ID || who.Org != b.org {
		t.Errorf("%+v, %v", who, err)
	}
	for _, bad := range []string{"", "x", in.Session.ID, in.Session.ID + "_", in.Session.ID + "_" + hash(in.Token), in.Token + "x", strings.Repeat("a", 9999), "_" + in.Token} {
		_, err := b.Resume(t.Context(), bad)
		wants(t, err, ErrSession)
	}
	for _, bad := range []string{"", other, good + " ", strings.Repeat("a", 1<<20)} {
		_, err := b.signIn(t, bad)
		wants(t, err, ErrCredentials)
	}
	_, err = b.SignIn(t.Context(), Credentials{Email: "nobody@" + b.org + ".example", Password: good, Visit: b.from()})
	wants(t, err, ErrCredentials)
	_, err = b.SignIn(t.Context(), Credentials{Email: b.email(), Password: good, Organisation: "another", Visit: b.from()})
	wants(t, err, ErrCredentials)
	if a, c := CSRF(in.Token), CSRF(in.Token+"x"); a == c || len(a) < 40 {
		t.Errorf("%q, %q", a, c)
	}
	var stored string
	if err := b.db.QueryRowContext(t.Context(), findPassword, b.org, p.ID).Scan(&stored); err != nil || strings.Contains(stored, good) || !strings.HasPrefix(stored, "$argon2id$v=19$m=64,t=1,p=1$") {
		t.Errorf("stored %q, %v", stored, err)
	}
}

func sessionsEnd(t *testing.T, b *bed) {
	p := b.add(t, b.org, b.email(), Analyst, good)
	var tokens []string
	for range 3 {
		in, err := b.signIn(t, good)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, in.Token)
	}
	alive := func() (n int) {
		for _, token := range tokens {
			if _, err := b.Resume(t.Context(), token); err == nil {
				n++
			}
		}
		return n
	}
	all, err := b.Sessions(t.Context(), b.org, p.ID)
	if err != nil || len(all) != 3 || alive() != 3 || all[0].Visit.Agent != "test" {
		t.Fatalf("%+v, %v", all, err)
	}
	wants(t, b.EndSession(t.Context(), "another", p.ID, all[0].ID), ErrNotFound)
	wants(t, b.EndSession(t.Context(), b.org, "somebody", all[0].ID), ErrNotFound)
	if n, err := b.EndSessions(t.Context(), "another", p.ID, ""); n != 0 || err != nil {
		t.Errorf("another organisation ended %d, %v", n, err)
	}
	if err := b.EndSession(t.Context(), b.org, p.ID, all[0].ID); err != nil || alive() != 2 {
		t.Errorf("%d, %v", alive(), err)
	}
	wants(t, b.EndSession(t.Context(), b.org, p.ID, all[0].ID), ErrNotFound)
	if n, err := b.EndSessions(t.Context(), b.org, p.ID, all[1].ID); n != 1 || err != nil || alive() != 1 {
		t.Errorf("%d ended, %d live, %v", n, alive(), err)
	}
	p.Disabled = b.now
	if _, err := b.PutPerson(t.Context(), p); err != nil || alive() != 0 {
		t.Errorf("a disabled person has %d sessions, %v", alive(), err)
	}
	_, err = b.signIn(t, good)
	wants(t, err, ErrCredentials)
	p.Disabled = time.Time{}
	if _, err := b.PutPerson(t.Context(), p); err != nil || alive() != 0 {
		t.Errorf("sessions came back: %d, %v", alive(), err)
	}
	in, err := b.signIn(t, good)
	if err != nil {
		t.Fatal(err)
	}
	who, err := b.Resume(t.Context(), in.Token)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.SignOut(t.Context(), who); err != nil {
		t.Error(err)
	}
	_, err = b.Resume(t.Context(), in.Token)
	wants(t, err, ErrSession)
}

func idleAndLife(t *testing.T, b *bed) {
	p := b.add(t, b.org, b.email(), Analyst, good)
	in, err := b.signIn(t, good)
	if err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(8*time.Hour - time.Second)
	if _, err := b.Resume(t.Context(), in.Token); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(8 * time.Hour)
	_, err = b.Resume(t.Context(), in.Token)
	wants(t, err, ErrSession)
	if all, err := b.Sessions(t.Context(), b.org, p.ID); err != nil || len(all) != 0 {
		t.Errorf("an idle session is listed: %+v, %v", all, err)
	}
	if in, err = b.signIn(t, good); err != nil {
		t.Fatal(err)
	}
	for end := b.now.Add(7 * 24 * time.Hour); b.now.Add(time.Hour).Before(end); b.now = b.now.Add(time.Hour) {
		if _, err := b.Resume(t.Context(), in.Token); err != nil {
			t.Fatalf("at %v: %v", b.now, err)
		}
	}
	b.now = b.now.Add(time.Hour)
	_, err = b.Resume(t.Context(), in.Token)
	wants(t, err, ErrSession)
}

func organisations(t *testing.T, b *bed) {
	second, third := b.org+"-2", b.org+"-3"
	b.add(t, b.org, b.email(), Analyst, good)
	b.add(t, second, b.email(), Admin, good)
	b.add(t, third, b.email(), Admin, other)
	_, err := b.signIn(t, "neither of them")
	wants(t, err, ErrCredentials)
	_, err = b.signIn(t, good)
	choice, ok := errors.AsType[*Choice](err)
	if !ok || len(choice.Organisations) != 2 || choice.Organisations[1].ID != second {
		t.Fatalf("%v", err)
	}
	in, err := b.SignIn(t.Context(), Credentials{Email: b.email(), Password: good, Organisation: second, Visit: b.from()})
	if err != nil || in.Person.Org != second || in.Person.Role != Admin {
		t.Errorf("%+v, %v", in, err)
	}
	if in, err = b.signIn(t, other); err != nil || in.Person.Org != third {
		t.Errorf("%+v, %v", in, err)
	}
	// One computation, whatever the number of accounts: time doesn't tell it.
	accounts, err := b.accounts(t.Context(), b.email(), "")
	if err != nil {
		t.Fatal(err)
	}
	recipes := map[string]bool{}
	for _, a := range accounts {
		p, err := parseHash(a.hash)
		if err != nil {
			t.Fatal(err)
		}
		recipes[p.recipe()] = true
	}
	if len(accounts) != 3 || len(recipes) != 1 {
		t.Errorf("%d accounts, %d computations", len(accounts), len(recipes))
	}
}

func limits(t *testing.T, b *bed) {
	b.add(t, b.org, b.email(), Analyst, good)
	for i := range mostOfOneAddress {
		if _, err := b.signIn(t, other); !errors.Is(err, ErrCredentials) {
			t.Fatalf("%d: %v", i, err)
		}
	}
	for range 3 {
		_, err := b.signIn(t, good)
		if l, ok := errors.AsType[*Limited](err); !ok || l.RetryAfter <= 0 {
			t.Fatalf("%v", err)
		}
	}
	if got := b.actions(t, b.org); strings.Count(got, SignInLimited) != 1 || strings.Count(got, SignInRefused) != mostOfOneAddress {
		t.Errorf("the log has %s", got)
	}
	elsewhere := Credentials{Email: b.email(), Password: good, Visit: Visit{Address: "198.51.100.7"}}
	if _, err := b.SignIn(t.Context(), elsewhere); err != nil {
		t.Errorf("a stranger locked her out: %v", err)
	}
	// An unknown account is limited alike.
	unknown := Credentials{Email: "nobody@" + b.org + ".example", Password: good, Visit: Visit{Address: "203.0.113." + b.org}}
	for range mostOfOneAddress {
		_, err := b.SignIn(t.Context(), unknown)
		wants(t, err, ErrCredentials)
	}
	if _, err := b.SignIn(t.Context(), unknown); !errors.As(err, new(*Limited)) {
		t.Errorf("%v", err)
	}
	b.now = b.now.Add(attemptSpan + time.Second)
	if _, err := b.signIn(t, good); err != nil {
		t.Errorf("after the span: %v", err)
	}
	if network("2001:db8::1") != network("2001:db8::ffff") || network("192.0.2.1") == network("192.0.2.2") || network("::ffff:192.0.2.1") == network("::ffff:192.0.2.2") {
		t.Error("addresses are counted wrongly")
	}
}

func manyAtOnce(t *testing.T, b *bed) {
	b.add(t, b.org, b.email(), Analyst, good)
	var wg sync.WaitGroup
	var refused, limited atomic.Int64
	for range 4 * mostOfOneAddress {
		wg.Go(func() {
			_, err := b.SignIn(t.Context(), Credentials{Email: b.email(), Password: other, Visit: b.from()})
			switch {
			case errors.Is(err, ErrCredentials):
				refused.Add(1)
			case errors.As(err, new(*Limited)):
				limited.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if refused.Load() > mostOfOneAddress {
		t.Errorf("%d guesses were looked at, %d limited", refused.Load(), limited.Load())
	}
}

func costIsRaised(t *testing.T, b *bed) {
	p := b.add(t, b.org, b.email(), Analyst, good)
	dearer, err := New(Config{DB: b.db, Now: func() time.Time { return b.now }, Cost: Cost{MemoryKiB: 128, Passes: 2, Threads: 1}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = dearer.SignIn(t.Context(), Credentials{Email: b.email(), Password: other, Visit: b.from()})
	wants(t, err, ErrCredentials)
	stored := func() (s string) {
		if err := b.db.QueryRowContext(t.Context(), findPassword, b.org, p.ID).Scan(&s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if !strings.Contains(stored(), "m=64,t=1,p=1") {
		t.Error(stored())
	}
	for range 2 {
		if _, err := dearer.SignIn(t.Context(), Credentials{Email: b.email(), Password: good, Visit: b.from()}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(stored(), "m=128,t=2,p=1") {
			t.Error(stored())
		}
	}
}

func change(t *testing.T, b *bed) {
	b.add(t, b.org, b.email(), Analyst, good)
	one, err := b.signIn(t, good)
	if err != nil {
		t.Fatal(err)
	}
	two, err := b.signIn(t, good)
	if err != nil {
		t.Fatal(err)
	}
	who, err := b.Resume(t.Context(), one.Token)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, b.ChangePassword(t.Context(), who, "not the old one", other), ErrCredentials)
	if err := b.ChangePassword(t.Context(), who, good, "short"); !errors.As(err, new(*WeakPassword)) {
		t.Errorf("%v", err)
	}
	if err := b.ChangePassword(t.Context(), who, good, other); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Resume(t.Context(), one.Token); err != nil {
		t.Errorf("this session ended: %v", err)
	}
	_, err = b.Resume(t.Context(), two.Token)
	wants(t, err, ErrSession)
	for range 2 * mostOfOneAddress {
		err = b.ChangePassword(t.Context(), who, "guess of a thief", good)
	}
	if !errors.As(err, new(*Limited)) {
		t.Errorf("a stolen session may guess on: %v", err)
	}
}

func weak(t *testing.T, b *bed) {
	p := Person{Org: "northgate", Email: "annabelle@acme-cargo.example", Name: "Annabelle Smith"}
	for _, bad := range []string{
		"", "short", "elevenchars", strings.Repeat("a", 300), "aaaaaaaaaaaa", "abababababab", "123456789012", "Password1234", "qwertyuiop123", "annabelle1234", "NORTHGATE2026!",
		"acme-cargo123", "password12345", "iloveyou1234", "\xff\xfe\xfdaaaaaaaaaa", "abcdefghijkl", "bordereau2026", "1234567890ab",
	} {
		if err := checkPassword(bad, p); !errors.As(err, new(*WeakPassword)) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, fine := range []string{good, other, "drei Katzen und ein Hund", "猫が三匹いて犬が一匹いるよ", "x7#Kq9!vTz2&", "annabelle likes long walks"} {
		if err := checkPassword(fine, p); err != nil {
			t.Errorf("%q: %v", fine, err)
		}
	}
}

func logged(t *testing.T, b *bed) {
	p := b.add(t, b.org, b.email(), Analyst, good)
	by := With(t.Context(), Principal{Org: b.org, Person: "boss", Email: "boss@x.example", Address: "192.0.2.9"})
	p.Role = Auditor
	if _, err := b.PutPerson(by, p); err != nil {
		t.Fatal(err)
	}
	k, _, err := b.IssueKey(by, b.org, p.ID, "x", time.Time{}, ScopeRead)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.RevokeKey(by, b.org, k.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.signIn(t, other); !errors.Is(err, ErrCredentials) {
		t.Fatal(err)
	}
	if got := b.actions(t, b.org); got != "organisation.put person.added role.changed key.issued key.revoked sign_in.refused" {
		t.Error(got)
	}
	for _, policy := range []string{"built-in", "built-in", "mine"} {
		if err := b.NotePolicy(t.Context(), policy); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.actions(t, b.org); !strings.HasSuffix(got, "sign_in.refused policy.changed policy.changed") {
		t.Error(got)
	}
	all, err := b.Log(t.Context(), b.org, "", 4)
	if err != nil || len(all) != 4 {
		t.Fatalf("%+v, %v", all, err)
	}
	rest, err := b.Log(t.Context(), b.org, all[3].ID, 100)
	if err != nil || len(rest) != 4 || rest[0].Action != KeyIssued || rest[0].ActorName != "boss@x.example" || rest[0].Address != "192.0.2.9" || rest[3].ActorName != operator {
		t.Errorf("%+v, %v", rest, err)
	}
}

// Passwords wait for their turn instead of taking the memory.
func TestHashesAreBounded(t *testing.T) {
	t.Parallel()
	h := newHasher(cheap)
	for range cap(h.slots) {
		h.slots <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := h.matches(ctx, good, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	for range cap(h.slots) {
		<-h.slots
	}
	if hits, err := h.matches(t.Context(), good, []string{"", "$argon2id$broken", "plain"}); err != nil || hits[0] || hits[1] || hits[2] {
		t.Errorf("%v, %v", hits, err)
	}
}
