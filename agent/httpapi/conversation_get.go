package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

func (a *API) getConversation(c *gin.Context) error {
	conv, err := a.conversation(c, c.Param("id"), false)
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, conversationOf(conv))
	return nil
}
