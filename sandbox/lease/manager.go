// Package lease gives each conversation one sandbox: found, started, created, replaced or restored, and never replaced on a guess.
package lease

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/workspace"
)

// Config is what a Manager needs. Driver, Store and Log are required.
type Config struct {
	Driver      sandbox.Driver
	Store       Store // what is remembered of each conversation
	Log         *slog.Logger
	Checkpoints Checkpoints    // nil: a lost sandbox comes back empty
	Limits      sandbox.Limits // of each sandbox
	Warm        Warm
	Exclusive   bool // all sandboxes of Driver are in Store: those that no record names are deleted at the start

	PauseAfter time.Duration // idle time until processes are frozen; default 2 minutes, negative never
	StopAfter  time.Duration // … until it is stopped; default 15 minutes, negative never
	ReapAfter  time.Duration // … until it is checkpointed and deleted; default 7 days, negative never

	Retries int           // of a look-up that failed in passing; default 6
	Backoff time.Duration // before the first of them, doubled each time; default 100 ms
	Now     func() time.Time
}

// Recovery says how a lease came to its sandbox.
type Recovery struct {
	How      How
	Replaced bool      // the conversation's earlier sandbox is lost; this one has another id
	Why      string    // in words, when it was replaced
	Taken    time.Time // of the checkpoint that was restored; zero when there was none
	Files    int       // that came back
	Missing  []string  // what did not, in words for the model and the person
}

// How a sandbox was got.
type How string

// The ways.
const (
	Found    How = "found"    // it runs
	Started  How = "started"  // it was stopped or paused
	Created  How = "created"  // the conversation had none
	Warmed   How = "warmed"   // the same, from the warm pool
	Restored How = "restored" // it is new; its workspace comes from the last checkpoint
)

// Manager hands out leases. Start it before use.
type Manager struct {
	cfg  Config
	pool *pool

	mu    sync.Mutex
	slots map[string]*slot

	stop context.CancelFunc
	wg   sync.WaitGroup
	once sync.Once
}

// slot is one conversation in this process.
type slot struct {
	mu      sync.Mutex // held while the sandbox is got, paused, stopped or reaped
	users   int        // leases not released; guarded by Manager.mu
	used    time.Time  // the end of the last lease in this process; guarded by Manager.mu
	checked bool       // its canary was seen in this process since its last start; guarded by mu
}

// New checks the configuration.
func New(cfg Config) (*Manager, error) {
	if cfg.Driver == nil || cfg.Store == nil || cfg.Log == nil {
		return nil, errors.New("lease: a driver, a store and a log are required")
	}
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&cfg.PauseAfter, 2*time.Minute)
	def(&cfg.StopAfter, 15*time.Minute)
	def(&cfg.ReapAfter, 7*24*time.Hour)
	def(&cfg.Backoff, 100*time.Millisecond)
	if cfg.Retries <= 0 {
		cfg.Retries = 6
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := &Manager{cfg: cfg, slots: map[string]*slot{}}
	m.pool = newPool(cfg)
	return m, nil
}

// ID is the sandbox that a conversation has or will have. It is known before anything is created, so that a token can name it. It
// changes only when a lost sandbox is replaced; Get tells.
func (m *Manager) ID(ctx context.Context, conversation string) (string, error) {
	r, ok, err := m.cfg.Store.Load(ctx, conversation)
	if err != nil {
		return "", sandbox.Unavailable(err, "can't read what is known of the conversation's sandbox")
	}
	if !ok {
		r = Record{Conversation: conversation, N: 1}
	}
	if r.Reaped {
		r.N++
	}
	return r.ID(), nil
}

// Hint says that somebody is about to ask something, so that a sandbox is warm when the question comes.
func (m *Manager) Hint() { m.pool.hint() }

// Warm says that somebody is about to ask something in this conversation: the sandbox that it has is started when it rests, and where it
// has none, one is made ready for whoever needs it first.
func (m *Manager) Warm(ctx context.Context, conversation, org string) error {
	r, ok, err := m.cfg.Store.Load(ctx, conversation)
	if err != nil {
		return sandbox.Unavailable(err, "can't read what is known of the conversation's sandbox")
	}
	if !ok || r.Reaped || !r.Ready {
		m.Hint()
		return nil
	}
	l, err := m.Get(ctx, conversation, org)
	if err == nil {
		l.Release()
	}
	return err
}

func (m *Manager) slot(conversation string) *slot {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.slots[conversation]
	if s == nil {
		s = &slot{}
		m.slots[conversation] = s
	}
	return s
}

// Get returns the conversation's sandbox, running. It retries what fails in passing; ErrUnavailable means that the sandbox, as far as
// anybody knows, still is there.
func (m *Manager) Get(ctx context.Context, conversation, org string) (*Lease, error) {
	if conversation == "" || org == "" {
		return nil, sandbox.Invalid("a lease needs a conversation and an organisation")
	}
	s := m.slot(conversation)
	m.mu.Lock()
	s.users++
	m.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	id, recovery, err := m.locked(ctx, s, conversation, org)
	if err != nil {
		m.release(s)
		return nil, err
	}
	return &Lease{m: m, slot: s, conversation: conversation, id: id, recovery: recovery}, nil
}

func (m *Manager) release(s *slot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.users--
	s.used = m.cfg.Now()
}

// lock waits until no other replica holds the conversation's lock.
func (m *Manager) lock(ctx context.Context, conversation string) (context.Context, func(), error) {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		held, unlock, err := m.cfg.Store.TryLock(ctx, conversation)
		if err == nil {
			return held, unlock, nil
		}
		if !errors.Is(err, ErrLocked) {
			return nil, nil, sandbox.Unavailable(err, "can't tell whether another replica gets the conversation's sandbox")
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, nil, sandbox.Unavailable(errors.Join(err, context.Cause(ctx)), "another replica gets the conversation's sandbox")
		}
	}
}

// locked gets the sandbox while no other replica does.
func (m *Manager) locked(ctx context.Context, s *slot, conversation, org string) (string, Recovery, error) {
	held, unlock, err := m.lock(ctx, conversation)
	if err != nil {
		return "", Recovery{}, err
	}
	defer unlock()
	id, recovery, err := m.get(held, s, conversation, org)
	if err != nil && held.Err() != nil && ctx.Err() == nil {
		err = sandbox.Unavailable(errors.Join(context.Cause(held), err), "another replica took the conversation's sandbox over")
	}
	return id, recovery, err
}

func (m *Manager) get(ctx context.Context, s *slot, conversation, org string) (string, Recovery, error) {
	r, ok, err := m.cfg.Store.Load(ctx, conversation)
	if err != nil {
		return "", Recovery{}, sandbox.Unavailable(err, "can't read what is known of the conversation's sandbox")
	}
	if ok && r.Org != org {
		return "", Recovery{}, sandbox.Invalid("the conversation belongs to another organisation")
	}
	if !ok {
		r = Record{Conversation: conversation, Org: org, N: 1, Canary: random()}
	}
	if r.Reaped {
		r = Record{Conversation: conversation, Org: org, N: r.N + 1, Canary: random(), Restore: true}
	}
	s.checked = s.checked && r.Rests != sandbox.Stopped // another replica may have stopped and lost it
	r.Used, r.Rests = m.cfg.Now(), ""
	if err := m.note(ctx, r); err != nil {
		return "", Recovery{}, err
	}
	if r.Ready {
		recovery, lost, err := m.find(ctx, s, r)
		if err != nil || lost == "" {
			return r.ID(), recovery, err
		}
		m.cfg.Log.WarnContext(ctx, "a sandbox is lost and will be replaced", slog.String("sandbox", r.ID()), slog.String("why", lost))
		old := r.ID()
		r = Record{Conversation: conversation, Org: org, N: r.N + 1, Canary: random(), Restore: true, Why: lost, Used: r.Used}
		if err := m.note(ctx, r); err != nil {
			return "", Recovery{}, err
		}
		if err := m.cfg.Driver.Delete(ctx, old); err != nil {
			m.cfg.Log.WarnContext(ctx, "can't delete a lost sandbox", slog.String("sandbox", old), slog.Any("error", err))
		}
	}
	s.checked = false
	recovery, err := m.create(ctx, r)
	if err != nil {
		return "", Recovery{}, err
	}
	r.Ready, r.Restore = true, false
	if err := m.note(ctx, r); err != nil {
		return "", Recovery{}, err
	}
	s.checked = true
	return r.ID(), recovery, nil
}

// note writes a record before what it says is done.
func (m *Manager) note(ctx context.Context, r Record) error {
	if err := m.cfg.Store.Save(ctx, r); err != nil {
		return sandbox.Unavailable(err, "can't note what becomes of the conversation's sandbox")
	}
	return nil
}

// find brings the sandbox that a record names to running. lost says, in words, that it is confirmed to be gone.
func (m *Manager) find(ctx context.Context, s *slot, r Record) (recovery Recovery, lost string, err error) {
	id, recovery := r.ID(), Recovery{How: Found}
	var info sandbox.Info
	err = m.retry(ctx, func() (err error) { info, err = m.cfg.Driver.Find(ctx, id); return err })
	if errors.Is(err, sandbox.ErrNotFound) || err == nil && info.State == sandbox.Gone {
		return Recovery{}, "the sandbox no longer exists", nil
	}
	if err != nil {
		return Recovery{}, "", err
	}
	if info.State != sandbox.Running {
		err = m.retry(ctx, func() error { return m.cfg.Driver.Start(ctx, id) })
		if errors.Is(err, sandbox.ErrNotFound) {
			return Recovery{}, "the sandbox no longer exists", nil
		}
		if err != nil {
			return Recovery{}, "", err
		}
		recovery.How = Started
		s.checked = s.checked && info.State == sandbox.Paused
	}
	if s.checked {
		return recovery, "", nil
	}
	lost, err = m.verify(ctx, r)
	s.checked = err == nil && lost == ""
	return recovery, lost, err
}

// create makes the sandbox that a record names, empty or with the files of the one it replaces. A crash in the middle is taken up here.
func (m *Manager) create(ctx context.Context, r Record) (Recovery, error) {
	spec := sandbox.Spec{ID: r.ID(), Org: r.Org, Limits: m.cfg.Limits}
	recovery := Recovery{How: Created}
	err := m.retry(ctx, func() error {
		if m.pool.claim(ctx, spec) {
			recovery.How = Warmed
			return nil
		}
		_, err := m.cfg.Driver.Create(ctx, spec)
		return err
	})
	if errors.Is(err, sandbox.ErrExists) { // an earlier try got this far
		err = m.retry(ctx, func() error { return m.cfg.Driver.Start(ctx, spec.ID) })
	}
	if err != nil {
		return Recovery{}, err
	}
	if r.Restore {
		recovery.How, recovery.Replaced, recovery.Why = Restored, r.Why != "", r.Why
		if err := m.restore(ctx, r, &recovery); err != nil {
			return Recovery{}, err
		}
	}
	return recovery, m.retry(ctx, func() error { return m.plant(ctx, r) })
}

func (m *Manager) restore(ctx context.Context, r Record, recovery *Recovery) error {
	if r.Why != "" {
		recovery.Missing = append(recovery.Missing, "programs that were running")
	}
	if m.cfg.Checkpoints == nil {
		recovery.Missing = append(recovery.Missing, "all files of the workspace: no checkpoints are kept")
		return nil
	}
	var got workspace.Restored
	err := m.retry(ctx, func() (err error) {
		got, err = m.cfg.Checkpoints.Restore(ctx, m.cfg.Driver, r.ID(), r.Conversation)
		return err
	})
	if err != nil {
		return err
	}
	recovery.Taken, recovery.Files = got.Taken, got.Files
	switch {
	case got.Taken.IsZero():
		recovery.Missing = append(recovery.Missing, "all files of the workspace: there was no checkpoint yet")
	case r.Why != "":
		recovery.Missing = append(recovery.Missing, "changes to files after "+got.Taken.UTC().Format(time.RFC3339))
	}
	for _, l := range got.Left {
		recovery.Missing = append(recovery.Missing, l.Path+": "+l.Why)
	}
	return nil
}

// retry repeats what failed in passing, with back-off.
func (m *Manager) retry(ctx context.Context, do func() error) error {
	wait := m.cfg.Backoff
	for n := 0; ; n++ {
		err := do()
		if err == nil || n == m.cfg.Retries || !errors.Is(err, sandbox.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return errors.Join(err, context.Cause(ctx))
		}
		wait = min(2*wait, 5*time.Second)
	}
}

func random() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
