package lease

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"bordereau/sandbox"
)

// Start takes up what an earlier process left: conversations' sandboxes stay, those of nobody are deleted when the driver is ours alone.
// It returns when that is done; the warm pool and the rest for idle sandboxes go on until Stop.
func (m *Manager) Start(ctx context.Context) error {
	// The driver first: a sandbox has its record before it is created, so one that is listed and has none is nobody's.
	var infos []sandbox.Info
	err := m.retry(ctx, func() (err error) { infos, err = m.cfg.Driver.List(ctx); return err })
	if err != nil {
		return err
	}
	records, err := m.cfg.Store.All(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, r := range records {
		known[r.ID()] = true
	}
	for _, info := range infos {
		if known[info.ID] || !m.cfg.Exclusive {
			continue
		}
		m.cfg.Log.InfoContext(ctx, "deleting a sandbox of nobody", slog.String("sandbox", info.ID))
		if err := m.cfg.Driver.Delete(ctx, info.ID); err != nil {
			m.cfg.Log.WarnContext(ctx, "can't delete a sandbox of nobody", slog.String("sandbox", info.ID), slog.Any("error", err))
		}
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	m.stop = stop
	m.wg.Go(func() { m.pool.run(running) })
	m.wg.Go(func() { m.watch(running) })
	return nil
}

// Stop ends the pool and the watch and waits for them. Sandboxes stay as they are.
func (m *Manager) Stop() {
	m.once.Do(func() {
		if m.stop != nil {
			m.stop()
		}
		m.wg.Wait()
	})
}

func (m *Manager) watch(ctx context.Context) {
	tick := time.NewTicker(m.period())
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.Tidy(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (m *Manager) period() time.Duration {
	p := 30 * time.Second
	for _, d := range []time.Duration{m.cfg.PauseAfter, m.cfg.StopAfter, m.cfg.ReapAfter} {
		if d > 0 {
			p = min(p, max(d/4, 100*time.Millisecond))
		}
	}
	return p
}

// Tidy pauses, stops and gives back what is idle, whichever replica used it last. The watch calls it; it may be called at any time.
func (m *Manager) Tidy(ctx context.Context) {
	records, err := m.cfg.Store.All(ctx)
	if err != nil {
		m.cfg.Log.WarnContext(ctx, "can't look for idle sandboxes", slog.Any("error", err))
		return
	}
	for _, r := range records {
		if ctx.Err() != nil {
			return
		}
		var err error
		switch {
		case r.warm():
			m.pool.tidy(ctx, r)
		case m.due(r) != nothing:
			err = m.tidy(ctx, r.Conversation)
		}
		if err != nil && ctx.Err() == nil {
			m.cfg.Log.WarnContext(ctx, "can't tidy an idle sandbox", slog.String("sandbox", r.ID()), slog.Any("error", err))
		}
	}
}

// chore is what is due for a sandbox.
type chore string

const (
	nothing chore = ""
	refresh chore = "refresh" // say in the record that it is in use
	pause   chore = "pause"
	stop    chore = "stop"
	giveUp  chore = "give back"
)

// due tells what is to be done about a sandbox, by its record and by what this process knows.
func (m *Manager) due(r Record) chore {
	if !r.Ready || r.Reaped {
		return nothing
	}
	now, used, busy := m.cfg.Now(), r.Used, false
	m.mu.Lock()
	if s := m.slots[r.Conversation]; s != nil {
		busy = s.users > 0
		if s.used.After(used) {
			used = s.used
		}
	}
	m.mu.Unlock()
	over := func(d time.Duration) bool { return d > 0 && now.Sub(used) >= d }
	switch {
	case busy && (now.Sub(r.Used) >= m.period() || r.Rests != ""):
		return refresh
	case busy:
		return nothing
	case over(m.cfg.ReapAfter):
		return giveUp
	case over(m.cfg.StopAfter) && r.Rests != sandbox.Stopped:
		return stop
	case over(m.cfg.PauseAfter) && r.Rests == "":
		return pause
	}
	return nothing
}

func (m *Manager) tidy(ctx context.Context, conversation string) error {
	s := m.slot(conversation)
	if !s.mu.TryLock() {
		return nil // somebody gets it just now
	}
	defer s.mu.Unlock()
	ctx, unlock, err := m.cfg.Store.TryLock(ctx, conversation)
	if errors.Is(err, ErrLocked) {
		return nil // another replica does
	}
	if err != nil {
		return err
	}
	defer unlock()
	r, ok, err := m.cfg.Store.Load(ctx, conversation)
	if err != nil || !ok {
		return err
	}
	switch m.due(r) { // asked again: it may have been used meanwhile
	case refresh:
		r.Used, r.Rests = m.cfg.Now(), ""
		return m.note(ctx, r)
	case giveUp:
		return m.reap(ctx, s, r)
	case stop:
		if err := m.keep(ctx, r); err != nil {
			return err
		}
		if err := m.cfg.Driver.Stop(ctx, r.ID()); err != nil && !errors.Is(err, sandbox.ErrNotFound) {
			return err
		}
		s.checked, r.Rests = false, sandbox.Stopped
		return m.note(ctx, r)
	case pause:
		err := m.cfg.Driver.Pause(ctx, r.ID())
		if err != nil && !errors.Is(err, sandbox.ErrUnsupported) && !errors.Is(err, sandbox.ErrInvalid) && !errors.Is(err, sandbox.ErrNotFound) {
			return err
		}
		r.Rests = sandbox.Paused
		return m.note(ctx, r)
	case nothing:
	}
	return nil
}

// keep takes a last checkpoint before a sandbox is stopped or given back. One that is gone has nothing to keep; the next Get tells.
func (m *Manager) keep(ctx context.Context, r Record) error {
	if m.cfg.Checkpoints == nil {
		return nil
	}
	info, err := m.cfg.Driver.Find(ctx, r.ID())
	if errors.Is(err, sandbox.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.State == sandbox.Running || info.State == sandbox.Paused {
		if info.State == sandbox.Paused {
			if err := m.cfg.Driver.Start(ctx, r.ID()); err != nil {
				return err
			}
		}
		_, err = m.cfg.Checkpoints.Save(ctx, m.cfg.Driver, r.ID(), r.Conversation)
	}
	return err
}

// reap gives an old sandbox back. Its files stay in the checkpoint; without checkpoints it is kept.
func (m *Manager) reap(ctx context.Context, s *slot, r Record) error {
	if m.cfg.Checkpoints == nil {
		return nil
	}
	err := m.cfg.Driver.Start(ctx, r.ID()) // a stopped one was checkpointed, but nobody proves that nothing came later
	if err != nil && !errors.Is(err, sandbox.ErrNotFound) {
		return err
	}
	if err == nil {
		if lost, err := m.verify(ctx, r); err != nil || lost != "" {
			return err // not our workspace: the next Get sorts it out
		}
		if err := m.keep(ctx, r); err != nil {
			return err
		}
	} else {
		return nil // gone already; the next Get tells what is missing
	}
	r.Reaped = true
	if err := m.note(ctx, r); err != nil {
		return err
	}
	s.checked = false
	return m.cfg.Driver.Delete(ctx, r.ID())
}

// Forget removes a conversation's sandbox, its checkpoints and what is known of it.
func (m *Manager) Forget(ctx context.Context, conversation string) error {
	s := m.slot(conversation)
	s.mu.Lock()
	defer s.mu.Unlock()
	held, unlock, err := m.lock(ctx, conversation)
	if err != nil {
		return err
	}
	defer unlock()
	r, ok, err := m.cfg.Store.Load(held, conversation)
	if err != nil {
		return err
	}
	if ok {
		if err := m.cfg.Driver.Delete(held, r.ID()); err != nil {
			return err
		}
	}
	if m.cfg.Checkpoints != nil {
		if err := m.cfg.Checkpoints.Forget(held, conversation); err != nil {
			return err
		}
	}
	m.mu.Lock()
	delete(m.slots, conversation)
	m.mu.Unlock()
	return m.cfg.Store.Remove(held, conversation)
}
