package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/journal"
	"bordereau/agent/stream"
	"bordereau/agent/stream/uimessage"
)

const eventStream = "text/event-stream"

// tail writes a turn's events after a sequence number until its end. What it writes was in the buffer before, so whoever
// loses the connection finds it there. A client that has seen a finished turn's end gets 204. A stream that breaks off ends
// without [DONE], so that the client asks again.
func (a *API) tail(c *gin.Context, t journal.Turn, after int64) error {
	ctx, cancel := context.WithCancel(c.Request.Context())
	defer cancel()
	w := &eventWriter{c: c, out: http.NewResponseController(c.Writer), turn: t.ID, limits: a.c.Limits, now: a.c.Now, broken: cancel}
	defer w.stop()
	a.metrics.streams.Inc()
	defer a.metrics.streams.Dec()
	if after == 0 || t.Outcome.Status.Live() {
		w.begin()
	}
	for e, err := range a.c.Events.Read(ctx, t.ID, after) {
		switch {
		case ctx.Err() != nil:
			return nil // the client left
		case err != nil:
			return &Error{Status: http.StatusServiceUnavailable, Code: Unavailable, Message: "the events can't be read", Hint: "ask again in a moment", Retryable: true, cause: err}
		case e.ID.Seq <= after:
		case !w.event(e):
			return nil
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	if !w.begun() {
		c.Status(http.StatusNoContent)
		c.Writer.WriteHeaderNow()
		return nil
	}
	w.done()
	return nil
}

// eventWriter writes server-sent events, and says that it lives when nothing happens.
type eventWriter struct {
	c      *gin.Context
	out    *http.ResponseController
	turn   string
	limits Limits
	now    func() time.Time
	broken context.CancelFunc

	mu      sync.Mutex
	started bool
	ended   bool
	idle    *time.Timer
}

func (w *eventWriter) begun() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.started
}

func (w *eventWriter) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.beginLocked()
	w.flushLocked()
}

func (w *eventWriter) beginLocked() {
	if w.started {
		return
	}
	w.started = true
	h := w.c.Writer.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Set(uimessage.Header, uimessage.Version)
	h.Set("Bordereau-Turn", w.turn)
	w.c.Status(http.StatusOK)
	w.c.Writer.WriteHeaderNow()
	w.idle = time.AfterFunc(w.limits.KeepAlive, w.alive)
}

// alive is a comment, which clients skip: proxies and people's networks cut what is silent.
func (w *eventWriter) alive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.writeLocked([]byte(": alive\n\n"))
	w.idle.Reset(w.limits.KeepAlive)
}

func (w *eventWriter) event(e stream.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.beginLocked()
	b := make([]byte, 0, len(e.Data)+32)
	b = append(b, "id: "...)
	b = strconv.AppendInt(b, e.ID.Seq, 10)
	b = append(b, "\ndata: "...)
	b = append(b, e.Data...) // JSON on one line: the buffer keeps no other
	b = append(b, "\n\n"...)
	w.idle.Reset(w.limits.KeepAlive)
	return w.writeLocked(b)
}

func (w *eventWriter) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeLocked([]byte("data: [DONE]\n\n"))
}

// writeLocked tells whether the reader is still there.
func (w *eventWriter) writeLocked(b []byte) bool {
	// A reader that takes no event for that long is gone; without a deadline it would hold its turn's memory for ever.
	_ = w.out.SetWriteDeadline(w.now().Add(w.limits.Write)) // not every connection has deadlines
	if _, err := w.c.Writer.Write(b); err != nil {
		w.ended = true
		w.broken()
		return false
	}
	return w.flushLocked()
}

func (w *eventWriter) flushLocked() bool {
	if err := w.out.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		w.ended = true
		w.broken()
		return false
	}
	return true
}

func (w *eventWriter) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.idle != nil {
		w.idle.Stop()
	}
}
