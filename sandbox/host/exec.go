package host

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/remote"
)

// exec runs a command for a backend. When the connection breaks the command goes on for a while, so that the backend can come back with
// the same ID and miss nothing.
func (s *Server) exec(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).EnableFullDuplex()
	in := bufio.NewReader(r.Body)
	line, err := in.ReadBytes('\n')
	var cmd remote.Command
	if err == nil {
		err = json.Unmarshal(line, &cmd)
	}
	if err != nil || cmd.ID == "" || cmd.Waiter == "" {
		fail(w, sandbox.Invalid("the request can't be read"))
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	key := r.PathValue("id") + "\x00" + cmd.Waiter
	s.note(key, &cancel)
	defer s.drop(key, &cancel)
	finished := make(chan struct{})
	defer close(finished)
	go func() {
		select {
		case <-r.Context().Done():
		case <-finished:
			return
		}
		t := time.NewTimer(s.cfg.Grace)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-finished:
		}
	}()

	out := &frames{w: w, flush: http.NewResponseController(w)}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.WriteHeader(http.StatusOK)
	out.send(remote.FrameAlive, nil)
	run := sandbox.Command{
		ID: cmd.ID, Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, Timeout: cmd.Timeout,
		Stdout: stream{out, remote.FrameStdout}, Stderr: stream{out, remote.FrameStderr},
	}
	if cmd.Stdin {
		run.Stdin = in
	}
	result, err := s.cfg.Driver.Exec(ctx, r.PathValue("id"), run)
	if err != nil {
		e, _ := remote.ToError(err)
		out.sendJSON(remote.FrameError, e)
		return
	}
	out.sendJSON(remote.FrameResult, result)
}

func (s *Server) note(key string, cancel *context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.commands[key] == nil {
		s.commands[key] = map[*context.CancelFunc]struct{}{}
	}
	s.commands[key][cancel] = struct{}{}
}

func (s *Server) drop(key string, cancel *context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.commands[key], cancel)
	if len(s.commands[key]) == 0 {
		delete(s.commands, key)
	}
}

// cancel ends a waiter's wait at once; the last one takes the command along.
func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("id") + "\x00" + r.URL.Query().Get("waiter")
	s.mu.Lock()
	for cancel := range s.commands[key] {
		(*cancel)()
	}
	s.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// frames writes the answer piece by piece; when nobody reads any more it goes on without.
type frames struct {
	mu    sync.Mutex
	w     io.Writer
	flush *http.ResponseController
	dead  bool
}

func (f *frames) send(kind byte, payload []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return
	}
	for {
		piece := payload[:min(len(payload), 64<<10)]
		payload = payload[len(piece):]
		if remote.WriteFrame(f.w, kind, piece) != nil || f.flush.Flush() != nil {
			f.dead = true
			return
		}
		if len(payload) == 0 {
			return
		}
	}
}

func (f *frames) sendJSON(kind byte, v any) {
	b, err := json.Marshal(v)
	if err == nil {
		f.send(kind, b)
	}
}

// stream is one of the two outputs.
type stream struct {
	f    *frames
	kind byte
}

// Write sends at once.
func (s stream) Write(p []byte) (int, error) {
	s.f.send(s.kind, p)
	return len(p), nil
}
