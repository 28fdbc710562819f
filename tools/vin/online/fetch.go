package online

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds an answer; fifty VINs take about 300 KB.
const maxAnswer = 8 << 20

// fetch asks for at most a batch of VINs, again after a pause if the service only has a bad moment.
func (c *Client) fetch(ctx context.Context, queries []Query) ([]map[string]string, *Note) {
	if note := c.resting(); note != nil {
		return nil, note
	}
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, cancelled(ctx)
	}
	// Whoever had the turn before may have found the service dead.
	if note := c.resting(); note != nil {
		return nil, note
	}
	var note *Note
	pause := time.Duration(0)
	for attempt := range attempts {
		if attempt > 0 && pause < c.c.Interval<<attempt {
			pause = c.c.Interval << attempt
		}
		if !c.wait(ctx, max(pause, c.c.Interval-c.c.Now().Sub(c.last))) {
			return nil, cancelled(ctx)
		}
		c.last = c.c.Now()
		var answers []map[string]string
		if answers, pause, note = c.call(ctx, queries); note == nil {
			return answers, nil
		}
		if note.Kind == KindCancelled || note.Kind == KindShape || pause > c.c.Cooldown {
			break
		}
	}
	if note.Kind != KindCancelled {
		c.rest(note, pause)
	}
	return nil, note
}

// resting returns the note of a service that is being left alone.
func (c *Client) resting() *Note {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.c.Now().Before(c.deadUntil) {
		note := c.deadWhy
		return &note
	}
	return nil
}

// rest leaves the service alone for a while.
func (c *Client) rest(note *Note, asked time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadUntil = c.c.Now().Add(max(c.c.Cooldown, asked))
	note.RetryAt = c.deadUntil
	c.deadWhy = *note
}

// wait returns false if the caller gave up first.
func (c *Client) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func cancelled(ctx context.Context) *Note {
	return &Note{Kind: KindCancelled, Message: "NHTSA wasn't asked to the end: " + context.Cause(ctx).Error()}
}

// call makes one call. On failure it returns how long the service asks to wait.
func (c *Client) call(ctx context.Context, queries []Query) ([]map[string]string, time.Duration, *Note) {
	inner, cancel := context.WithTimeout(ctx, c.c.Timeout)
	defer cancel()
	body := url.Values{"format": {"json"}, "data": {batchData(queries)}}.Encode()
	req, err := http.NewRequestWithContext(inner, http.MethodPost, c.c.BaseURL+"DecodeVINValuesBatch/", strings.NewReader(body))
	if err != nil {
		return nil, 0, &Note{Kind: KindUnreachable, Message: "NHTSA's address is wrong: " + err.Error()}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	res, err := c.c.HTTP.Do(req)
	if err != nil {
		return nil, 0, failure(ctx, inner, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, 0, failure(ctx, inner, err)
	}
	switch {
	case res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusForbidden || res.StatusCode == http.StatusServiceUnavailable:
		return nil, retryAfter(res.Header, c.c.Now()), &Note{Kind: KindThrottled, Message: fmt.Sprintf("NHTSA answers %d and wants fewer calls.", res.StatusCode)}
	case res.StatusCode >= 500:
		return nil, 0, &Note{Kind: KindFailing, Message: fmt.Sprintf("NHTSA answers with its error %d.", res.StatusCode)}
	case res.StatusCode != http.StatusOK:
		return nil, 0, &Note{Kind: KindShape, Message: fmt.Sprintf("NHTSA answers %d to a well-formed question.", res.StatusCode)}
	case len(b) > maxAnswer:
		return nil, 0, &Note{Kind: KindShape, Message: fmt.Sprintf("NHTSA's answer is longer than %d bytes.", maxAnswer)}
	}
	answers, err := parse(b, queries)
	if err != nil {
		return nil, 0, &Note{Kind: KindShape, Message: "NHTSA's answer isn't what it should be: " + err.Error()}
	}
	return answers, 0, nil
}

// failure tells a caller who gave up from a service that is slow or gone.
func failure(ctx, inner context.Context, err error) *Note {
	switch {
	case ctx.Err() != nil:
		return cancelled(ctx)
	case inner.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return &Note{Kind: KindTimeout, Message: "NHTSA didn't answer in time."}
	}
	return &Note{Kind: KindUnreachable, Message: "NHTSA can't be reached: " + err.Error()}
}

// retryAfter reads how long the service asks to wait, in seconds or as a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	s := h.Get("Retry-After")
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return time.Duration(min(n, 24*3600)) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// batchData joins queries as the service wants them: "VIN,YEAR;VIN".
func batchData(queries []Query) string {
	parts := make([]string, len(queries))
	for i, q := range queries {
		parts[i] = q.VIN
		if q.Year != 0 {
			parts[i] += "," + strconv.Itoa(q.Year)
		}
	}
	return strings.Join(parts, ";")
}

// parse reads an answer and compares it with the question: the order is kept, and each object names its VIN.
func parse(b []byte, queries []Query) ([]map[string]string, error) {
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")))
	if len(b) == 0 || b[0] != '{' {
		return nil, fmt.Errorf("no JSON but %.40q", b)
	}
	var envelope struct {
		Results []map[string]any `json:"Results"`
	}
	if err := json.Unmarshal(b, &envelope); err != nil {
		return nil, err
	}
	if len(envelope.Results) != len(queries) {
		return nil, fmt.Errorf("%d answers to %d questions", len(envelope.Results), len(queries))
	}
	out := make([]map[string]string, len(queries))
	for i, r := range envelope.Results {
		values := make(map[string]string, len(r))
		for name, v := range r {
			switch v := v.(type) {
			case string:
				values[name] = strings.TrimSpace(v)
			case float64:
				values[name] = strconv.FormatFloat(v, 'f', -1, 64)
			case nil:
				values[name] = ""
			default:
				return nil, fmt.Errorf("%s is neither text nor number", name)
			}
		}
		if !strings.EqualFold(values["VIN"], queries[i].VIN) {
			return nil, fmt.Errorf("answer %d is for %.20q instead of %s", i+1, values["VIN"], queries[i].VIN)
		}
		if y := values["ModelYear"]; y != "" {
			// A page of HTML once ended up in this field.
			if n, err := strconv.Atoi(y); err != nil || n < 1900 || n > 2200 {
				return nil, fmt.Errorf("the model year is %.20q", y)
			}
		}
		out[i] = values
	}
	return out, nil
}
