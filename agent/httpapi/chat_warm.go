package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/journal"
)

// warmTime bounds what a hint may cost.
const warmTime = 30 * time.Second

// warmChat takes a hint that somebody is about to ask: a sandbox is made ready meanwhile. It answers at once, and a hint that
// comes to nothing harms nobody.
func (a *API) warmChat(c *gin.Context) error {
	id := c.Param("id")
	switch _, err := a.conversation(c, id, true); {
	case errors.Is(err, journal.ErrNotFound):
		id = "" // a new one isn't there yet; another organisation's is not to be touched
	case err != nil:
		return err
	}
	if a.c.Sandboxes != nil {
		org, log := owner(c).Org, a.c.Log
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), warmTime)
		go func() {
			defer cancel()
			if err := a.c.Sandboxes.Warm(ctx, id, org); err != nil {
				log.WarnContext(ctx, "a sandbox could not be warmed", slog.String("org", org), slog.Any("error", err))
			}
		}()
	}
	c.Status(http.StatusAccepted)
	c.Writer.WriteHeaderNow()
	return nil
}
