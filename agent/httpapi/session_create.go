package httpapi

import (
	"mime"
	"net/http"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
)

// NewSession signs in.
type NewSession struct {
	Email        string `json:"email"`
	Password     string `json:"password"`
	Organisation string `json:"organisation,omitempty"` // where the address and the password fit several
}

// maxSignIn is the most bytes of what somebody sends who isn't signed in.
const maxSignIn = 8 << 10

// readSmall reads what somebody sends who isn't signed in: little, and of a type that forms of other sites can't send.
func readSmall(c *gin.Context, v any) error {
	if kind, _, err := mime.ParseMediaType(c.ContentType()); err != nil || kind != "application/json" {
		return &Error{Status: http.StatusUnsupportedMediaType, Code: Invalid, Message: "the body is not sent as application/json", Hint: "send Content-Type: application/json"}
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxSignIn)
	return readJSON(c, v, false)
}

func (a *API) createSession(c *gin.Context) error {
	var n NewSession
	if err := readSmall(c, &n); err != nil {
		return err
	}
	switch {
	case n.Email == "":
		return &Error{Status: http.StatusUnprocessableEntity, Code: Invalid, Field: "email", Message: "the e-mail address is missing", Hint: "send it as email"}
	case n.Password == "":
		return &Error{Status: http.StatusUnprocessableEntity, Code: Invalid, Field: "password", Message: "the password is missing", Hint: "send it as password"}
	}
	in, err := a.c.SignIn.SignIn(c.Request.Context(), identity.Credentials{
		Email: n.Email, Password: n.Password, Organisation: n.Organisation, Visit: a.c.Guard.visit(c.Request),
	})
	if err != nil {
		return err
	}
	return a.begin(c, in)
}

// begin gives the browser its new session and ends the one that it had, so that a token known before is worth nothing after.
func (a *API) begin(c *gin.Context, in identity.SignedIn) error {
	if err := a.endOld(c); err != nil {
		return err
	}
	a.c.Guard.setCookie(c.Writer, in.Token, in.Session.Expires)
	p := in.Person
	c.JSON(http.StatusOK, SignedIn{
		Person:       PersonRef{ID: p.ID, Name: p.Name, Email: p.Email, Role: p.Role},
		Organisation: OrganisationRef{ID: in.Organisation.ID, Name: in.Organisation.Name}, CSRF: identity.CSRF(in.Token),
	})
	return nil
}

// endOld ends the session of the request's cookie, if it is alive.
func (a *API) endOld(c *gin.Context) error {
	token := a.c.Guard.cookie(c.Request)
	if token == "" {
		return nil
	}
	old, err := a.c.Guard.c.Identity.Resume(c.Request.Context(), token)
	if err != nil {
		return nil //nolint:nilerr // no session: nothing to end
	}
	old.Address = a.c.Guard.address(c.Request)
	return a.c.SignIn.SignOut(c.Request.Context(), old)
}
