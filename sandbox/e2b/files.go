package e2b

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/hosted"
)

// entry is a file as the service tells of it; 64-bit numbers come as text.
type entry struct {
	Name     string      `json:"name"`
	Type     string      `json:"type"`
	Path     string      `json:"path"`
	Size     json.Number `json:"size"`
	Mode     uint32      `json:"mode"`
	Modified time.Time   `json:"modifiedTime"`
	Link     string      `json:"symlinkTarget"`
}

func (e *entry) file() sandbox.File {
	n, _ := strconv.ParseInt(strings.Trim(e.Size.String(), `"`), 10, 64)
	mode := fs.FileMode(e.Mode).Perm()
	switch {
	case e.Link != "":
		mode |= fs.ModeSymlink
	case e.Type == "FILE_TYPE_DIRECTORY":
		mode |= fs.ModeDir
	case e.Type != "FILE_TYPE_FILE":
		mode |= fs.ModeIrregular
	}
	return sandbox.File{Path: e.Path, Size: n, Mode: mode, Modified: e.Modified, Link: e.Link}
}

// UnmarshalJSON takes numbers as text too.
func (e *entry) UnmarshalJSON(b []byte) error {
	type plain entry
	var p struct {
		plain
		Size any `json:"size"`
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*e = entry(p.plain)
	switch v := p.Size.(type) {
	case string:
		e.Size = json.Number(v)
	case float64:
		e.Size = json.Number(strconv.FormatInt(int64(v), 10))
	}
	return nil
}

func (d *Driver) stat(ctx context.Context, id, name string) (sandbox.File, error) {
	var got struct {
		Entry entry `json:"entry"`
	}
	err := d.rpc(ctx, id, "filesystem.Filesystem/Stat", name, map[string]string{"path": name}, &got)
	return got.Entry.file(), err
}

// ReadFile opens a file. Links are refused: the service itself would follow them anywhere in the sandbox.
func (d *Driver) ReadFile(ctx context.Context, id, name string) (io.ReadCloser, sandbox.File, error) {
	full, err := hosted.CleanFile(name)
	if err != nil {
		return nil, sandbox.File{}, err
	}
	st, err := d.stat(ctx, id, full)
	if err != nil {
		return nil, sandbox.File{}, err
	}
	if !st.Mode.IsRegular() {
		return nil, sandbox.File{}, sandbox.Invalid("%s is not a regular file", name)
	}
	k, err := d.inside(ctx, id)
	if err != nil {
		return nil, sandbox.File{}, err
	}
	c := hosted.Client{HTTP: d.cfg.HTTP}
	resp, err := c.Send(ctx, http.MethodGet, d.cfg.Envd+"/files?"+url.Values{"path": {full}, "username": {user}}.Encode(), nil, d.headers(k), false)
	if err != nil {
		return nil, sandbox.File{}, err
	}
	if resp.StatusCode == http.StatusOK {
		return &hosted.Whole{ReadCloser: resp.Body, Left: st.Size}, st, nil
	}
	defer resp.Body.Close()
	return nil, sandbox.File{}, d.fileError(ctx, id, name, resp)
}

func (d *Driver) fileError(ctx context.Context, id, name string, resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var e struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(text, &e)
	switch resp.StatusCode {
	case http.StatusNotFound:
		if e.Message == "" { // not the word of the sandbox's own API
			return d.lost(ctx, id, resp.StatusCode, string(text))
		}
		return &sandbox.Fault{Kind: sandbox.ErrNoFile, Text: name}
	case http.StatusBadRequest:
		return sandbox.Invalid("%s: %s", name, e.Message)
	case http.StatusInsufficientStorage:
		return &sandbox.Fault{Kind: sandbox.ErrTooLarge, Text: "the sandbox's disk is full", Hint: "remove what is not needed"}
	}
	return d.lost(ctx, id, resp.StatusCode, string(text))
}

// WriteFile replaces a file: the content goes beside it first, so that a broken upload leaves what was there.
func (d *Driver) WriteFile(ctx context.Context, id, name string, content io.Reader) error {
	full, err := hosted.CleanFile(name)
	if err != nil {
		return err
	}
	k, err := d.inside(ctx, id)
	if err != nil {
		return err
	}
	tmp := hosted.Beside(full)
	source := &noting{r: content, left: d.cfg.Limits.Or().FileBytes}
	h := d.headers(k)
	h.Set("Content-Type", "application/octet-stream")
	c := hosted.Client{HTTP: d.cfg.HTTP}
	resp, err := c.Send(ctx, http.MethodPost, d.cfg.Envd+"/files?"+url.Values{"path": {tmp}, "username": {user}}.Encode(), source, h, false)
	if err == nil {
		if resp.StatusCode/100 != 2 {
			err = d.fileError(ctx, id, name, resp)
		}
		resp.Body.Close()
	}
	if source.err != nil {
		err = source.err
	}
	if err == nil {
		err = d.rpc(ctx, id, "filesystem.Filesystem/Move", name, map[string]string{"source": tmp, "destination": full}, nil)
	}
	if err != nil {
		_ = d.rpc(context.WithoutCancel(ctx), id, "filesystem.Filesystem/Remove", name, map[string]string{"path": tmp}, nil)
	}
	return err
}

// noting remembers why its source broke.
type noting struct {
	r    io.Reader
	left int64
	err  error
}

// Read gives what there is, up to the limit.
func (n *noting) Read(p []byte) (int, error) {
	c, err := n.r.Read(p)
	if n.left -= int64(c); n.left < 0 && n.err == nil {
		n.err = &sandbox.Fault{Kind: sandbox.ErrTooLarge, Text: "the file is too large"}
		return 0, n.err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		n.err = err
	}
	return c, err
}

// ListFiles lists one folder.
func (d *Driver) ListFiles(ctx context.Context, id, dir string) ([]sandbox.File, error) {
	full, err := hosted.Clean(dir)
	if err != nil {
		return nil, err
	}
	var got struct {
		Entries []entry `json:"entries"`
	}
	if err := d.rpc(ctx, id, "filesystem.Filesystem/ListDir", dir, map[string]any{"path": full, "depth": 1}, &got); err != nil {
		return nil, err
	}
	files := make([]sandbox.File, 0, len(got.Entries))
	for _, e := range got.Entries {
		e.Path = path.Join(full, e.Name)
		files = append(files, e.file())
	}
	return files, nil
}

// MoveFile renames a file or folder.
func (d *Driver) MoveFile(ctx context.Context, id, from, to string) error {
	a, err := hosted.CleanFile(from)
	if err != nil {
		return err
	}
	b, err := hosted.CleanFile(to)
	if err != nil {
		return err
	}
	if _, err := d.stat(ctx, id, a); err != nil {
		return err
	}
	if dir := path.Dir(b); dir != sandbox.WorkspaceDir {
		err := d.rpc(ctx, id, "filesystem.Filesystem/MakeDir", to, map[string]string{"path": dir}, nil)
		if err != nil && !errors.Is(err, sandbox.ErrInvalid) { // it exists
			return err
		}
	}
	return d.rpc(ctx, id, "filesystem.Filesystem/Move", from, map[string]string{"source": a, "destination": b}, nil)
}

// RemoveFile removes a file or a folder with all in it.
func (d *Driver) RemoveFile(ctx context.Context, id, name string) error {
	full, err := hosted.CleanFile(name)
	if err != nil {
		return err
	}
	if _, err := d.stat(ctx, id, full); err != nil {
		return err
	}
	return d.rpc(ctx, id, "filesystem.Filesystem/Remove", name, map[string]string{"path": full}, nil)
}

// SetToken replaces the turn's token inside.
func (d *Driver) SetToken(ctx context.Context, id, token string) error {
	return hosted.SetToken(ctx, d, id, token)
}
