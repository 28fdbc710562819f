package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/journal"
)

// Conversation is a talk between a person and the analyst.
type Conversation struct {
	ID      string    `json:"id"`
	Person  string    `json:"person"`
	Title   string    `json:"title"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// ConversationList is one page, the last used first.
type ConversationList struct {
	Conversations []Conversation `json:"conversations"`
}

func conversationOf(c journal.Conversation) Conversation {
	return Conversation{ID: c.ID, Person: c.Person, Title: c.Title, Created: c.Created, Updated: c.Updated}
}

// listConversations lists the person's own; who audits may ask for all of the organisation's.
func (a *API) listConversations(c *gin.Context) error {
	p, err := page(c)
	if err != nil {
		return err
	}
	o := owner(c)
	switch c.Query("of") {
	case "", "me":
	case "all":
		if !mayRead(o, "") {
			return &Error{Status: http.StatusForbidden, Code: Denied, Message: "only auditors and administrators list the conversations of others", Hint: "leave out of=all"}
		}
		o.Person = ""
	default:
		return invalid("of is neither me nor all", "leave it out for one's own")
	}
	all, err := a.c.Conversations.Conversations(c.Request.Context(), o, p)
	if err != nil {
		return err
	}
	list := ConversationList{Conversations: make([]Conversation, 0, len(all))}
	for _, x := range all {
		list.Conversations = append(list.Conversations, conversationOf(x))
	}
	c.JSON(http.StatusOK, list)
	return nil
}
