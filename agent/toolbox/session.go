package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"bordereau/agent/artifact"
	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/agent/turn"
	"bordereau/sandbox"
)

// session is the tools of one turn under one epoch.
type session struct {
	c          Config
	turn       journal.Turn
	observer   turn.Observer
	log        *slog.Logger
	token      *token
	governance *governance
	tools      []model.Tool // governance's
	space      *space

	stop    context.CancelFunc
	workers sync.WaitGroup
}

var _ turn.Tools = (*session)(nil)

// start keeps the sandbox's copy of the token fresh, and fetches the sandbox beside the first model call when told to.
func (s *session) start(ctx context.Context) {
	// The work outlives the call that opened the tools and ends with Close.
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.workers.Go(func() { s.renew(ctx) })
	if s.c.Prefetch {
		s.workers.Go(func() {
			if _, err := s.space.get(ctx); err != nil && ctx.Err() == nil {
				s.log.InfoContext(ctx, "sandbox not fetched ahead", slog.Any("error", err))
			}
		})
	}
}

func (s *session) renew(ctx context.Context) {
	for {
		timer := time.NewTimer(max(s.token.renewIn(), time.Second))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if err := s.space.refreshToken(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "token not renewed in the sandbox", slog.Any("error", err))
		}
	}
}

// List returns governance's tools and the agent's own, by name.
func (s *session) List() []model.Tool {
	all := append(slices.Clone(s.tools), own()...)
	slices.SortFunc(all, func(a, b model.Tool) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Call runs one tool.
func (s *session) Call(ctx context.Context, c turn.Call) (turn.Result, error) {
	if slices.Contains(s.c.Allow, c.Name) {
		return s.governed(ctx, c)
	}
	var f func(context.Context, turn.Call) (turn.Result, error)
	switch c.Name {
	case "run":
		f = s.run
	case "read_file":
		f = s.readFile
	case "write_file":
		f = s.writeFile
	case "list_files":
		f = s.listFiles
	case "publish_report":
		f = s.publish
	case "plan":
		f = s.plan
	default:
		var names []string
		for _, t := range s.List() {
			names = append(names, t.Name)
		}
		return invalid(fmt.Sprintf("there is no tool %q", c.Name), "the tools are "+strings.Join(names, ", ")).result(), nil
	}
	r, err := f(ctx, c)
	// A fault that the model can mend is its to read; any other ends the turn, naming the part that failed.
	var fa *fault
	var fail *turn.Failure
	switch {
	case err == nil, errors.As(err, &fail), errors.Is(err, turn.ErrUnknownOutcome):
		return r, err
	case errors.As(err, &fa):
	default:
		fa = ofSandbox(err)
	}
	if fa.mendable() {
		return fa.result(), nil
	}
	return turn.Result{}, fa.failure(err)
}

// Save keeps a tool's whole output in the workspace.
func (s *session) Save(ctx context.Context, name string, content []byte) (string, error) {
	s.space.touch()
	file := path.Join(sandbox.WorkspaceDir, "outputs", artifact.CleanName(name))
	return file, s.space.do(ctx, func(id string) error {
		return s.c.Sandboxes.WriteFile(ctx, id, file, strings.NewReader(string(content)))
	})
}

// Close stops what the tools started and takes the token out of the sandbox.
func (s *session) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	s.stop()
	s.workers.Wait()
	s.token.forget()
	s.governance.close()
	return s.space.close(ctx)
}

// decode reads a call's input strictly: an unknown key is a misunderstanding that the model should hear of.
func decode(c turn.Call, into any) error {
	dec := json.NewDecoder(strings.NewReader(string(c.Input)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return invalid(fmt.Sprintf("the input of %s can't be read: %s", c.Name, safe(err)), "see the tool's schema")
	}
	return nil
}

// answer makes a result that both the model and people read.
func answer(v any) (turn.Result, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return turn.Result{}, fmt.Errorf("writing an answer: %w", err)
	}
	return turn.Result{Text: string(raw), Output: raw}, nil
}
