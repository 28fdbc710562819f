package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// UploadList is a conversation's uploads in the order they came.
type UploadList struct {
	Uploads []Upload `json:"uploads"`
}

func (a *API) listUploads(c *gin.Context) error {
	conv, err := a.conversation(c, c.Param("id"), false)
	if err != nil {
		return err
	}
	all, err := a.c.Uploads.List(c.Request.Context(), conv.Org, conv.ID)
	if err != nil {
		return err
	}
	list := UploadList{Uploads: make([]Upload, 0, len(all))}
	for _, u := range all {
		list.Uploads = append(list.Uploads, uploadOf(u))
	}
	c.JSON(http.StatusOK, list)
	return nil
}
