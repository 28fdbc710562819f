package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"bordereau/governance/dataset/generation"
	"bordereau/governance/fault"
)

// BuilderMain is the builder process: it reads one job from in, does it, and answers on out. It ends when in does, for then
// whoever wanted the work is gone.
// A program that opens a Store runs it under a hidden subcommand, "dataset-builder"; a test binary does so in TestMain.
func BuilderMain(ctx context.Context, in io.Reader, out, log io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	decoder := json.NewDecoder(in)
	var job generation.Job
	if err := decoder.Decode(&job); err != nil {
		return fmt.Errorf("the builder's job can't be read: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		if ctx.Err() == nil {
			fmt.Fprintln(log, "whoever wanted this built is gone")
			// Not everything in DuckDB heeds a context, and nothing here needs to be put away: what isn't published doesn't exist.
			os.Exit(3)
		}
	}()
	res, err := generation.Run(ctx, job)
	if err != nil {
		res = generation.Result{Error: err.Error(), Millis: res.Millis}
	}
	return json.NewEncoder(out).Encode(res)
}

// runBuilder does a job in a builder process.
func (s *Store) runBuilder(ctx context.Context, job generation.Job) (generation.Result, error) {
	var res generation.Result
	body, err := json.Marshal(job)
	if err != nil {
		return res, err
	}
	cmd := exec.CommandContext(ctx, s.cfg.Builder.Path, s.cfg.Builder.Args...)
	cmd.Env = s.cfg.Builder.Env
	if cmd.Env == nil {
		cmd.Env = []string{"TMPDIR=" + job.Dir} // nothing else of ours is the builder's business
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return res, err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return res, s.unavailable("the builder can't be started", err)
	}
	_, writeErr := stdin.Write(body)
	waitErr := cmd.Wait() // closes stdin, after the process ended
	if ctx.Err() != nil {
		return res, &fault.Error{Code: fault.Interrupted, Component: "dataset", Message: "the import was stopped; nothing changed", Retryable: true}
	}
	if err := errors.Join(writeErr, waitErr); err != nil {
		return res, s.unavailable("the builder died; nothing changed", fmt.Errorf("%w: %s", err, tail(stderr.Bytes())))
	}
	if err := json.Unmarshal(stdout.Bytes(), &res); err != nil {
		return res, s.unavailable("the builder's answer can't be read; nothing changed", err)
	}
	if res.Error != "" {
		return res, s.unavailable("the builder failed; nothing changed", errors.New(res.Error))
	}
	if res.Millis != nil {
		res.Millis["cpu"] = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Milliseconds()
	}
	return res, nil
}

func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

func (s *Store) unavailable(message string, cause error) error {
	return (&fault.Error{
		Code: fault.Unavailable, Component: "dataset", Message: message, Retryable: true,
		Hint: "try again; if it goes on, look for \"dataset\" in the server's log",
	}).Because(cause)
}
