package main

import (
	"context"

	"bordereau/agent/httpapi"
	"bordereau/sandbox"
	"bordereau/sandbox/lease"
)

// sandboxStates tells people of their conversations' sandboxes.
type sandboxStates struct{ *lease.Manager }

var _ httpapi.Sandboxes = sandboxStates{}

// State says it in the words of the HTTP face.
func (s sandboxStates) State(ctx context.Context, conversation string) (string, error) {
	state, err := s.Manager.State(ctx, conversation)
	switch state {
	case sandbox.Creating:
		return "starting", err
	case sandbox.Running, sandbox.Paused, sandbox.Stopped:
		return string(state), err
	case sandbox.Gone:
	}
	return "none", err
}
