package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"bordereau/sandbox"
)

// FileHeader carries a file's description beside its content.
const FileHeader = "Bordereau-File"

// ReadFile opens a file.
func (d *Driver) ReadFile(ctx context.Context, id, path string) (r io.ReadCloser, f sandbox.File, err error) {
	err = d.at(ctx, id, func(h *url.URL) error {
		resp, err := d.ask(ctx, h, http.MethodGet, "/sandboxes/"+id+"/file", url.Values{"path": {path}}, nil)
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(resp.Header.Get(FileHeader)), &f); err != nil {
			resp.Body.Close()
			return sandbox.Unavailable(err, "the sandbox host broke off its answer")
		}
		r = &content{r: resp.Body, left: f.Size}
		return nil
	})
	return r, f, err
}

// content ends with an error when a connection ends before the file does.
type content struct {
	r    io.ReadCloser
	left int64
}

// Read gives what comes.
func (c *content) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.left -= int64(n)
	if errors.Is(err, io.EOF) && c.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close ends it.
func (c *content) Close() error { return c.r.Close() }

// WriteFile replaces a file.
func (d *Driver) WriteFile(ctx context.Context, id, path string, body io.Reader) error {
	h, err := d.host(ctx, id) // never twice: the content may be read once only
	if err != nil {
		return err
	}
	source := &noting{r: body}
	resp, err := d.ask(ctx, h, http.MethodPut, "/sandboxes/"+id+"/file", url.Values{"path": {path}}, source)
	if source.err != nil {
		return source.err
	}
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// noting remembers why its source broke. The transport aborts the request, so the host sees no end and keeps what was there.
type noting struct {
	r   io.Reader
	err error
}

// Read gives what there is.
func (n *noting) Read(p []byte) (int, error) {
	c, err := n.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		n.err = err
	}
	return c, err
}

// ListFiles lists a folder.
func (d *Driver) ListFiles(ctx context.Context, id, dir string) (files []sandbox.File, err error) {
	err = d.at(ctx, id, func(h *url.URL) error {
		return d.call(ctx, h, http.MethodGet, "/sandboxes/"+id+"/files", url.Values{"dir": {dir}}, nil, &files)
	})
	return files, err
}

// MoveFile renames a file or folder.
func (d *Driver) MoveFile(ctx context.Context, id, from, to string) error {
	return d.at(ctx, id, func(h *url.URL) error {
		return d.call(ctx, h, http.MethodPost, "/sandboxes/"+id+"/move", nil, [2]string{from, to}, nil)
	})
}

// RemoveFile removes a file or folder.
func (d *Driver) RemoveFile(ctx context.Context, id, path string) error {
	return d.at(ctx, id, func(h *url.URL) error {
		return d.call(ctx, h, http.MethodDelete, "/sandboxes/"+id+"/file", url.Values{"path": {path}}, nil, nil)
	})
}

// SetToken replaces the turn's token inside.
func (d *Driver) SetToken(ctx context.Context, id, token string) error {
	return d.at(ctx, id, func(h *url.URL) error {
		return d.call(ctx, h, http.MethodPut, "/sandboxes/"+id+"/token", nil, map[string]string{"token": token}, nil)
	})
}
