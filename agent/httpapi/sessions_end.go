package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

func (a *API) endSession(c *gin.Context) error {
	p := principal(c)
	if err := a.c.Sessions.EndSession(c.Request.Context(), p.Org, p.Person, c.Param("id")); err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}

// endOtherSessions signs the person out everywhere but here.
func (a *API) endOtherSessions(c *gin.Context) error {
	p := principal(c)
	return a.endAll(c, p.Person, p.Session)
}

func (a *API) endAll(c *gin.Context, person, but string) error {
	n, err := a.c.Sessions.EndSessions(c.Request.Context(), principal(c).Org, person, but)
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, Ended{Ended: n})
	return nil
}
