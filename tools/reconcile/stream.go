package reconcile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// Stream does what Run does and writes the run's JSON to w as it goes, so that memory doesn't grow with the number of submissions.
// The findings wait in a file of the folder spool ("" is the system's), which is gone afterwards. What it returns is the run without submissions and findings,
// and how many there are.
func (r *Reconciler) Stream(ctx context.Context, scope Scope, q Querier, clock Clock, w io.Writer, spool string) (run Run, tally Tally, err error) {
	file, err := os.CreateTemp(spool, "findings-*")
	if err != nil {
		return Run{}, Tally{}, fmt.Errorf("reconcile: a file for the findings: %w", err)
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	out, waiting := bufio.NewWriterSize(w, 1<<16), bufio.NewWriterSize(file, 1<<16)
	c := r.collector(scope, clock().UTC().Truncate(time.Second))
	enc := list{w: out}
	later := list{w: waiting}
	c.emit = func(s SubmissionResult, found []Finding) error {
		if err := enc.add(s); err != nil {
			return err
		}
		for i := range found {
			if err := later.add(found[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := out.WriteString(`{"submissions":[`); err != nil {
		return Run{}, Tally{}, fmt.Errorf("reconcile: writing the run: %w", err)
	}
	if err := r.read(ctx, scope, q, c); err != nil {
		return Run{}, Tally{}, err
	}
	run = c.finish()
	run.Submissions, run.Findings = nil, nil
	if err := tail(out, waiting, file, run); err != nil {
		return Run{}, Tally{}, fmt.Errorf("reconcile: writing the run: %w", err)
	}
	return run, c.tally, nil
}

// tail writes the findings and then everything that is known only at the end.
func tail(out, waiting *bufio.Writer, file *os.File, run Run) error {
	if err := waiting.Flush(); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := out.WriteString(`],"findings":[`); err != nil {
		return err
	}
	if _, err := io.Copy(out, file); err != nil {
		return err
	}
	head, err := json.Marshal(run)
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(head, &fields); err != nil {
		return err
	}
	delete(fields, "submissions")
	delete(fields, "findings")
	rest, err := json.Marshal(fields) // Sorted by name, so always the same.
	if err != nil {
		return err
	}
	if _, err := out.WriteString("],"); err != nil {
		return err
	}
	if _, err := out.Write(rest[1:]); err != nil {
		return err
	}
	return out.Flush()
}

// list writes the elements of a JSON array.
type list struct {
	w     *bufio.Writer
	begun bool
	buf   bytes.Buffer
}

func (l *list) add(v any) error {
	l.buf.Reset()
	if l.begun {
		l.buf.WriteByte(',')
	}
	l.begun = true
	if err := json.NewEncoder(&l.buf).Encode(v); err != nil {
		return err
	}
	_, err := l.w.Write(bytes.TrimRight(l.buf.Bytes(), "\n"))
	return err
}
