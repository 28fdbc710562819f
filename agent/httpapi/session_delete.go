package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

func (a *API) deleteSession(c *gin.Context) error {
	if err := a.c.SignIn.SignOut(c.Request.Context(), principal(c)); err != nil {
		return err
	}
	a.c.Guard.setCookie(c.Writer, "", time.Time{})
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}
