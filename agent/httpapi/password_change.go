package httpapi

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
)

// PasswordChange gives a new password to who knows the old one. Other sessions end.
type PasswordChange struct {
	Old      string `json:"old"`
	Password string `json:"password"`
}

func (a *API) changePassword(c *gin.Context) error {
	var r PasswordChange
	if err := readSmall(c, &r); err != nil {
		return err
	}
	err := a.c.SignIn.ChangePassword(c.Request.Context(), principal(c), r.Old, r.Password)
	if errors.Is(err, identity.ErrCredentials) {
		return &Error{Status: http.StatusUnprocessableEntity, Code: Invalid, Field: "old", Message: "the old password is wrong", Hint: "type it again, or ask an administrator for a link", cause: err}
	}
	if err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}
