package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

// Healthz tells how the parts are. Details stay in the log: this address needs no key.
type Healthz struct {
	Status string            `json:"status"` // ok or degraded
	Parts  map[string]string `json:"parts"`
}

func (a *API) healthz(c *gin.Context) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), 3*time.Second)
	defer cancel()
	h := Healthz{Status: "ok", Parts: map[string]string{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, part := range a.c.Health {
		wg.Go(func() {
			state := "ok"
			if err := part.Check(ctx); err != nil {
				state = "unavailable"
			}
			mu.Lock()
			defer mu.Unlock()
			h.Parts[part.Name] = state
			if state != "ok" {
				h.Status = "degraded"
			}
		})
	}
	wg.Wait()
	status := http.StatusOK
	if h.Status != "ok" {
		status = http.StatusServiceUnavailable
	}
	c.JSON(status, h)
	return nil
}
