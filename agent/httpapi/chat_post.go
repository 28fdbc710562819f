package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"bordereau/agent/artifact"
	"bordereau/agent/journal"
	"bordereau/agent/model"
)

// ChatRequest is what a stock AI SDK client sends. Only the last message counts: the server keeps the history.
type ChatRequest struct {
	ID        string            `json:"id"`
	Messages  []json.RawMessage `json:"messages,omitempty"`
	Message   json.RawMessage   `json:"message,omitempty"` // instead of messages
	Trigger   string            `json:"trigger,omitempty"`
	MessageID string            `json:"messageId,omitempty"`
	Model     string            `json:"model,omitempty"`
}

// UIMessage is a message of a stock client.
type UIMessage struct {
	ID    string   `json:"id"`
	Role  string   `json:"role"`
	Parts []UIPart `json:"parts"`
}

// UIPart is a text, or a file as a data URL.
type UIPart struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	MediaType string `json:"mediaType,omitempty"`
	Filename  string `json:"filename,omitempty"`
	URL       string `json:"url,omitempty"`
}

// postChat takes a message and answers with the stream of its turn. The turn doesn't depend on the request any more once the
// journal has it.
func (a *API) postChat(c *gin.Context) error {
	var r ChatRequest
	if err := readJSON(c, &r, true); err != nil {
		return err
	}
	m, err := r.last()
	if err != nil {
		return err
	}
	if r.Model != "" && !slices.Contains(a.c.Models.Names(), r.Model) {
		return invalid(fmt.Sprintf("there is no model %q here", r.Model), "the models are "+strings.Join(a.c.Models.Names(), ", "))
	}
	o := owner(c)
	if _, err := a.writable(c, r.ID); err != nil { // a new one is made with the message
		return err
	}
	content, files, err := m.content()
	if err != nil {
		return err
	}
	post := journal.Post{Owner: o, Conversation: r.ID, Create: true, MessageID: m.ID, Content: content, Model: r.Model}
	if err := post.Check(); err != nil {
		return err
	}
	// Files first: one that is refused leaves no message behind. Their rows don't need the conversation's.
	if err := a.attach(c, o, r.ID, files); err != nil {
		return err
	}
	posted, err := a.c.Conversations.Post(c.Request.Context(), post)
	if err != nil {
		return err
	}
	a.c.Log.InfoContext(c.Request.Context(), "message accepted", slog.String("turn_id", posted.Turn.ID), slog.String("org", o.Org),
		slog.Bool("joined", posted.Joined), slog.Bool("again", posted.Again))
	a.c.Runner.Wake()
	return a.tail(c, posted.Turn, 0)
}

// last returns the message that the request is about.
func (r ChatRequest) last() (UIMessage, error) {
	if r.ID == "" || len(r.ID) > 128 {
		return UIMessage{}, invalid("the chat has no usable id", "send id, at most 128 characters")
	}
	raw := r.Message
	if raw == nil {
		if len(r.Messages) == 0 {
			return UIMessage{}, invalid("there is no message", "send message, or messages with the newest last")
		}
		raw = r.Messages[len(r.Messages)-1]
	}
	var m UIMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return UIMessage{}, invalid("the message can't be read: "+oneLine(err.Error()), "a message has id, role and parts")
	}
	switch {
	case m.Role != "user":
		return UIMessage{}, invalid("the last message is not a person's", "its role must be user")
	case r.Trigger == "regenerate-message":
		m.ID = "" // asked once more: a new message with the same words, and a new turn
	case r.Trigger != "" && r.Trigger != "submit-message":
		return UIMessage{}, invalid(fmt.Sprintf("the trigger %q is not known", oneLine(r.Trigger)), "submit-message or regenerate-message")
	}
	return m, nil
}

// content makes the message one for models, and takes out its files. A file's name stands in the text, so that the model
// knows of it.
func (m UIMessage) content() (model.Message, []artifact.Put, error) {
	out := model.Message{Role: model.User}
	var files []artifact.Put
	for _, p := range m.Parts {
		switch p.Type {
		case "text":
			if strings.TrimSpace(p.Text) != "" {
				out.Blocks = append(out.Blocks, model.Block{Kind: model.Text, Text: p.Text})
			}
		case "file":
			f, err := p.file()
			if err != nil {
				return out, nil, err
			}
			files = append(files, f)
		default:
			return out, nil, invalid(fmt.Sprintf("a part of type %q is not known", oneLine(p.Type)), "send parts of type text or file")
		}
	}
	size := 0
	for _, b := range out.Blocks {
		size += len(b.Text)
	}
	switch {
	case size == 0:
		return out, nil, invalid("the message has no text", "say what to do")
	case size > journal.MaxMessage:
		return out, nil, journal.ErrTooLarge
	}
	if files != nil {
		var names []string
		for _, f := range files {
			names = append(names, f.Name)
		}
		out.Blocks = append(out.Blocks, model.Attached(names))
	}
	return out, files, nil
}

// file reads a data URL. Any other address is refused: nothing is fetched on a stranger's word.
func (p UIPart) file() (artifact.Put, error) {
	if err := artifact.CheckName(p.Filename); err != nil {
		return artifact.Put{}, err
	}
	head, body, ok := strings.Cut(strings.TrimPrefix(p.URL, "data:"), ",")
	if !ok || !strings.HasPrefix(p.URL, "data:") {
		return artifact.Put{}, invalid("a file is not sent as a data URL", "upload it at /api/conversations/{id}/uploads")
	}
	var content []byte
	var err error
	if strings.HasSuffix(head, ";base64") {
		content, err = base64.StdEncoding.DecodeString(body)
	} else {
		var text string
		text, err = url.PathUnescape(body)
		content = []byte(text)
	}
	if err != nil {
		return artifact.Put{}, invalid("a file's data URL can't be read", "send it as base64")
	}
	return artifact.Put{Name: p.Filename, Content: bytes.NewReader(content)}, nil
}

// attach keeps the files of a message.
func (a *API) attach(c *gin.Context, o journal.Owner, conversation string, files []artifact.Put) error {
	for _, f := range files {
		f.Org, f.Limit, f.Unpack = o.Org, a.c.Limits.Upload, a.c.Limits.Archive
		kept, err := a.c.Files.Put(c.Request.Context(), f)
		if err != nil {
			return err
		}
		if _, err := a.c.Uploads.Add(c.Request.Context(), uploadFor(o, conversation, f.Name, kept)); err != nil {
			return err
		}
	}
	return nil
}
