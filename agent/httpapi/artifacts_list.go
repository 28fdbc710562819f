package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/journal"
)

// Artifact is a file that a turn delivered.
type Artifact struct {
	ID           string    `json:"id"`
	Conversation string    `json:"conversation"`
	Turn         string    `json:"turn"`
	Name         string    `json:"name"`
	MediaType    string    `json:"mediaType"`
	Size         int64     `json:"size"`
	SHA256       string    `json:"sha256"`
	URL          string    `json:"url"`
	Run          string    `json:"run,omitempty"` // that a report was rendered from
	Created      time.Time `json:"created"`
}

// ArtifactList is a conversation's artifacts.
type ArtifactList struct {
	Artifacts []Artifact `json:"artifacts"`
}

func artifactOf(x journal.Artifact) Artifact {
	return Artifact{
		ID: x.ID, Conversation: x.Conversation, Turn: x.Turn, Name: x.Name, MediaType: x.MediaType, Size: x.Size,
		SHA256: x.SHA256, URL: "/api/artifacts/" + x.ID, Run: x.Run, Created: x.Created,
	}
}

func (a *API) listArtifacts(c *gin.Context) error {
	conv, err := a.conversation(c, c.Param("id"), false)
	if err != nil {
		return err
	}
	all, err := a.c.Turns.Artifacts(c.Request.Context(), owner(c), conv.ID)
	if err != nil {
		return err
	}
	list := ArtifactList{Artifacts: make([]Artifact, 0, len(all))}
	for _, x := range all {
		list.Artifacts = append(list.Artifacts, artifactOf(x))
	}
	c.JSON(http.StatusOK, list)
	return nil
}
