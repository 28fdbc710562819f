package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"bordereau/agent/journal"
	"bordereau/agent/stream"
)

// streamChat goes on with the stream of the conversation's live or last turn, or of the turn named: after Last-Event-ID, or
// from its beginning.
func (a *API) streamChat(c *gin.Context) error {
	conv, err := a.conversation(c, c.Param("id"), false)
	if err != nil {
		return err
	}
	after, err := lastEvent(c)
	if err != nil {
		return err
	}
	var t journal.Turn
	if id := c.Query("turn"); id != "" {
		if t, err = a.c.Turns.Turn(c.Request.Context(), owner(c), id); err != nil {
			return err
		}
		if t.Conversation != conv.ID {
			return notFound("turn")
		}
	} else {
		turns, err := a.c.Turns.Turns(c.Request.Context(), owner(c), conv.ID, journal.Page{Limit: 1})
		if err != nil {
			return err
		}
		if len(turns) == 0 {
			c.Status(http.StatusNoContent)
			c.Writer.WriteHeaderNow()
			return nil
		}
		t = turns[0]
	}
	return a.tail(c, t, after)
}

// lastEvent reads Last-Event-ID: a sequence number, or "<epoch>-<seq>".
func lastEvent(c *gin.Context) (int64, error) {
	text := c.GetHeader("Last-Event-ID")
	if text == "" {
		return 0, nil
	}
	if strings.Contains(text, "-") {
		id, err := stream.ParseID(text)
		if err != nil {
			return 0, invalid("Last-Event-ID can't be read", "send the id of the last event that arrived")
		}
		return id.Seq, nil
	}
	seq, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seq < 0 {
		return 0, invalid("Last-Event-ID can't be read", "send the id of the last event that arrived")
	}
	return seq, nil
}
