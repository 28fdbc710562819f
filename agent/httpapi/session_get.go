package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
)

// SignedIn is who is signed in, and what unsafe requests of the session repeat in X-CSRF-Token ("" for a key, which needs none).
type SignedIn struct {
	Person       PersonRef       `json:"person"`
	Organisation OrganisationRef `json:"organisation"`
	CSRF         string          `json:"csrf"`
}

// PersonRef is a person as she is shown to herself.
type PersonRef struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
	Role  string `json:"role"`
}

// OrganisationRef names an organisation.
type OrganisationRef struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (a *API) getSession(c *gin.Context) error {
	p := principal(c)
	o, err := a.c.SignIn.FindOrganisation(c.Request.Context(), p.Org)
	if err != nil {
		return err
	}
	csrf := ""
	if p.Session != "" {
		csrf = identity.CSRF(a.c.Guard.cookie(c.Request))
	}
	c.JSON(http.StatusOK, SignedIn{
		Person:       PersonRef{ID: p.Person, Name: p.Name, Email: p.Email, Role: p.Role},
		Organisation: OrganisationRef{ID: o.ID, Name: o.Name}, CSRF: csrf,
	})
	return nil
}
