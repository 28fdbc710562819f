package modelserver

import (
	"context"
	"net/http"
	"time"
)

// out writes a stream as slowly and as badly as it is told.
type out struct {
	w     http.ResponseWriter
	ctx   context.Context //nolint:containedctx // one request's, for its whole life
	split bool
	gone  bool
}

// send writes one event and flushes it; in split mode every byte goes alone.
func (o *out) send(text string) {
	if o.gone || o.ctx.Err() != nil {
		o.gone = true
		return
	}
	step := len(text)
	if o.split {
		step = 1
	}
	flush := http.NewResponseController(o.w)
	for i := 0; i < len(text); i += step {
		if _, err := o.w.Write([]byte(text[i:min(i+step, len(text))])); err != nil {
			o.gone = true
			return
		}
		if err := flush.Flush(); err != nil {
			o.gone = true
			return
		}
	}
}

// pause waits; false when the client left.
func (o *out) pause(d time.Duration) bool {
	if d <= 0 {
		return o.ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-o.ctx.Done():
		o.gone = true
		return false
	}
}

// breakOff does what the fault says in mid-stream. It tells whether the stream ends here.
func (o *out) breakOff(f Fault) bool {
	switch f {
	case Stall:
		<-o.ctx.Done()
		return true
	case Cut:
		panic(http.ErrAbortHandler) // the one way to break a connection from a handler
	case CleanEnd:
		return true
	default:
		return false
	}
}
