package schedule

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	ticks    *prometheus.CounterVec
	ended    *prometheus.CounterVec
	attempts *prometheus.CounterVec
	late     prometheus.Histogram
	trouble  prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		ticks:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bordereau_schedule_ticks_total", Help: "Ticks by what became of them: running, queued, skipped, missed."}, []string{"cause", "state"}),
		ended:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bordereau_schedule_runs_ended_total", Help: "Runs by how they ended, and why somebody was alerted."}, []string{"state", "alert"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bordereau_delivery_attempts_total", Help: "Attempts to deliver a report or an alert."}, []string{"kind", "parcel", "outcome"}),
		late:     prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bordereau_schedule_late_seconds", Help: "How long after its tick a run began.", Buckets: []float64{.5, 1, 2, 5, 10, 30, 60, 300, 3600}}),
		trouble:  prometheus.NewCounter(prometheus.CounterOpts{Name: "bordereau_schedule_trouble_total", Help: "What a scheduler could not do and tries again."}),
	}
	if r != nil {
		for _, c := range []prometheus.Collector{m.ticks, m.ended, m.attempts, m.late, m.trouble} {
			r.MustRegister(c)
		}
	}
	return m
}

func (m *metrics) tick(r Run) {
	m.ticks.WithLabelValues(string(r.Cause), string(r.State)).Inc()
	if r.Cause == ByClock && r.State == Running {
		m.late.Observe(r.Created.Sub(r.Tick).Seconds())
	}
}
