package turn

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"bordereau/agent/journal"
	"bordereau/agent/model"
)

// metrics count failures of the infrastructure and of models apart.
type metrics struct {
	ended     *prometheus.CounterVec
	attempts  *prometheus.CounterVec
	tools     *prometheus.CounterVec
	toRequest prometheus.Histogram
	firstByte prometheus.Histogram
	wait      *prometheus.HistogramVec
	takeovers prometheus.Counter
	fenced    prometheus.Counter
	running   prometheus.Gauge
	spent     *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	seconds := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	m := &metrics{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bordereau_turns_ended_total", Help: "Turns by how they ended; fault is infrastructure or model for those that failed."},
			[]string{"status", "reason", "fault", "component"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bordereau_model_attempts_total", Help: "Model calls by class of failure, ok for none."},
			[]string{"model", "class", "fault"}),
		tools:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bordereau_tool_calls_total", Help: "Tool calls: ok, error (the model can mend it), failed (infrastructure)."}, []string{"tool", "result"}),
		toRequest: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bordereau_turn_request_seconds", Help: "From an accepted message to the first model request.", Buckets: seconds}),
		firstByte: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bordereau_model_first_byte_seconds", Help: "From a model request to its first event.", Buckets: seconds}),
		wait:      prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "bordereau_turn_wait_seconds", Help: "Time that turns waited for a part.", Buckets: seconds}, []string{"component"}),
		takeovers: prometheus.NewCounter(prometheus.CounterOpts{Name: "bordereau_turn_takeovers_total", Help: "Turns that this replica went on with after another runner."}),
		fenced:    prometheus.NewCounter(prometheus.CounterOpts{Name: "bordereau_turns_fenced_total", Help: "Turns that this replica lost to a newer epoch."}),
		running:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "bordereau_turns_running", Help: "Turns that run here."}),
		spent:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bordereau_model_tokens_total", Help: "Tokens by kind."}, []string{"model", "kind"}),
	}
	if r != nil {
		for _, c := range []prometheus.Collector{m.ended, m.attempts, m.tools, m.toRequest, m.firstByte, m.wait, m.takeovers, m.fenced, m.running, m.spent} {
			r.MustRegister(c)
		}
	}
	return m
}

func (m *metrics) end(o journal.Outcome) {
	m.ended.WithLabelValues(string(o.Status), o.Reason, o.Fault, o.Component).Inc()
}

func (m *metrics) attempt(name string, err *model.Error, u model.Usage) {
	class, fault := "ok", ""
	if err != nil {
		class, fault = string(err.Class), string(err.Class.Fault())
	}
	m.attempts.WithLabelValues(name, class, fault).Inc()
	for kind, n := range map[string]int64{"input": u.Input, "output": u.Output, "cache_read": u.CacheRead, "cache_write": u.CacheWrite} {
		m.spent.WithLabelValues(name, kind).Add(float64(max(n, 0)))
	}
}

func (m *metrics) waited(component string, took time.Duration) {
	m.wait.WithLabelValues(component).Observe(took.Seconds())
}
