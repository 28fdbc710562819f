package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// ModelList names the models; the first is the default.
type ModelList struct {
	Models []string `json:"models"`
}

func (a *API) listModels(c *gin.Context) error {
	c.JSON(http.StatusOK, ModelList{Models: a.c.Models.Names()})
	return nil
}
