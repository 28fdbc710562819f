package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

func (a *API) getSchedule(c *gin.Context) error {
	v, err := a.schedule(c, reading)
	if err != nil {
		return err
	}
	return a.answerSchedule(c, http.StatusOK, v)
}
