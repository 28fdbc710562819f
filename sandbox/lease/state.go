package lease

import (
	"context"
	"errors"

	"bordereau/sandbox"
)

// State says where a conversation's sandbox is in its life, for people who wait: Gone where it has none. It touches nothing.
func (m *Manager) State(ctx context.Context, conversation string) (sandbox.State, error) {
	r, ok, err := m.cfg.Store.Load(ctx, conversation)
	switch {
	case err != nil:
		return "", sandbox.Unavailable(err, "can't read what is known of the conversation's sandbox")
	case !ok || r.Reaped:
		return sandbox.Gone, nil
	case !r.Ready:
		return sandbox.Creating, nil
	}
	info, err := m.cfg.Driver.Find(ctx, r.ID())
	if errors.Is(err, sandbox.ErrNotFound) {
		return sandbox.Gone, nil
	}
	return info.State, err
}
