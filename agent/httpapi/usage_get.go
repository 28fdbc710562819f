package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/model"
)

// Charge is what one attempt of a model call used.
type Charge struct {
	Step      int         `json:"step"`
	Attempt   int         `json:"attempt"`
	Model     string      `json:"model"`
	Usage     model.Usage `json:"usage"`
	Estimated bool        `json:"estimated"`
	At        time.Time   `json:"at"`
}

// Usage is what a turn used.
type Usage struct {
	Turn    string      `json:"turn"`
	Total   model.Usage `json:"total"`
	Charges []Charge    `json:"charges"`
}

func (a *API) getUsage(c *gin.Context) error {
	t, err := a.turnFor(c)
	if err != nil {
		return err
	}
	all, err := a.c.Turns.Charges(c.Request.Context(), owner(c), t.ID)
	if err != nil {
		return err
	}
	u := Usage{Turn: t.ID, Charges: make([]Charge, 0, len(all))}
	for _, x := range all {
		u.Total.Input += x.Usage.Input
		u.Total.Output += x.Usage.Output
		u.Total.CacheRead += x.Usage.CacheRead
		u.Total.CacheWrite += x.Usage.CacheWrite
		u.Total.CostMicros += x.Usage.CostMicros
		u.Charges = append(u.Charges, Charge{Step: x.N, Attempt: x.Attempt, Model: x.Model, Usage: x.Usage, Estimated: x.Estimated, At: x.At})
	}
	c.JSON(http.StatusOK, u)
	return nil
}
