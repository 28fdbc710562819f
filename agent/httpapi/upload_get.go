package httpapi

import "github.com/gin-gonic/gin"

// getUpload sends an uploaded file back.
func (a *API) getUpload(c *gin.Context) error {
	conv, err := a.conversation(c, c.Param("id"), false)
	if err != nil {
		return err
	}
	u, err := a.c.Uploads.Find(c.Request.Context(), conv.Org, conv.ID, c.Param("upload"))
	if err != nil {
		return err
	}
	return a.send(c, conv.Org, u.SHA256, u.Name, u.MediaType, u.Created)
}
