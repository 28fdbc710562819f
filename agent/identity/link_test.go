package identity

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func links(t *testing.T, b *bed) {
	p := b.add(t, b.org, b.email(), Underwriter, good)
	in, err := b.signIn(t, good)
	if err != nil {
		t.Fatal(err)
	}
	old, _, err := b.IssueLink(t.Context(), b.org, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	token, expires, err := b.IssueLink(t.Context(), b.org, p.ID)
	if err != nil || !expires.Equal(b.now.Add(LinkLife)) {
		t.Fatalf("%v, %v", expires, err)
	}
	_, err = b.Redeem(t.Context(), Redeem{Token: old, Password: other})
	wants(t, err, ErrLink)
	for _, bad := range []string{"", "x", strings.TrimPrefix(token, linkPrefix), token + "x", token[:len(token)-2]} {
		_, err := b.Invitation(t.Context(), bad)
		wants(t, err, ErrLink)
	}
	i, err := b.Invitation(t.Context(), token)
	if err != nil || i.Person.Email != b.email() || i.Organisation.ID != b.org {
		t.Errorf("%+v, %v", i, err)
	}
	if _, err := b.Redeem(t.Context(), Redeem{Token: token, Password: "short"}); !errors.As(err, new(*WeakPassword)) {
		t.Errorf("%v", err)
	}
	now, err := b.Redeem(t.Context(), Redeem{Token: token, Password: other, Email: "evil@x.example", Name: "Evil", Visit: b.from()})
	if err != nil || now.Person.ID != p.ID || now.Session.Method != ByLink {
		t.Fatalf("%+v, %v", now, err)
	}
	_, err = b.Redeem(t.Context(), Redeem{Token: token, Password: other})
	wants(t, err, ErrLink)
	_, err = b.Resume(t.Context(), in.Token)
	wants(t, err, ErrSession) // who had the old password is out
	_, err = b.signIn(t, good)
	wants(t, err, ErrCredentials)
	if _, err := b.signIn(t, other); err != nil {
		t.Error(err)
	}
	if token, _, err = b.IssueLink(t.Context(), b.org, p.ID); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(LinkLife)
	_, err = b.Redeem(t.Context(), Redeem{Token: token, Password: good})
	wants(t, err, ErrLink)
	_, _, err = b.IssueLink(t.Context(), "another", p.ID)
	wants(t, err, ErrNotFound)
	if token, _, err = b.IssueLink(t.Context(), b.org, p.ID); err != nil {
		t.Fatal(err)
	}
	p.Disabled = b.now
	if _, err := b.PutPerson(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	_, err = b.Redeem(t.Context(), Redeem{Token: token, Password: good})
	wants(t, err, ErrLink)
	_, _, err = b.IssueLink(t.Context(), b.org, p.ID)
	wants(t, err, ErrConflict)
}

func firstAdmin(t *testing.T, b *bed) {
	b.add(t, b.org, b.email(), Underwriter, "")
	one, _, err := b.IssueLink(t.Context(), b.org, "")
	if err != nil {
		t.Fatal(err)
	}
	two, _, err := b.IssueLink(t.Context(), b.org, "")
	if err != nil {
		t.Fatal(err)
	}
	for field, r := range map[string]Redeem{"email": {Email: "x", Name: "Bea"}, "name": {Email: "bea@x.example", Name: " "}} {
		r.Token, r.Password = one, good
		_, err := b.Redeem(t.Context(), r)
		if f, ok := errors.AsType[*FieldError](err); !ok || f.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	in, err := b.Redeem(t.Context(), Redeem{Token: one, Password: good, Email: "Bea@" + b.org + ".example", Name: "Bea"})
	if err != nil || in.Person.Role != Admin || in.Person.Email != "bea@"+b.org+".example" {
		t.Fatalf("%+v, %v", in, err)
	}
	_, err = b.Redeem(t.Context(), Redeem{Token: two, Password: good, Email: "eve@x.example", Name: "Eve"})
	wants(t, err, ErrLink) // there is one now
	_, _, err = b.IssueLink(t.Context(), b.org, "")
	wants(t, err, ErrConflict)
	_, _, err = b.IssueLink(t.Context(), "no-such", "")
	wants(t, err, ErrNotFound)
}

func oneAdmin(t *testing.T, b *bed) {
	p := b.add(t, b.org, b.email(), Admin, "")
	demoted, off := p, p
	demoted.Role, off.Disabled = Analyst, b.now
	for _, q := range []Person{demoted, off} {
		_, err := b.ChangePerson(t.Context(), q)
		wants(t, err, ErrConflict)
	}
	b.add(t, b.org, "second@x.example", Admin, "")
	if got, err := b.ChangePerson(t.Context(), demoted); err != nil || got.Role != Analyst {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := b.AddPerson(t.Context(), Person{Org: b.org, Email: b.email(), Name: "Again", Role: Admin}); !errors.As(err, new(*FieldError)) {
		t.Errorf("%v", err)
	}
}

func vouched(t *testing.T, b *bed) {
	p := b.add(t, b.org, b.email(), Analyst, "")
	v := Vouched{Organisation: b.org, Issuer: "https://id.example", Subject: "1", Email: strings.ToUpper(b.email()), Visit: b.from()}
	in, err := b.SignInVouched(t.Context(), v)
	if err != nil || in.Person.ID != p.ID || in.Session.Method != ByOIDC {
		t.Fatalf("%+v, %v", in, err)
	}
	again := v
	again.Subject = "2" // somebody who was given the address later
	_, err = b.SignInVouched(t.Context(), again)
	wants(t, err, ErrCredentials)
	stranger := v
	stranger.Email, stranger.Subject = "new@x.example", "3"
	_, err = b.SignInVouched(t.Context(), stranger)
	wants(t, err, ErrCredentials)
	stranger.DefaultRole, stranger.Name = Underwriter, "\x00"
	if in, err = b.SignInVouched(t.Context(), stranger); err != nil || in.Person.Role != Underwriter || in.Person.Name != "new@x.example" {
		t.Errorf("%+v, %v", in, err)
	}
	p.Disabled = b.now
	if _, err := b.PutPerson(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	_, err = b.SignInVouched(t.Context(), v)
	wants(t, err, ErrCredentials)
}

func oneLink(t *testing.T, b *bed) {
	p := b.add(t, b.org, b.email(), Analyst, "")
	token, _, err := b.IssueLink(t.Context(), b.org, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var in atomic.Int64
	for range 8 {
		wg.Go(func() {
			if _, err := b.Redeem(t.Context(), Redeem{Token: token, Password: good, Visit: b.from()}); err == nil {
				in.Add(1)
			} else if !errors.Is(err, ErrLink) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if in.Load() != 1 {
		t.Errorf("one link signed in %d", in.Load())
	}
}
