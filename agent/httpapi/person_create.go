package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
)

// NewPerson adds somebody to the organisation.
type NewPerson struct {
	Email string `json:"email"`
	Name  string `json:"name"`
	Role  string `json:"role"`
}

// Link is a one-time address with which somebody sets a password. It is shown once.
type Link struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

// Invited is a new person and her link.
type Invited struct {
	Person Person `json:"person"`
	Link   Link   `json:"link"`
}

func (a *API) createPerson(c *gin.Context) error {
	var n NewPerson
	if err := readJSON(c, &n, false); err != nil {
		return err
	}
	p, err := a.c.People.AddPerson(c.Request.Context(), identity.Person{Org: principal(c).Org, Email: n.Email, Name: n.Name, Role: n.Role})
	if err != nil {
		return err
	}
	l, err := a.link(c, p.ID)
	if err != nil {
		return err
	}
	c.JSON(http.StatusCreated, Invited{Person: personOf(p), Link: l})
	return nil
}

// createLink makes a new link for a person, as when she forgot her password; her older links end.
func (a *API) createLink(c *gin.Context) error {
	l, err := a.link(c, c.Param("id"))
	if err != nil {
		return err
	}
	c.JSON(http.StatusCreated, l)
	return nil
}

func (a *API) link(c *gin.Context, person string) (Link, error) {
	token, expires, err := a.c.People.IssueLink(c.Request.Context(), principal(c).Org, person)
	if err != nil {
		return Link{}, err
	}
	return Link{URL: a.c.Guard.origin(c.Request) + WelcomePath + token, Expires: expires}, nil
}

// WelcomePath is the page that uses a link's token. What is after the # stays in the browser: no log has it.
const WelcomePath = "/welcome#token="
