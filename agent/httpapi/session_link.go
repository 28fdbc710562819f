package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
)

// LinkCheck asks what a one-time link is good for, without using it.
type LinkCheck struct {
	Token string `json:"token"`
}

// Invitation is what a one-time link is good for.
type Invitation struct {
	Organisation OrganisationRef `json:"organisation"`
	// Person is whom it is for; absent for an organisation's first administrator, who says who she is.
	Person  *PersonRef `json:"person,omitempty"`
	Expires time.Time  `json:"expires"`
}

// UseLink uses a one-time link: it sets a password and signs in.
type UseLink struct {
	Token    string `json:"token"`
	Password string `json:"password"`
	Email    string `json:"email,omitempty"` // of a first administrator, as is name
	Name     string `json:"name,omitempty"`
}

func (a *API) checkLink(c *gin.Context) error {
	var l LinkCheck
	if err := readSmall(c, &l); err != nil {
		return err
	}
	i, err := a.c.SignIn.Invitation(c.Request.Context(), l.Token)
	if err != nil {
		return err
	}
	out := Invitation{Organisation: OrganisationRef{ID: i.Organisation.ID, Name: i.Organisation.Name}, Expires: i.Expires}
	if p := i.Person; p.ID != "" {
		out.Person = &PersonRef{ID: p.ID, Name: p.Name, Email: p.Email, Role: p.Role}
	}
	c.JSON(http.StatusOK, out)
	return nil
}

func (a *API) useLink(c *gin.Context) error {
	var l UseLink
	if err := readSmall(c, &l); err != nil {
		return err
	}
	in, err := a.c.SignIn.Redeem(c.Request.Context(), identity.Redeem{
		Token: l.Token, Password: l.Password, Email: l.Email, Name: l.Name, Visit: a.c.Guard.visit(c.Request),
	})
	if err != nil {
		return err
	}
	return a.begin(c, in)
}
