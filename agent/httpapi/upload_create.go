package httpapi

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/artifact"
	"bordereau/agent/journal"
)

// Upload is a file that a person put into a conversation.
type Upload struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	MediaType string    `json:"mediaType"`
	Size      int64     `json:"size"`
	SHA256    string    `json:"sha256"`
	URL       string    `json:"url"`
	Created   time.Time `json:"created"`
}

func uploadOf(u artifact.Upload) Upload {
	return Upload{
		ID: u.ID, Name: u.Name, MediaType: u.MediaType, Size: u.Size, SHA256: u.SHA256,
		URL: "/api/conversations/" + url.PathEscape(u.Conversation) + "/uploads/" + u.ID, Created: u.Created,
	}
}

var shaForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// createUpload takes a file as the raw body, streaming: ?name= names it, and Content-Digest (RFC 9530) may say its hash.
// The same file under the same name may be sent again; nothing changes.
func (a *API) createUpload(c *gin.Context) error {
	name := c.Query("name")
	if err := artifact.CheckName(name); err != nil {
		return err
	}
	sha, err := wantedDigest(c.GetHeader("Content-Digest"))
	if err != nil {
		return err
	}
	if c.Request.ContentLength > a.c.Limits.Upload {
		return artifact.ErrTooLarge
	}
	o, id := owner(c), c.Param("id")
	isNew, err := a.writable(c, id)
	if err != nil {
		return err
	}
	// The content is kept and looked at first: a file that is refused changes nothing.
	kept, err := a.c.Files.Put(c.Request.Context(), artifact.Put{Org: o.Org, Name: name, Content: c.Request.Body, Limit: a.c.Limits.Upload, SHA256: sha, Unpack: a.c.Limits.Archive})
	if err != nil {
		return err
	}
	if isNew {
		// A file may come before the first message; the conversation is made for it.
		if _, err := a.c.Conversations.CreateConversation(c.Request.Context(), o, id, name); err != nil {
			if errors.Is(err, journal.ErrConflict) {
				return notFound("conversation") // another organisation's
			}
			return err
		}
	}
	u, err := a.c.Uploads.Add(c.Request.Context(), uploadFor(o, id, name, kept))
	if err != nil {
		return err
	}
	c.Header("Location", uploadOf(u).URL)
	c.JSON(http.StatusCreated, uploadOf(u))
	return nil
}

func uploadFor(o journal.Owner, conversation, name string, f artifact.File) artifact.Upload {
	return artifact.Upload{Org: o.Org, Conversation: conversation, Person: o.Person, Name: name, MediaType: f.MediaType, Size: f.Size, SHA256: f.SHA256}
}

// wantedDigest reads the SHA-256 of a Content-Digest header.
func wantedDigest(header string) (string, error) {
	if header == "" {
		return "", nil
	}
	for item := range strings.SplitSeq(header, ",") {
		value, ok := strings.CutPrefix(strings.TrimSpace(item), "sha-256=:")
		if !ok {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(value, ":"))
		if sha := hex.EncodeToString(raw); err == nil && shaForm.MatchString(sha) {
			return sha, nil
		}
	}
	return "", invalid("Content-Digest can't be read", "write sha-256=:BASE64:, or leave it out")
}

// digest writes the header for a hash in hex.
func digest(sha string) string {
	raw, err := hex.DecodeString(sha)
	if err != nil {
		return ""
	}
	return "sha-256=:" + base64.StdEncoding.EncodeToString(raw) + ":"
}
