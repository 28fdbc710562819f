package httpapi

import (
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
	"bordereau/agent/journal"
)

const principalKey = "principal"

// authenticate refuses requests without a good key.
func (a *API) authenticate(c *gin.Context) {
	key, ok := strings.CutPrefix(c.GetHeader("Authorization"), "Bearer ")
	if !ok {
		key = c.GetHeader("X-API-Key")
	}
	p, err := a.c.Identity.Authenticate(c.Request.Context(), strings.TrimSpace(key))
	if err != nil {
		a.write(c, err)
		return
	}
	c.Set(principalKey, p)
	c.Next()
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
