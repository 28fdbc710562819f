package httpapi

import (
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/artifact"
)

// getArtifact sends a delivered file, whole or a range of it.
func (a *API) getArtifact(c *gin.Context) error {
	o := owner(c)
	x, err := a.c.Turns.Artifact(c.Request.Context(), o, c.Param("id"))
	if err != nil {
		return err
	}
	if _, err := a.conversation(c, x.Conversation, false); err != nil {
		return err
	}
	return a.send(c, o.Org, x.SHA256, x.Name, x.MediaType, x.Created)
}

// send serves content as a download. A browser never guesses its type nor runs it; only pictures may be shown in place.
func (a *API) send(c *gin.Context, org, sha, name, mediaType string, created time.Time) error {
	r, size, err := a.c.Files.Open(c.Request.Context(), org, sha)
	if err != nil {
		return err
	}
	defer r.Close()
	name = artifact.CleanName(name)
	kind := "attachment"
	if artifact.Inline(mediaType) && c.Query("inline") == "true" {
		kind = "inline"
	}
	if mediaType == "" {
		mediaType = "application/octet-stream"
	}
	h := c.Writer.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Disposition", mime.FormatMediaType(kind, map[string]string{"filename": name}))
	h.Set("ETag", strconv.Quote(sha))
	h.Set("Cache-Control", "private, max-age=3600, immutable")
	h.Set("Content-Digest", digest(sha))
	h.Set("X-File-Size", strconv.FormatInt(size, 10))
	http.ServeContent(c.Writer, c.Request, "", created, r)
	return nil
}
