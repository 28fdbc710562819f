package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics count requests by their route, never by their path: ids would make a series each.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bordereau_http_requests_total", Help: "Requests by route and status."}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "bordereau_http_request_seconds", Help: "Time to the whole answer, of requests that aren't streams.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}, []string{"method", "route"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "bordereau_http_streams", Help: "Event streams that are open here."}),
	}
	if r == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.streams} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// measure counts a request when it has been answered.
func (a *API) measure(c *gin.Context) {
	began := a.c.Now()
	defer func() {
		route := c.FullPath()
		if route == "" {
			route = "none"
		}
		status := c.Writer.Status()
		a.metrics.requests.WithLabelValues(method(c.Request.Method), route, strconv.Itoa(status)).Inc()
		if c.Writer.Header().Get("Content-Type") != eventStream {
			a.metrics.seconds.WithLabelValues(method(c.Request.Method), route).Observe(a.c.Now().Sub(began).Seconds())
		}
	}()
	c.Next()
}

// method keeps what a client invents out of the labels.
func method(name string) string {
	switch name {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return name
	}
	return "other"
}

// pace holds back a person who asks for more than anybody can read.
func (a *API) pace(c *gin.Context) {
	if c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead {
		c.Next()
		return
	}
	p := principal(c)
	if wait := a.pacer.wait(p.Org+"/"+p.Person, a.c.Now()); wait > 0 {
		c.Header("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		a.write(c, &Error{
			Status: http.StatusTooManyRequests, Code: RateLimited, Message: "too many requests in a short time",
			Hint: "wait as long as Retry-After says", Retryable: true,
		})
		return
	}
	c.Next()
}
