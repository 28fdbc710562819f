package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
)

// Session is a browser in which a person is signed in.
type Session struct {
	ID      string    `json:"id"`
	Method  string    `json:"method"` // password, link or oidc
	Address string    `json:"address"`
	Agent   string    `json:"agent"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"` // to the minute
	Expires time.Time `json:"expires"`
	Current bool      `json:"current"` // the one that asks
}

// SessionList lists a person's live sessions, the last used first.
type SessionList struct {
	Sessions []Session `json:"sessions"`
}

// Ended tells how many sessions were ended.
type Ended struct {
	Ended int64 `json:"ended"`
}

func (a *API) listSessions(c *gin.Context) error { return a.sessionsOf(c, principal(c).Person) }

func (a *API) sessionsOf(c *gin.Context, person string) error {
	p := principal(c)
	all, err := a.c.Sessions.Sessions(c.Request.Context(), p.Org, person)
	if err != nil {
		return err
	}
	list := SessionList{Sessions: make([]Session, 0, len(all))}
	for _, s := range all {
		list.Sessions = append(list.Sessions, sessionOf(s, p))
	}
	c.JSON(http.StatusOK, list)
	return nil
}

func sessionOf(s identity.Session, p identity.Principal) Session {
	return Session{
		ID: s.ID, Method: s.Method, Address: s.Visit.Address, Agent: s.Visit.Agent, Created: s.Created, Used: s.Used, Expires: s.Expires,
		Current: s.ID == p.Session,
	}
}
