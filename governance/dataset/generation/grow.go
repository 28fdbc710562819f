package generation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
)

// A file of a large organisation is not copied for a handful of edits. The build opens twins, copies of the published files that only
// builders ever open, and leaves what it changes in DuckDB's write-ahead logs beside them. The log beside a link to the published file is
// the new generation: a reader replays it when it opens. So a twin must never be written: what was published would not match the log.

// written tells what a twin looked like before it was opened.
type written struct {
	size int64
	at   time.Time
}

func look(path string) (written, error) {
	info, err := os.Stat(path)
	if err != nil {
		return written{}, fmt.Errorf("looking at a twin: %w", err)
	}
	return written{info.Size(), info.ModTime()}, nil
}

// growMemoryMB is what a build that grows logs may hold. It looks once at most blocks of the twins, and memory that is used again costs less
// than fresh pages. Half of it doesn't hold two files of ten million fields and a log of a thousand edits.
const growMemoryMB = 256

func (b *build) growSettings(ctx context.Context) error {
	if err := b.exec(ctx, "PRAGMA disable_checkpoint_on_shutdown"); err != nil {
		return err
	}
	return b.exec(ctx, fmt.Sprintf("SET memory_limit='%dMB'", growMemoryMB))
}

// watchTwins notes how the twins look.
func (b *build) watchTwins() error {
	if !b.job.Grow {
		return nil
	}
	b.twins = map[string]written{}
	for _, path := range b.paths() {
		w, err := look(path)
		if err != nil {
			return err
		}
		b.twins[path] = w
	}
	return nil
}

// sealLogs takes the twins' logs into the job's folder. If DuckDB wrote into a twin, as it does with many rows at once, there is no result.
func (b *build) sealLogs(res Result) (Result, error) {
	for path, before := range b.twins {
		after, err := look(path)
		if err != nil {
			return Result{}, err
		}
		if after != before {
			return Result{Overgrown: true}, nil
		}
	}
	var group errgroup.Group
	group.Go(func() (err error) { res.Full, err = b.sealLog(b.job.Full, fullFile); return err })
	group.Go(func() (err error) { res.Standard, err = b.sealLog(b.job.Standard, standardFile); return err })
	err := group.Wait()
	b.mark("log")
	return res, err
}

func (b *build) sealLog(twin, name string) (Built, error) {
	log := filepath.Join(b.job.Dir, name+LogSuffix)
	if err := copyFile(twin+LogSuffix, log); err != nil {
		return Built{}, err
	}
	if err := syncFile(log); err != nil {
		return Built{}, err
	}
	sealed, err := finish(log)
	return Built{Path: filepath.Join(b.job.Dir, name), Log: &sealed}, err
}

// align finds out whether the rows of extracted_fields that change lie at the same places in both files, as they do when both were
// written in the same steps. They are then found by place in the second one, without another look at all of its keys. Of those
// among the keys it is known.
func (b *build) align(ctx context.Context) error {
	if b.empty {
		return nil
	}
	missed, err := b.count(ctx, fmt.Sprintf(`WITH o AS (SELECT rid, field_id FROM old_field WHERE rid >= %d)
		SELECT (SELECT count(*) FROM o) - (SELECT count(*) FROM m.extracted_fields t JOIN o ON t.rowid = o.rid WHERE t.field_id = o.field_id)`, b.keyed))
	b.aligned = missed == 0
	return err
}
