package turn

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"bordereau/agent/journal"
	"bordereau/agent/stream"
)

// ErrConfig is returned by NewRunner for a Config that lacks something.
var ErrConfig = errors.New("turn: incomplete configuration")

// Config is what a Runner is made from. Journal, Buffer, Models, Toolbox, Log and NewID are required.
type Config struct {
	Journal *journal.Store
	Buffer  stream.Buffer
	Models  Models
	Toolbox Toolbox
	Names   Names // nil: organisations go by their ids
	Log     *slog.Logger
	NewID   func() string
	Now     func() time.Time      // nil: time.Now
	Jitter  func() float64        // nil: random in [0,1)
	Metrics prometheus.Registerer // nil: none
	Tracer  trace.Tracer          // nil: none

	Turns      int           // how many run at once; 0: 64
	Poll       time.Duration // how often other replicas' turns are looked for; 0: 50 ms
	Grace      time.Duration // how long Stop lets a turn reach the end of its step; 0: 2 s
	Stall      time.Duration // a model silent for longer has failed; 0: 2 min
	Preflight  time.Duration // bound of Toolbox.Open; 0: 30 s
	Attempts   int           // tries of one step; 0: 5
	BackOff    time.Duration // before the second try, doubling up to 30 s; 0: 500 ms
	ReplyMax   int           // tokens of one reply; 0: 8192
	ContextMax int           // tokens of one request, estimated; 0: 150,000
	ResultMax  int           // bytes of one tool result that the model is shown; 0: 24 KiB
	Limits     Limits
}

func (c Config) complete() (Config, error) {
	if c.Journal == nil || c.Buffer == nil || c.Models == nil || c.Toolbox == nil || c.Log == nil || c.NewID == nil {
		return c, fmt.Errorf("%w: it needs Journal, Buffer, Models, Toolbox, Log and NewID", ErrConfig)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	if c.Tracer == nil {
		c.Tracer = noop.NewTracerProvider().Tracer("")
	}
	set(&c.Turns, 64)
	set(&c.Poll, 50*time.Millisecond)
	set(&c.Grace, 2*time.Second)
	set(&c.Stall, 2*time.Minute)
	set(&c.Preflight, 30*time.Second)
	set(&c.Attempts, 5)
	set(&c.BackOff, 500*time.Millisecond)
	set(&c.ReplyMax, 8192)
	set(&c.ContextMax, 150_000)
	set(&c.ResultMax, 24<<10)
	c.Limits = c.Limits.complete()
	return c, nil
}

func set[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}
