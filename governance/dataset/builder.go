package dataset

import (
	"context"
	"io"
)

// BuilderMain is the builder process: it reads one job from in, does it, and answers on out.
// A program that opens a Store runs it under a hidden subcommand, "dataset-builder"; a test binary does so in TestMain.
func BuilderMain(ctx context.Context, in io.Reader, out, log io.Writer) error { return errSoon }
