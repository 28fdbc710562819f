package generation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	_ "github.com/duckdb/duckdb-go/v2" // the "duckdb" driver
	"golang.org/x/sync/errgroup"

	"bordereau/governance/dataset/record"
)

// build is one run of a job. Its instance is in memory, with the two files attached: f, the full profile, and m, the masked one.
// Each path is opened by this instance alone, as DuckDB's locks want it.
type build struct {
	job       Job
	db        *sql.DB
	conn      *sql.Conn
	empty     bool // there is nothing yet
	onlyEdits bool
	aligned   bool  // the rows of extracted_fields that change lie in both files at the same places
	keyed     int64 // rows of extracted_fields before this one are found by the twins' keys
	affected  int64
	came      [5]int64 // the records of each kind, without repetitions
	counts    [5]Counts
	problems  []record.Problem
	twins     map[string]written
	more      [2]map[string]int64 // rows that each relation got in the full file and in the masked one
	masks     map[Class]shown
	millis    map[string]int64
	last      time.Time
}

// blockSize is that of new files, in bytes. Whoever replays a log holds a block for every column that the log adds to, and a row that is
// looked up costs a block for each of its columns: a quarter of DuckDB's usual size makes edits and opening cheaper by a quarter, and
// scans no dearer, for files half as large again.
const blockSize = "65536"

// The names of the files in the job's folder.
const (
	fullFile     = "full.duckdb"
	standardFile = "standard.duckdb"
	storedFile   = "stored.ndjson"
)

// Run does a job. Problems of the import are in the result; the error is for everything else.
func Run(ctx context.Context, job Job) (res Result, err error) {
	b := &build{job: job, more: [2]map[string]int64{{}, {}}, millis: map[string]int64{}, last: time.Now(), empty: job.Full == ""}
	if b.masks, err = ReadMasks(job.Masks); err != nil {
		return res, fmt.Errorf("the policy's masks: %w", err)
	}
	b.db, err = sql.Open("duckdb", "")
	if err != nil {
		return res, fmt.Errorf("opening the builder's database: %w", err)
	}
	defer func() { err = errors.Join(err, b.db.Close()) }()
	b.conn, err = b.db.Conn(ctx)
	if err != nil {
		return res, fmt.Errorf("opening the builder's database: %w", err)
	}
	// A connection left open when its database closes can hang the process.
	defer func() { err = errors.Join(err, b.conn.Close()) }()
	for _, q := range []string{
		"SET temp_directory=" + literal(filepath.Join(job.Dir, "spill")),
		fmt.Sprintf("SET threads=%d", max(job.Threads, 1)),
		fmt.Sprintf("SET memory_limit='%dMB'", max(job.MemoryMB, 256)),
		"SET wal_autocheckpoint='1TB'", // one checkpoint, at the end
		"SET default_block_size=" + blockSize,
		// Rows are fetched by thousands of row ids at a time. Without this DuckDB gives a scan no more than the smallest and largest of them.
		"SET dynamic_or_filter_threshold=100000",
		"SET TimeZone='UTC'",
		"SET autoinstall_known_extensions=false", "SET autoload_known_extensions=false",
	} {
		if err := b.exec(ctx, q); err != nil {
			return res, err
		}
	}
	if job.Grow {
		if err := b.growSettings(ctx); err != nil {
			return res, err
		}
	}
	for _, q := range append(readers(), macros(job.Key, b.masks)...) {
		if err := b.exec(ctx, q); err != nil {
			return res, fmt.Errorf("the builder's macros can't be made: %w", redacted(err))
		}
	}
	b.mark("open")
	switch job.Mode {
	case Import:
		res, err = b.runImport(ctx)
	case Fold:
		res, err = b.runFold(ctx)
	case Compact:
		res, err = b.runCompact(ctx)
	case Rebuild:
		res, err = b.runRebuild(ctx)
	case Mask:
		res, err = b.runMask(ctx)
	case Keys:
		err = b.runKeys(ctx)
	default:
		err = fmt.Errorf("no mode %q", job.Mode)
	}
	res.Millis = b.millis
	return res, err
}

func (b *build) runImport(ctx context.Context) (Result, error) {
	wait := b.copyBoth() // while the import is read
	err := b.stageFiles(ctx)
	b.mark("read")
	if err := errors.Join(err, wait()); err != nil {
		return Result{}, err
	}
	b.mark("copy")
	if len(b.problems) > 0 {
		return Result{Problems: b.problems}, nil
	}
	if err := b.watchTwins(); err != nil {
		return Result{}, err
	}
	if err := b.attach(ctx); err != nil {
		return Result{}, err
	}
	changed, err := b.apply(ctx)
	if errors.Is(err, errEnough) || len(b.problems) > 0 {
		return Result{Problems: b.problems}, nil
	}
	if err != nil {
		return Result{}, err
	}
	res := Result{Changed: changed, Counts: b.countsByName()}
	if !changed {
		return res, nil
	}
	if !b.empty {
		if res.Churn, err = b.count(ctx, "SELECT count(*) FROM old_field WHERE field_id IN (SELECT field_id FROM n_extracted_fields)"); err != nil {
			return Result{}, err
		}
	}
	if res.Facts, err = b.writeFacts(ctx); err != nil {
		return Result{}, err
	}
	if res.Stored, err = b.writeStored(ctx); err != nil {
		return Result{}, err
	}
	b.mark("facts")
	return b.seal(ctx, res)
}

// apply takes what was staged into f and m, unless there are problems or nothing changes.
func (b *build) apply(ctx context.Context) (changed bool, err error) {
	if err := b.compare(ctx); err != nil {
		return false, err
	}
	if err := b.checkReferences(ctx); err != nil {
		return false, err
	}
	b.mark("compare")
	if len(b.problems) > 0 {
		return false, errEnough
	}
	for _, c := range b.counts {
		changed = changed || c.New+c.Replaced > 0
	}
	if !changed {
		return false, nil
	}
	if err := b.derive(ctx); err != nil {
		return false, err
	}
	if err := b.maskFields(ctx); err != nil {
		return false, err
	}
	if err := b.align(ctx); err != nil {
		return false, err
	}
	b.mark("derive")
	err = b.both(ctx, func(ctx context.Context, conn *sql.Conn, catalog string) error {
		// One transaction: each would cost a sync.
		if err := execOn(ctx, conn, "BEGIN"); err != nil {
			return err
		}
		for _, r := range relations() {
			if err := b.write(ctx, conn, catalog, r); err != nil {
				return err
			}
		}
		return execOn(ctx, conn, "COMMIT")
	})
	b.mark("write")
	return true, err
}

// write takes the new rows of a relation into a file, in place of those with the same keys.
func (b *build) write(ctx context.Context, conn *sql.Conn, catalog string, r relation) error {
	more := b.more[0]
	if catalog == "m" {
		more = b.more[1]
	}
	var n int64
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM n_"+r.name).Scan(&n); err != nil {
		return err
	}
	if n == 0 && (!r.cells || b.empty || b.onlyEdits) {
		return nil
	}
	if !b.empty {
		where := r.key + " IN (SELECT " + r.key + " FROM n_" + r.name + ")"
		if r.name == "extracted_fields" && (catalog == "f" || b.aligned) {
			where = "rowid IN (SELECT rid FROM old_field WHERE field_id IN (SELECT field_id FROM n_extracted_fields))"
		}
		if r.cells { // a row may have gone from one table to another
			where = "row_id IN (SELECT row_id FROM n_extracted_rows)"
		}
		gone, err := changeOn(ctx, conn, "DELETE FROM "+catalog+"."+r.name+" WHERE "+where)
		if err != nil {
			return err
		}
		more[r.name] -= gone
	}
	from := "FROM n_" + r.name
	if catalog == "m" {
		from = maskedSelect(r, b.masks)
	}
	came, err := changeOn(ctx, conn, "INSERT INTO "+catalog+"."+r.name+" "+from)
	more[r.name] += came
	return err
}

// both does work on the two files at once, each on a connection of its own.
func (b *build) both(ctx context.Context, work func(ctx context.Context, conn *sql.Conn, catalog string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, catalog := range []string{"f", "m"} {
		group.Go(func() (err error) {
			conn, err := b.db.Conn(ctx)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, conn.Close()) }()
			return work(ctx, conn, catalog)
		})
	}
	return group.Wait()
}

// attach opens the two files, which replays their logs, and makes their tables when they are new.
func (b *build) attach(ctx context.Context) error {
	paths := b.paths()
	err := b.both(ctx, func(ctx context.Context, conn *sql.Conn, catalog string) error {
		if err := execOn(ctx, conn, "ATTACH "+literal(paths[catalog])+" AS "+catalog); err != nil || !b.empty {
			return err
		}
		if err := execOn(ctx, conn, "BEGIN"); err != nil {
			return err
		}
		for _, r := range relations() {
			if err := execOn(ctx, conn, r.ddl(catalog)); err != nil {
				return err
			}
		}
		return execOn(ctx, conn, "COMMIT")
	})
	if err == nil {
		err = b.attachKeys(ctx)
	}
	b.mark("attach")
	return err
}

// paths are the files that the build writes, by catalog.
func (b *build) paths() map[string]string {
	if b.job.Grow {
		return map[string]string{"f": b.job.Full, "m": b.job.Standard}
	}
	return map[string]string{"f": filepath.Join(b.job.Dir, fullFile), "m": filepath.Join(b.job.Dir, standardFile)}
}

// copyBoth begins to copy the last generation's files and logs, and returns what waits for that.
func (b *build) copyBoth() (wait func() error) {
	var copies errgroup.Group
	for from, name := range map[string]string{b.job.Full: fullFile, b.job.Standard: standardFile} {
		if b.empty || b.job.Grow {
			break
		}
		to := filepath.Join(b.job.Dir, name)
		copies.Go(func() error { return copyFile(from, to) })
		if _, err := os.Stat(from + LogSuffix); err == nil {
			copies.Go(func() error { return copyFile(from+LogSuffix, to+LogSuffix) })
		}
	}
	return copies.Wait
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copying the last generation: %w", err)
	}
	defer in.Close() // only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("copying the last generation: %w", err)
	}
	_, err = io.Copy(out, in) // shares the blocks where the file system can
	return errors.Join(err, out.Close())
}

func (b *build) mark(step string) {
	now := time.Now()
	b.millis[step] += now.Sub(b.last).Milliseconds()
	b.last = now
}

func (b *build) countsByName() map[string]Counts {
	all := map[string]Counts{}
	for _, k := range record.Kinds() {
		all[k.String()] = b.counts[k]
	}
	return all
}
