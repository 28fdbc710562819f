// Package openai asks models over the Chat Completions wire: OpenAI, OpenRouter, vLLM, Ollama and what speaks like them.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"strings"

	"bordereau/agent/model"
)

// DefaultURL is the first provider's own address; others end in /v1 as well.
const DefaultURL = "https://api.openai.com/v1"

// from names this adapter in blocks that it keeps verbatim.
const from = "openai"

// ErrConfig is returned by New for a Config that lacks something.
var ErrConfig = errors.New("openai: incomplete configuration")

// Config is what an adapter is made from. Model is required; Key is for all providers but local ones.
type Config struct {
	Model    string
	Key      string
	URL      string // the part before /chat/completions; "": DefaultURL
	Provider string // in Name; "": "openai"
	Headers  http.Header
	Price    model.Price // used when the provider's answer names no cost
	// MaxField is the key of the reply's limit: "max_completion_tokens" (default), or "max_tokens" for older servers.
	MaxField string
	Client   *http.Client // nil: one of its own
}

// Chat is a model.Model.
type Chat struct{ c Config }

var _ model.Model = (*Chat)(nil)

// New checks c and returns the adapter. It contacts nobody.
func New(c Config) (*Chat, error) {
	if c.Model == "" {
		return nil, fmt.Errorf("%w: it needs Model", ErrConfig)
	}
	if c.URL == "" {
		c.URL = DefaultURL
	}
	c.URL = strings.TrimSuffix(c.URL, "/")
	if c.URL == DefaultURL && c.Key == "" {
		return nil, fmt.Errorf("%w: %s needs Key", ErrConfig, DefaultURL)
	}
	if c.Provider == "" {
		c.Provider = "openai"
	}
	if c.MaxField == "" {
		c.MaxField = "max_completion_tokens"
	}
	if c.Client == nil {
		c.Client = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	return &Chat{c}, nil
}

// Name returns the provider's and the model's name.
func (c *Chat) Name() string { return c.c.Provider + "/" + c.c.Model }

// Stream implements model.Model.
func (c *Chat) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		body, failed := c.post(ctx, r)
		if failed != nil {
			yield(model.Event{}, failed)
			return
		}
		defer func() { _ = body.Close() }()
		f := folder{price: c.c.Price}
		for data, err := range events(body) {
			if err != nil {
				failed = &model.Error{Class: model.Transport, Message: "the connection to the model failed", Cause: err}
				break
			}
			said, bad := f.take(data)
			for _, e := range said {
				if !yield(e, nil) {
					return
				}
			}
			if failed = bad; failed != nil || f.over {
				break
			}
		}
		if failed != nil {
			if ctx.Err() != nil {
				failed = &model.Error{Class: model.Cancelled, Message: "cancelled", Cause: context.Cause(ctx)}
			}
			failed.Usage = f.usage
			yield(model.Event{}, failed)
			return
		}
		for _, e := range f.end(ctx) {
			if !yield(e.event, e.err) {
				return
			}
		}
	}
}

func (c *Chat) post(ctx context.Context, r model.Request) (io.ReadCloser, *model.Error) {
	wire, err := c.wire(r)
	if err != nil {
		return nil, &model.Error{Class: model.BadRequest, Message: "the request could not be written", Cause: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.c.URL+"/chat/completions", bytes.NewReader(wire))
	if err != nil {
		return nil, &model.Error{Class: model.BadRequest, Message: "the provider's address can't be used", Cause: err}
	}
	maps.Copy(req.Header, c.c.Headers)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if c.c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.c.Key)
	}
	res, err := c.c.Client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, &model.Error{Class: model.Cancelled, Message: "cancelled", Cause: context.Cause(ctx)}
		}
		return nil, &model.Error{Class: model.Transport, Message: "the connection to the model failed", Hint: "check the address and the network", Cause: err}
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		text = nil
	}
	var w struct {
		Error wireError `json:"error"`
	}
	if json.Unmarshal(text, &w) != nil {
		w.Error.Message = ""
	}
	e := model.FromStatus(res.StatusCode, w.Error.text())
	e.RetryAfter = model.RetryAfter(res.Header)
	return nil, e
}
