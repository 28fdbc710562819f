package lease

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"bordereau/sandbox"
)

// Start takes up what an earlier process left: conversations' sandboxes stay, those of nobody are deleted when the driver is ours alone.
// It returns when that is done; the warm pool and the rest for idle sandboxes go on until Stop.
func (m *Manager) Start(ctx context.Context) error {
	var infos []sandbox.Info
	err := m.retry(ctx, func() (err error) { infos, err = m.cfg.Driver.List(ctx); return err })
	if err != nil {
		return err
	}
	records, err := m.book.all()
	if err != nil {
		return err
	}
	known, states := map[string]bool{}, map[string]sandbox.State{}
	for _, info := range infos {
		states[info.ID] = info.State
	}
	m.mu.Lock()
	for _, r := range records {
		known[r.ID()] = true
		if r.Ready && !r.Reaped {
			m.slots[r.Conversation] = &slot{used: r.Used, state: states[r.ID()]}
		}
	}
	m.mu.Unlock()
	for _, info := range infos {
		if known[info.ID] || strings.HasPrefix(info.ID, warmPrefix) || !m.cfg.Exclusive {
			continue
		}
		m.cfg.Log.InfoContext(ctx, "deleting a sandbox of nobody", slog.String("sandbox", info.ID))
		if err := m.cfg.Driver.Delete(ctx, info.ID); err != nil {
			m.cfg.Log.WarnContext(ctx, "can't delete a sandbox of nobody", slog.String("sandbox", info.ID), slog.Any("error", err))
		}
	}
	m.pool.adopt(ctx, infos)
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

// Tidy pauses, stops and gives back what is idle. The watch calls it; it may be called at any time.
func (m *Manager) Tidy(ctx context.Context) {
	m.mu.Lock()
	idle := map[string]time.Duration{}
	for c, s := range m.slots {
		if s.users == 0 {
			idle[c] = m.cfg.Now().Sub(s.used)
		}
	}
	m.mu.Unlock()
	for c, d := range idle {
		if ctx.Err() != nil {
			return
		}
		if err := m.tidy(ctx, c, d); err != nil && ctx.Err() == nil {
			m.cfg.Log.WarnContext(ctx, "can't tidy an idle sandbox", slog.String("conversation", c), slog.Any("error", err))
		}
	}
}

func (m *Manager) tidy(ctx context.Context, conversation string, idle time.Duration) error {
	s := m.slot(conversation)
	if !s.mu.TryLock() {
		return nil // somebody gets it just now
	}
	defer s.mu.Unlock()
	m.mu.Lock()
	busy := s.users > 0
	m.mu.Unlock()
	r, ok, err := m.book.load(conversation)
	if err != nil || busy || !ok || !r.Ready || r.Reaped {
		return err
	}
	due := func(d time.Duration) bool { return d > 0 && idle >= d }
	switch {
	case due(m.cfg.ReapAfter):
		return m.reap(ctx, s, r)
	case due(m.cfg.StopAfter) && s.state != sandbox.Stopped:
		if err := m.keep(ctx, r); err != nil {
			return err
		}
		err = m.cfg.Driver.Stop(ctx, r.ID())
		if err == nil || errors.Is(err, sandbox.ErrNotFound) {
			s.state, s.checked = sandbox.Stopped, false
			return nil
		}
		return err
	case due(m.cfg.PauseAfter) && s.state == sandbox.Running:
		err = m.cfg.Driver.Pause(ctx, r.ID())
		if err == nil || errors.Is(err, sandbox.ErrUnsupported) || errors.Is(err, sandbox.ErrInvalid) || errors.Is(err, sandbox.ErrNotFound) {
			s.state = sandbox.Paused
			return nil
		}
		return err
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
	if err := m.book.save(r); err != nil {
		return err
	}
	s.state, s.checked = sandbox.Gone, false
	return m.cfg.Driver.Delete(ctx, r.ID())
}

// Forget removes a conversation's sandbox, its checkpoints and what is known of it.
func (m *Manager) Forget(ctx context.Context, conversation string) error {
	s := m.slot(conversation)
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok, err := m.book.load(conversation)
	if err != nil {
		return err
	}
	if ok {
		if err := m.cfg.Driver.Delete(ctx, r.ID()); err != nil {
			return err
		}
	}
	if m.cfg.Checkpoints != nil {
		if err := m.cfg.Checkpoints.Forget(ctx, conversation); err != nil {
			return err
		}
	}
	m.mu.Lock()
	delete(m.slots, conversation)
	m.mu.Unlock()
	return m.book.remove(conversation)
}
