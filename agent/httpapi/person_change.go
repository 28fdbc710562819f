package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// PersonChange changes what it names of a person. Disabling ends her sessions and refuses her keys at once.
type PersonChange struct {
	Name     *string `json:"name,omitempty"`
	Role     *string `json:"role,omitempty"`
	Disabled *bool   `json:"disabled,omitempty"`
}

func (a *API) changePerson(c *gin.Context) error {
	var r PersonChange
	if err := readJSON(c, &r, false); err != nil {
		return err
	}
	p, err := a.c.People.FindPerson(c.Request.Context(), principal(c).Org, c.Param("id"))
	if err != nil {
		return err
	}
	if r.Name != nil {
		p.Name = *r.Name
	}
	if r.Role != nil {
		p.Role = *r.Role
	}
	switch {
	case r.Disabled == nil:
	case !*r.Disabled:
		p.Disabled = time.Time{}
	case p.Disabled.IsZero():
		p.Disabled = a.c.Now()
	}
	if p, err = a.c.People.ChangePerson(c.Request.Context(), p); err != nil {
		return err
	}
	c.JSON(http.StatusOK, personOf(p))
	return nil
}

func (a *API) listPersonSessions(c *gin.Context) error { return a.ofPerson(c, a.sessionsOf) }

func (a *API) endPersonSessions(c *gin.Context) error {
	return a.ofPerson(c, func(c *gin.Context, person string) error { return a.endAll(c, person, "") })
}

// ofPerson does something with a person of the organisation; others don't exist.
func (a *API) ofPerson(c *gin.Context, do func(c *gin.Context, person string) error) error {
	p, err := a.c.People.FindPerson(c.Request.Context(), principal(c).Org, c.Param("id"))
	if err != nil {
		return err
	}
	return do(c, p.ID)
}
