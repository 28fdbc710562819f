package httpapi

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
)

// LogCheck is what the admin log is verified against.
type LogCheck struct {
	Anchor string `json:"anchor"` // a hash that was kept from an earlier check; "": none
}

// LogVerdict says whether the admin log holds.
type LogVerdict struct {
	Holds   bool   `json:"holds"`
	Entries int64  `json:"entries"` // lines that hold
	Hash    string `json:"hash,omitempty"`
	Seq     int64  `json:"seq,omitempty"` // the first line that doesn't hold
	Why     string `json:"why,omitempty"`
}

func (a *API) verifyAdminLog(c *gin.Context) error {
	var in LogCheck
	if err := readJSON(c, &in, false); err != nil {
		return err
	}
	v, err := a.c.People.VerifyLog(c.Request.Context(), principal(c).Org, in.Anchor)
	if broken, ok := errors.AsType[*identity.BrokenError](err); ok {
		c.JSON(http.StatusOK, LogVerdict{Entries: broken.Lines, Seq: broken.Line, Why: broken.Why})
		return nil
	}
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, LogVerdict{Holds: true, Entries: v.Lines, Hash: v.Hash})
	return nil
}
