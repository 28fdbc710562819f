package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// Rename gives a conversation another title.
type Rename struct {
	Title string `json:"title"`
}

func (a *API) renameConversation(c *gin.Context) error {
	var r Rename
	if err := readJSON(c, &r, false); err != nil {
		return err
	}
	if strings.TrimSpace(r.Title) == "" {
		return invalid("the title is empty", "send some words")
	}
	conv, err := a.conversation(c, c.Param("id"), true)
	if err != nil {
		return err
	}
	if err := a.c.Conversations.RenameConversation(c.Request.Context(), owner(c), conv.ID, r.Title); err != nil {
		return err
	}
	if conv, err = a.conversation(c, conv.ID, true); err != nil {
		return err
	}
	c.JSON(http.StatusOK, conversationOf(conv))
	return nil
}
