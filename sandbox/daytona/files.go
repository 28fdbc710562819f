package daytona

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/hosted"
)

// entry is a file as the service tells of it.
type entry struct {
	Name     string    `json:"name"`
	IsDir    bool      `json:"isDir"`
	Size     int64     `json:"size"`
	Mode     string    `json:"mode"` // as ls writes it
	Modified time.Time `json:"modTime"`
}

func (e entry) file(dir string) sandbox.File {
	mode := fs.FileMode(0)
	if len(e.Mode) >= 10 {
		for i, c := range e.Mode[len(e.Mode)-9:] {
			if c != '-' {
				mode |= 1 << (8 - i)
			}
		}
		switch kind := e.Mode[:len(e.Mode)-9]; {
		case e.IsDir:
		case strings.ContainsAny(kind, "Ll"):
			mode |= fs.ModeSymlink
		case kind != "-":
			mode |= fs.ModeIrregular
		}
	}
	if e.IsDir {
		mode |= fs.ModeDir
	}
	return sandbox.File{Path: path.Join(dir, e.Name), Size: e.Size, Mode: mode, Modified: e.Modified}
}

func pathQuery(name string) string { return "?" + url.Values{"path": {name}}.Encode() }

// ListFiles lists one folder.
func (d *Driver) ListFiles(ctx context.Context, id, dir string) ([]sandbox.File, error) {
	full, err := hosted.Clean(dir)
	if err != nil {
		return nil, err
	}
	var got []entry
	if err := d.tool(ctx, id, http.MethodGet, "/files"+pathQuery(full), dir, nil, &got); err != nil {
		return nil, err
	}
	files := make([]sandbox.File, 0, len(got))
	for _, e := range got {
		files = append(files, e.file(full))
	}
	return files, nil
}

// lstat asks the folder, since the service's own look at a file follows links.
func (d *Driver) lstat(ctx context.Context, id, full string) (sandbox.File, error) {
	files, err := d.ListFiles(ctx, id, path.Dir(full))
	if err != nil {
		return sandbox.File{}, err
	}
	for _, f := range files {
		if f.Path == full {
			return f, nil
		}
	}
	return sandbox.File{}, &sandbox.Fault{Kind: sandbox.ErrNoFile, Text: full}
}

// ReadFile opens a file. Links are refused: the service would follow them anywhere in the sandbox.
func (d *Driver) ReadFile(ctx context.Context, id, name string) (io.ReadCloser, sandbox.File, error) {
	full, err := hosted.CleanFile(name)
	if err != nil {
		return nil, sandbox.File{}, err
	}
	st, err := d.lstat(ctx, id, full)
	if err != nil {
		return nil, sandbox.File{}, err
	}
	if !st.Mode.IsRegular() {
		return nil, sandbox.File{}, sandbox.Invalid("%s is not a regular file", name)
	}
	base, err := d.toolbox(ctx, id)
	if err != nil {
		return nil, sandbox.File{}, err
	}
	resp, err := d.api.Send(ctx, http.MethodGet, base+"/files/download"+pathQuery(full), nil, nil, false)
	if err != nil {
		return nil, sandbox.File{}, err
	}
	if resp.StatusCode == http.StatusOK {
		return &hosted.Whole{ReadCloser: resp.Body, Left: st.Size}, st, nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return nil, sandbox.File{}, d.inside(ctx, id, name, resp.StatusCode, body)
}

// WriteFile replaces a file: the content goes beside it first, so that a broken upload leaves what was there.
func (d *Driver) WriteFile(ctx context.Context, id, name string, content io.Reader) error {
	full, err := hosted.CleanFile(name)
	if err != nil {
		return err
	}
	if err := d.makeFolders(ctx, id, path.Dir(full)); err != nil {
		return err
	}
	tmp := hosted.Beside(full)
	err = d.upload(ctx, id, tmp, name, content)
	if err == nil {
		err = d.rename(ctx, id, tmp, full, name)
	}
	if err != nil {
		_ = d.tool(context.WithoutCancel(ctx), id, http.MethodDelete, "/files"+pathQuery(tmp), name, nil, nil)
	}
	return err
}

func (d *Driver) makeFolders(ctx context.Context, id, dir string) error {
	if dir == sandbox.WorkspaceDir {
		return nil
	}
	return d.tool(ctx, id, http.MethodPost, "/files/folder?"+url.Values{"path": {dir}, "mode": {"0755"}}.Encode(), dir, nil, nil)
}

func (d *Driver) upload(ctx context.Context, id, to, name string, content io.Reader) error {
	base, err := d.toolbox(ctx, id)
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	failed := make(chan error, 1)
	go func() {
		part, err := form.CreateFormFile("file", path.Base(to))
		if err == nil {
			max := d.cfg.Limits.Or().FileBytes
			var n int64
			n, err = io.Copy(part, io.LimitReader(content, max+1))
			if err == nil && n > max {
				err = &sandbox.Fault{Kind: sandbox.ErrTooLarge, Text: name + " is too large"}
			}
		}
		if err == nil {
			err = form.Close()
		}
		failed <- err
		w.CloseWithError(err)
	}()
	resp, err := d.api.Send(ctx, http.MethodPost, base+"/files/upload-v2"+pathQuery(to), r, http.Header{"Content-Type": {form.FormDataContentType()}}, false)
	r.Close()
	source := <-failed
	if err == nil {
		defer resp.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		if resp.StatusCode/100 != 2 {
			return d.inside(ctx, id, name, resp.StatusCode, body)
		}
	}
	if source != nil && !errors.Is(source, io.ErrClosedPipe) {
		return source
	}
	return err
}

func (d *Driver) rename(ctx context.Context, id, from, to, name string) error {
	return d.tool(ctx, id, http.MethodPost, "/files/move?"+url.Values{"source": {from}, "destination": {to}}.Encode(), name, nil, nil)
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
	if _, err := d.lstat(ctx, id, a); err != nil {
		return err
	}
	if err := d.makeFolders(ctx, id, path.Dir(b)); err != nil {
		return err
	}
	return d.rename(ctx, id, a, b, from)
}

// RemoveFile removes a file or a folder with all in it.
func (d *Driver) RemoveFile(ctx context.Context, id, name string) error {
	full, err := hosted.CleanFile(name)
	if err != nil {
		return err
	}
	if _, err := d.lstat(ctx, id, full); err != nil {
		return err
	}
	return d.tool(ctx, id, http.MethodDelete, "/files?"+url.Values{"path": {full}, "recursive": {"true"}}.Encode(), name, nil, nil)
}

// SetToken replaces the turn's token inside.
func (d *Driver) SetToken(ctx context.Context, id, token string) error {
	return hosted.SetToken(ctx, d, id, token)
}
