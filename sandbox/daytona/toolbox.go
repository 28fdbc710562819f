package daytona

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"bordereau/sandbox"
)

// problem is the service's error body.
type problem struct {
	Message string `json:"message"`
	Code    string `json:"code"`
	Source  string `json:"source"`
}

// toolbox is the address of a sandbox's own API.
func (d *Driver) toolbox(ctx context.Context, id string) (string, error) {
	d.mu.Lock()
	u := d.boxes[id]
	d.mu.Unlock()
	if u != "" {
		return u, nil
	}
	i, err := d.look(ctx, id)
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	u = d.boxes[id]
	d.mu.Unlock()
	if u != "" {
		return u, nil
	}
	var got struct {
		URL string `json:"url"`
	}
	if _, err := d.call(ctx, http.MethodGet, "/sandbox/"+url.PathEscape(i.ID)+"/toolbox-proxy-url", id, nil, &got); err != nil {
		return "", err
	}
	u = strings.TrimSuffix(got.URL, "/") + "/" + url.PathEscape(i.ID)
	d.mu.Lock()
	d.boxes[id] = u
	d.mu.Unlock()
	return u, nil
}

// inside says what a failure of a sandbox's own API means. Which side said 404 is in its source; anything else is looked up first.
func (d *Driver) inside(ctx context.Context, id, name string, status int, body []byte) error {
	var p problem
	_ = json.Unmarshal(body, &p)
	if p.Source == "DAYTONA_DAEMON" || strings.HasPrefix(p.Code, "FILE_") {
		switch {
		case status == http.StatusNotFound || p.Code == "FILE_NOT_FOUND":
			return &sandbox.Fault{Kind: sandbox.ErrNoFile, Text: name}
		case status == http.StatusRequestEntityTooLarge || status == http.StatusInsufficientStorage:
			return &sandbox.Fault{Kind: sandbox.ErrTooLarge, Text: name + ": " + p.Message}
		case status == http.StatusBadRequest || status == http.StatusForbidden || status == http.StatusConflict:
			return sandbox.Invalid("%s: %s", name, p.Message)
		}
	}
	i, err := d.look(ctx, id)
	if err != nil {
		return err
	}
	if s := i.state(); s != sandbox.Running {
		return &sandbox.Fault{Kind: sandbox.ErrUnavailable, Text: "the sandbox is " + string(s), Hint: "start it first"}
	}
	return sandbox.Unavailable(nil, "the sandbox answered %d: %s", status, p.Message)
}

// tool calls a sandbox's own API.
func (d *Driver) tool(ctx context.Context, id, method, where, name string, in, out any) error {
	base, err := d.toolbox(ctx, id)
	if err != nil {
		return err
	}
	a, err := d.api.JSON(ctx, method, base+where, in, nil)
	if err != nil {
		return err
	}
	if a.Status/100 != 2 {
		return d.inside(ctx, id, name, a.Status, a.Body)
	}
	if out != nil {
		if err := json.Unmarshal(a.Body, out); err != nil {
			return sandbox.Unavailable(err, "the sandbox's answer can't be read")
		}
	}
	return nil
}
