package httpapi

import (
	"errors"
	"slices"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
	"bordereau/agent/journal"
)

const principalKey = "principal"

// admit refuses who may not, and gives the request its principal for as long as she may.
func (a *API) admit(access Access) gin.HandlerFunc {
	return func(c *gin.Context) {
		p, err := a.c.Guard.admit(c.Request, access)
		if err != nil {
			a.write(c, err)
			return
		}
		ctx, release := a.c.Guard.hold(c.Request, access, p)
		defer release()
		c.Request = c.Request.WithContext(ctx)
		c.Set(principalKey, p)
		c.Next()
	}
}

func principal(c *gin.Context) identity.Principal {
	p, _ := c.MustGet(principalKey).(identity.Principal)
	return p
}

func owner(c *gin.Context) journal.Owner {
	p := principal(c)
	return journal.Owner{Org: p.Org, Person: p.Person, Role: p.Role}
}

// mayRead tells whether a person may see a conversation of the same organisation: her own, or any for who audits.
func mayRead(o journal.Owner, person string) bool {
	return o.Person == person || slices.Contains([]string{identity.Auditor, identity.Admin}, o.Role)
}

// conversation finds a conversation that the person may read, or with write may add to. What she may not is not there.
func (a *API) conversation(c *gin.Context, id string, write bool) (journal.Conversation, error) {
	o := owner(c)
	conv, err := a.c.Conversations.Conversation(c.Request.Context(), o, id)
	if err != nil {
		return journal.Conversation{}, err
	}
	if conv.Person != o.Person && (write || !mayRead(o, conv.Person)) {
		return journal.Conversation{}, notFound("conversation")
	}
	return conv, nil
}

// writable finds out whether a person may write into a conversation, before anything that she sent is kept. isNew: there is none of that
// id, whoever's, and it is made for her.
func (a *API) writable(c *gin.Context, id string) (isNew bool, err error) {
	_, err = a.conversation(c, id, true)
	if !errors.Is(err, journal.ErrNotFound) {
		return false, err
	}
	taken, err := a.c.Conversations.ConversationTaken(c.Request.Context(), id)
	if err == nil && taken {
		err = notFound("conversation") // another organisation's
	}
	return err == nil, err
}
