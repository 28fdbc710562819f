package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
	"bordereau/agent/identity/oidc"
)

// Methods are the ways to sign in here.
type Methods struct {
	Password bool `json:"password"`
	OIDC     bool `json:"oidc"` // some organisation has an identity provider
}

func (a *API) listMethods(c *gin.Context) error {
	c.JSON(http.StatusOK, Methods{Password: true, OIDC: a.c.OIDC != nil})
	return nil
}

// beginOIDC sends the browser to the identity provider of an organisation, or of an e-mail address's domain. It is a page's address: its
// failures lead back to the sign-in page.
func (a *API) beginOIDC(c *gin.Context) error {
	if a.c.OIDC == nil {
		return a.backToSignIn(c, oidc.ErrUnknown)
	}
	to, flow, err := a.c.OIDC.Begin(c.Request.Context(), oidc.Ask{Organisation: c.Query("organisation"), Email: c.Query("email"), Return: c.Query("return")})
	if err != nil {
		return a.backToSignIn(c, err)
	}
	a.c.Guard.setFlow(c.Writer, flow)
	c.Redirect(http.StatusFound, to)
	return nil
}

// endOIDC is where the identity provider sends the browser back to.
func (a *API) endOIDC(c *gin.Context) error {
	if a.c.OIDC == nil {
		return a.backToSignIn(c, oidc.ErrUnknown)
	}
	flow := a.c.Guard.flow(c.Request)
	a.c.Guard.setFlow(c.Writer, "")
	in, back, err := a.c.OIDC.End(c.Request.Context(), flow, c.Request.URL.Query(), a.c.Guard.visit(c.Request))
	if err != nil {
		return a.backToSignIn(c, err)
	}
	if err := a.endOld(c); err != nil {
		return err
	}
	a.c.Guard.setCookie(c.Writer, in.Token, in.Session.Expires)
	c.Redirect(http.StatusFound, back)
	return nil
}

// backToSignIn names a failure by a word that the sign-in page knows; the details stay in the log.
func (a *API) backToSignIn(c *gin.Context, err error) error {
	word := "oidc_failed"
	for known, w := range map[error]string{
		oidc.ErrUnknown: "oidc_unknown", oidc.ErrState: "oidc_state", oidc.ErrDenied: "oidc_denied", oidc.ErrUnverified: "oidc_unverified",
		oidc.ErrProvider: "oidc_provider", oidc.ErrToken: "oidc_token", identity.ErrCredentials: "oidc_nobody",
	} {
		if errors.Is(err, known) {
			word = w
		}
	}
	a.c.Log.WarnContext(c.Request.Context(), "sign-in with an identity provider failed", slog.String("request_id", c.GetString(requestKey)), slog.Any("error", err))
	c.Redirect(http.StatusFound, "/signin?error="+url.QueryEscape(word))
	return nil
}
