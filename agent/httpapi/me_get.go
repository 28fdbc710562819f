package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// Me is who the key speaks for.
type Me struct {
	Org    string `json:"org"`
	Person string `json:"person"`
	Name   string `json:"name"`
	Email  string `json:"email"`
	Role   string `json:"role"`
}

func (a *API) getMe(c *gin.Context) error {
	p := principal(c)
	c.JSON(http.StatusOK, Me{Org: p.Org, Person: p.Person, Name: p.Name, Email: p.Email, Role: p.Role})
	return nil
}
