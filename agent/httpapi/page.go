package httpapi

import (
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/journal"
)

// maxPage is the most rows of one answer.
const maxPage = 200

// page reads limit and before from the query.
func page(c *gin.Context) (journal.Page, error) {
	p := journal.Page{Limit: 50}
	if text := c.Query("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return p, invalid("limit is no number from 1 to 200", "leave it out, or send one")
		}
		p.Limit = n
	}
	if text := c.Query("before"); text != "" {
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return p, invalid("before is no moment", "write it as 2026-11-29T12:00:00Z; use the time of the last row that you have")
		}
		p.Before = t
	}
	return p, nil
}
