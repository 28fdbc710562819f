package remote_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/bubblewrap"
	"bordereau/sandbox/host"
	"bordereau/sandbox/remote"
	"bordereau/sandbox/sandboxtest"
)

const key = "0123456789abcdef0123456789abcdef"

// site is one host with its driver.
type site struct {
	*httptest.Server
	server *host.Server
}

func serve(t *testing.T, d sandbox.Driver, free int64) *site {
	t.Helper()
	s, err := host.New(host.Config{Driver: d, Name: "test", Key: key, Log: sandboxtest.Log(t), Grace: 5 * time.Second, Free: func() int64 { return free }})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(s)
	web.EnableHTTP2 = true
	web.StartTLS()
	t.Cleanup(web.Close)
	return &site{web, s}
}

func connect(t *testing.T, key string, sites ...*site) *remote.Driver {
	t.Helper()
	roots := sites[0].Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for _, s := range sites[1:] {
		roots.AddCert(s.Certificate())
	}
	cfg := remote.Config{TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}, Key: key, Log: sandboxtest.Log(t)}
	for _, s := range sites {
		cfg.Hosts = append(cfg.Hosts, s.URL)
	}
	d, err := remote.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func TestSuite(t *testing.T) {
	t.Parallel()
	inner, err := bubblewrap.New(t.Context(), bubblewrap.Config{Folder: sandboxtest.Folder(t), Log: sandboxtest.Log(t), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(inner.Close)
	sandboxtest.Run(t, sandboxtest.Subject{
		Driver: connect(t, key, serve(t, inner, 1)), Name: bubblewrap.Name, Pauses: inner.Cgroups(), Splits: true, Tokens: true, Limited: true, Isolated: true, Python: true,
	})
}

func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, &sandboxtest.Memory{}, 1)
	_, err := connect(t, strings.Repeat("x", 32), s).Create(t.Context(), sandbox.Spec{ID: "a"})
	if !errors.Is(err, sandbox.ErrUnavailable) {
		t.Fatalf("a wrong key: %v", err)
	}
	if _, err := remote.New(remote.Config{Hosts: []string{s.URL}, TLS: &tls.Config{}, Key: "short", Log: sandboxtest.Log(t)}); err == nil {
		t.Fatal("a short key was taken")
	}
	if _, err := remote.New(remote.Config{Hosts: []string{"http://127.0.0.1:1"}, TLS: &tls.Config{}, Key: key, Log: sandboxtest.Log(t)}); err == nil {
		t.Fatal("an address in the clear was taken")
	}
	if _, err := host.New(host.Config{Driver: &sandboxtest.Memory{}, Name: "x", Log: sandboxtest.Log(t)}); err == nil {
		t.Fatal("a host without any proof of who asks was made")
	}
}

func TestPlacementDrainAndDeadHosts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	big, small := &sandboxtest.Memory{}, &sandboxtest.Memory{}
	a, b := serve(t, big, 100), serve(t, small, 50)
	d := connect(t, key, a, b)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := d.Create(ctx, sandbox.Spec{ID: "one"})
	must(err)
	if big.State("one") == "" {
		t.Fatal("not where most memory is free")
	}
	must(d.Drain(ctx, a.URL, true))
	_, err = d.Create(ctx, sandbox.Spec{ID: "two"})
	must(err)
	if small.State("two") == "" {
		t.Fatal("placed on a drained host")
	}
	if _, err = d.Find(ctx, "one"); err != nil {
		t.Fatal("a drained host's sandboxes go on")
	}
	_, err = d.Find(ctx, "nobody")
	if !errors.Is(err, sandbox.ErrNotFound) {
		t.Fatalf("every host said no: %v", err)
	}
	// A sandbox that moved without our knowing is found again.
	fresh := connect(t, key, a, b)
	if _, err := fresh.Find(ctx, "two"); err != nil {
		t.Fatal(err)
	}
	// A lost answer to a creation does not make two.
	lost := 1
	small.Lost = func(call, _ string) error {
		if call == "create" && lost > 0 {
			lost--
			return sandbox.Unavailable(nil, "the answer is lost")
		}
		return nil
	}
	info, err := d.Create(ctx, sandbox.Spec{ID: "three"})
	must(err)
	if info.ID != "three" || big.State("three") != "" {
		t.Fatalf("%+v; on the other host too: %v", info, big.State("three"))
	}
	// A dead host's sandboxes are unavailable, not gone.
	b.Close()
	for _, id := range []string{"two", "nobody"} {
		if _, err := fresh.Find(ctx, id); !errors.Is(err, sandbox.ErrUnavailable) {
			t.Fatalf("%s with a dead host: %v", id, err)
		}
	}
	if _, err := fresh.Find(ctx, "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Create(ctx, sandbox.Spec{ID: "four"}); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Fatalf("one drained, one dead: %v", err)
	}
	must(d.Drain(ctx, a.URL, false))
	_, err = fresh.Create(ctx, sandbox.Spec{ID: "four"})
	must(err)
}

// slow is a driver whose commands say one line, wait, and say another.
type slow struct {
	sandboxtest.Memory
	begun chan struct{}
	goOn  chan struct{}
	once  sync.Once
	runs  int
}

func (s *slow) Exec(ctx context.Context, id string, cmd sandbox.Command) (sandbox.Result, error) {
	s.once.Do(func() {
		s.runs++
		close(s.begun)
	})
	_, _ = io.WriteString(cmd.Stdout, "first\n")
	select {
	case <-s.goOn:
	case <-ctx.Done():
		return sandbox.Result{}, context.Cause(ctx)
	}
	_, _ = io.WriteString(cmd.Stdout, "last\n")
	return sandbox.Result{ExitCode: 5}, nil
}

func TestLostConnectionIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	inner := &slow{begun: make(chan struct{}), goOn: make(chan struct{})}
	s := serve(t, inner, 1)
	d := connect(t, key, s)
	if _, err := d.Create(t.Context(), sandbox.Spec{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	type end struct {
		r   sandbox.Result
		err error
	}
	ended := make(chan end, 1)
	go func() {
		r, err := d.Exec(t.Context(), "a", sandbox.Command{Args: []string{"x"}, Stdout: &out})
		ended <- end{r, err}
	}()
	<-inner.begun
	s.CloseClientConnections()
	time.AfterFunc(500*time.Millisecond, func() { close(inner.goOn) })
	e := <-ended
	if e.err != nil || e.r.ExitCode != 5 || out.String() != "first\nlast\n" {
		t.Fatalf("%+v %v %q", e.r, e.err, out.String())
	}
}
