// Package anthropic asks Claude models over the Messages API.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"

	"bordereau/agent/model"
)

// DefaultURL is the provider's own address.
const DefaultURL = "https://api.anthropic.com"

// from names this adapter in blocks that it keeps verbatim.
const from = "anthropic"

// ErrConfig is returned by New for a Config that lacks something.
var ErrConfig = errors.New("anthropic: incomplete configuration")

// Config is what an adapter is made from. Model and Key are required.
type Config struct {
	Model    string // such as "claude-sonnet-5"
	Key      string
	URL      string // "": DefaultURL
	Thinking int    // tokens of extended thinking; 0: none
	Price    model.Price
	Client   *http.Client // nil: one of its own
}

// Claude is a model.Model.
type Claude struct {
	c      Config
	client sdk.Client
}

var _ model.Model = (*Claude)(nil)

// New checks c and returns the adapter. It contacts nobody.
func New(c Config) (*Claude, error) {
	if c.Model == "" || c.Key == "" {
		return nil, fmt.Errorf("%w: it needs Model and Key", ErrConfig)
	}
	if c.URL == "" {
		c.URL = DefaultURL
	}
	if c.Client == nil {
		c.Client = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	// A retry is an attempt in the journal, so the SDK makes none of its own.
	client := sdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithAPIKey(c.Key), option.WithBaseURL(c.URL), option.WithHTTPClient(c.Client), option.WithMaxRetries(0))
	return &Claude{c: c, client: client}, nil
}

// Name returns "anthropic/" and the model's name.
func (c *Claude) Name() string { return "anthropic/" + c.c.Model }

// Stream implements model.Model.
func (c *Claude) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		body, err := json.Marshal(c.wire(r))
		if err != nil {
			yield(model.Event{}, &model.Error{Class: model.BadRequest, Message: "the request could not be written", Cause: err})
			return
		}
		var res *http.Response
		err = c.client.Post(ctx, "v1/messages", body, &res, option.WithHeader("Content-Type", "application/json"))
		stream := ssestream.NewStream[sdk.MessageStreamEventUnion](ssestream.NewDecoder(res), err)
		defer func() { _ = stream.Close() }()
		f := folder{price: c.c.Price}
		for stream.Next() {
			for _, e := range f.take(stream.Current()) {
				if !yield(e, nil) {
					return
				}
			}
		}
		end, failed := f.end(ctx, stream.Err())
		if failed != nil {
			yield(model.Event{}, failed)
			return
		}
		yield(end, nil)
	}
}
