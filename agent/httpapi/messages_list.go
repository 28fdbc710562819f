package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/journal"
	"bordereau/agent/model"
)

// Message is a stored message, in the form that a stock client takes as its initial messages.
type Message struct {
	ID       string          `json:"id"`
	Role     string          `json:"role"`
	Parts    json.RawMessage `json:"parts"`
	Turn     string          `json:"turn,omitempty"`
	Position int64           `json:"position"`
	Created  time.Time       `json:"created"`
}

// MessageList is a conversation's messages in order.
type MessageList struct {
	Messages []Message `json:"messages"`
}

func (a *API) listMessages(c *gin.Context) error {
	conv, err := a.conversation(c, c.Param("id"), false)
	if err != nil {
		return err
	}
	p, err := page(c)
	if err != nil {
		return err
	}
	if c.Query("limit") == "" {
		p.Limit = maxPage
	}
	after := int64(0)
	if text := c.Query("after"); text != "" {
		if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
			return invalid("after is no position", "use the position of the last message that you have")
		}
	}
	all, err := a.c.Conversations.Messages(c.Request.Context(), owner(c), conv.ID, after, p.Limit)
	if err != nil {
		return err
	}
	list := MessageList{Messages: make([]Message, 0, len(all))}
	for _, m := range all {
		parts, err := partsOf(m)
		if err != nil {
			return err
		}
		list.Messages = append(list.Messages, Message{ID: m.ID, Role: string(m.Content.Role), Parts: parts, Turn: m.Turn, Position: m.Position, Created: m.Created})
	}
	c.JSON(http.StatusOK, list)
	return nil
}

// partsOf returns the parts as people see them: an answer's as they were streamed, a person's texts.
func partsOf(m journal.Message) (json.RawMessage, error) {
	if m.UI != nil {
		return m.UI, nil
	}
	parts := []UIPart{}
	for _, b := range m.Content.Blocks {
		if b.Kind == model.Text {
			parts = append(parts, UIPart{Type: "text", Text: b.Text})
		}
	}
	return json.Marshal(parts)
}
