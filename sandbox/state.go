package sandbox

import "slices"

// moves is every transition a sandbox may make; Gone is final.
var moves = map[State][]State{ //nolint:gochecknoglobals // a constant table
	Creating: {Running, Gone},
	Running:  {Paused, Stopped, Gone},
	Paused:   {Running, Stopped, Gone},
	Stopped:  {Running, Gone},
	Gone:     nil,
}

// May tells whether a sandbox in state s may become to. Staying where it is always is allowed, but for Gone.
func (s State) May(to State) bool {
	return (s == to && s != Gone) || slices.Contains(moves[s], to)
}
