package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// NewConversation asks for an empty conversation.
type NewConversation struct {
	ID    string `json:"id,omitempty"` // "": the server chooses
	Title string `json:"title,omitempty"`
}

func (a *API) createConversation(c *gin.Context) error {
	var r NewConversation
	if err := readJSON(c, &r, false); err != nil {
		return err
	}
	conv, err := a.c.Conversations.CreateConversation(c.Request.Context(), owner(c), r.ID, r.Title)
	if err != nil {
		return err
	}
	c.Header("Location", "/api/conversations/"+conv.ID)
	c.JSON(http.StatusCreated, conversationOf(conv))
	return nil
}
