package main

import (
	"context"
	"log/slog"
	"slices"
)

// closers are what has to be closed, in the order in which it was opened.
type closers []func() error

func (c *closers) add(f func() error) { *c = append(*c, f) }

// close closes the newest first and logs what fails: nobody is left to return it to.
func (c *closers) close(ctx context.Context, log *slog.Logger) {
	for _, f := range slices.Backward(*c) {
		if err := f(); err != nil {
			log.ErrorContext(ctx, "closing", slog.Any("error", err))
		}
	}
	*c = nil
}
