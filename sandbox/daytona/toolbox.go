package daytona

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"bordereau/sandbox"
	"bordereau/sandbox/execution"
	"bordereau/sandbox/hosted"
)

var errTimeLimit = errors.New("the command's time is over")

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

func (d *Driver) book(id string) *execution.Book {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.books[id] == nil {
		d.books[id] = execution.NewBook("", d.cfg.Now)
	}
	return d.books[id]
}

// Exec runs a command to its end.
func (d *Driver) Exec(ctx context.Context, id string, cmd sandbox.Command) (sandbox.Result, error) {
	if len(cmd.Args) == 0 {
		return sandbox.Result{}, sandbox.Invalid("a command has at least one argument")
	}
	i, err := d.look(ctx, id)
	if err != nil {
		return sandbox.Result{}, err
	}
	if s := i.state(); s != sandbox.Running {
		return sandbox.Result{}, &sandbox.Fault{Kind: sandbox.ErrUnavailable, Text: "the sandbox is " + string(s), Hint: "start it first"}
	}
	return d.book(id).Do(ctx, cmd, func(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) { return d.run(ctx, id, cmd) })
}

// setup makes the folders. It goes by the one-string call, since nothing of ours exists yet.
func (d *Driver) setup(ctx context.Context, id string) (sandbox.Result, error) {
	var got struct {
		ExitCode int `json:"exitCode"`
	}
	err := d.tool(ctx, id, http.MethodPost, "/process/execute", "", map[string]any{"command": "/bin/sh -c " + quote(hosted.Setup), "timeout": 60}, &got)
	return sandbox.Result{ExitCode: got.ExitCode}, err
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// run starts a command in a session of its own, its outputs in files, and looks until it has ended. A lost answer is asked for again.
func (d *Driver) run(ctx context.Context, id string, cmd sandbox.Command) (sandbox.Result, error) {
	session := "b-" + uuid.NewString()
	folder := hosted.Private + "/" + session
	content := []byte{}
	if cmd.Stdin != nil {
		content, _ = io.ReadAll(io.LimitReader(cmd.Stdin, 64<<20)) // input ends where its source breaks
	}
	if err := d.WriteFile(ctx, id, folder+"/in", bytes.NewReader(content)); err != nil {
		return sandbox.Result{}, err
	}
	tidy := context.WithoutCancel(ctx)
	defer func() { _ = d.RemoveFile(tidy, id, folder) }()
	if err := d.tool(ctx, id, http.MethodPost, "/process/session", "", map[string]string{"sessionId": session}, nil); err != nil {
		return sandbox.Result{}, err
	}
	defer func() { _ = d.tool(tidy, id, http.MethodDelete, "/process/session/"+session, "", nil, nil) }()

	limit := cmd.Timeout
	if limit <= 0 {
		limit = d.cfg.Timeout
	}
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(limit, func() { cancel(errTimeLimit) })
	defer timer.Stop()
	w := hosted.Wrap(cmd, folder+"/in")
	begun := d.cfg.Now()
	code, err := d.follow(running, id, session, line(w, folder, d.cfg.Limits.Or().OutputBytes))
	result := sandbox.Result{ExitCode: code, Duration: d.cfg.Now().Sub(begun)}
	if running.Err() != nil {
		d.kill(tidy, id, w)
		if ctx.Err() != nil {
			return sandbox.Result{}, context.Cause(ctx)
		}
		result.TimedOut, result.ExitCode, err = true, 137, nil
	}
	if err == nil && code == hosted.NoDir {
		err = sandbox.Invalid("no such folder: %s", cmd.Dir)
	}
	if err != nil {
		return sandbox.Result{}, err
	}
	for name, to := range map[string]io.Writer{"out": cmd.Stdout, "err": cmd.Stderr} {
		c := &hosted.Capped{W: to, Left: d.cfg.Limits.Or().OutputBytes}
		f, _, rerr := d.ReadFile(tidy, id, folder+"/"+name)
		if rerr != nil {
			return sandbox.Result{}, rerr
		}
		_, rerr = io.Copy(c, f)
		f.Close()
		if rerr != nil {
			return sandbox.Result{}, sandbox.Unavailable(rerr, "the command's output broke off")
		}
		result.Truncated = result.Truncated || c.Cut
	}
	return result, nil
}

// line is a wrapped command as one line of shell, its outputs cut one byte beyond the limit so that the cut shows.
func line(w hosted.Wrapped, folder string, limit int64) string {
	var b, args strings.Builder
	// Only the wrapped command carries the mark: what reads its output must outlive it.
	args.WriteString(" env")
	for k, v := range w.Env {
		args.WriteString(" " + quote(k+"="+v))
	}
	n := strconv.FormatInt(limit+1, 10)
	keep := func(to string) string {
		return "{ head -c " + n + " > " + quote(folder+"/"+to) + "; cat > /dev/null; }"
	}
	for _, a := range w.Args {
		args.WriteString(" " + quote(a))
	}
	// Pipes to head would hide the exit code, so it goes through a file.
	code := quote(folder + "/code")
	b.WriteString("{ {" + args.String() + "; echo $? > " + code + "; } 2>&3 | " + keep("out") + "; } 3>&1 | " + keep("err") + "; exit $(cat " + code + ")")
	return "/bin/sh -c " + quote(b.String())
}

// follow asks how a session's command stands. An exit code that is not there yet is no zero.
func (d *Driver) follow(ctx context.Context, id, session, command string) (int, error) {
	var started struct {
		ID string `json:"cmdId"`
	}
	if err := d.tool(ctx, id, http.MethodPost, "/process/session/"+session+"/exec", "", map[string]any{"command": command, "runAsync": true}, &started); err != nil {
		return 0, err
	}
	wait, troubles := 10*time.Millisecond, 0
	for {
		var got struct {
			ExitCode *int `json:"exitCode"`
		}
		err := d.tool(ctx, id, http.MethodGet, "/process/session/"+session+"/command/"+started.ID, "the command", nil, &got)
		switch {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case err != nil && (!errors.Is(err, sandbox.ErrUnavailable) || troubles == 6):
			return 0, err
		case err != nil:
			troubles++
		case got.ExitCode != nil:
			return *got.ExitCode, nil
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return 0, context.Cause(ctx)
		}
		wait = min(wait*3/2, time.Second)
	}
}

func (d *Driver) kill(ctx context.Context, id string, w hosted.Wrapped) {
	args, env := w.Kill()
	var b strings.Builder
	for k, v := range env {
		b.WriteString("export " + k + "=" + quote(v) + "; ")
	}
	b.WriteString(args[2])
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	_ = d.tool(ctx, id, http.MethodPost, "/process/execute", "", map[string]any{"command": "/bin/sh -c " + quote(b.String()), "timeout": 15}, nil)
}

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

func clean(name string) (string, error) {
	rel, err := sandbox.Rel(name)
	return sandbox.Abs(rel), err
}

func pathQuery(name string) string { return "?" + url.Values{"path": {name}}.Encode() }

// ListFiles lists one folder.
func (d *Driver) ListFiles(ctx context.Context, id, dir string) ([]sandbox.File, error) {
	full, err := clean(dir)
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
	full, err := clean(name)
	if err != nil {
		return nil, sandbox.File{}, err
	}
	if full == sandbox.WorkspaceDir {
		return nil, sandbox.File{}, sandbox.Invalid("%s is a folder", name)
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
		return &counted{resp.Body, st.Size}, st, nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return nil, sandbox.File{}, d.inside(ctx, id, name, resp.StatusCode, body)
}

// counted ends with an error when the connection ends before the file does.
type counted struct {
	io.ReadCloser
	left int64
}

// Read gives what comes.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.left -= int64(n)
	if errors.Is(err, io.EOF) && c.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// WriteFile replaces a file: the content goes beside it first, so that a broken upload leaves what was there.
func (d *Driver) WriteFile(ctx context.Context, id, name string, content io.Reader) error {
	full, err := clean(name)
	if err != nil {
		return err
	}
	if full == sandbox.WorkspaceDir {
		return sandbox.Invalid("%s is a folder", name)
	}
	if err := d.makeFolders(ctx, id, path.Dir(full)); err != nil {
		return err
	}
	tmp := path.Join(path.Dir(full), ".writing-"+uuid.NewString())
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
	a, err := clean(from)
	if err != nil {
		return err
	}
	b, err := clean(to)
	if err != nil {
		return err
	}
	if a == sandbox.WorkspaceDir || b == sandbox.WorkspaceDir {
		return sandbox.Invalid("the workspace itself can't be moved")
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
	full, err := clean(name)
	if err != nil {
		return err
	}
	if full == sandbox.WorkspaceDir {
		return sandbox.Invalid("the workspace itself can't be removed")
	}
	if _, err := d.lstat(ctx, id, full); err != nil {
		return err
	}
	return d.tool(ctx, id, http.MethodDelete, "/files?"+url.Values{"path": {full}, "recursive": {"true"}}.Encode(), name, nil, nil)
}

// SetToken replaces the turn's token inside.
func (d *Driver) SetToken(ctx context.Context, id, token string) error {
	if token == "" {
		err := d.RemoveFile(ctx, id, hosted.TokenFile)
		if errors.Is(err, sandbox.ErrNoFile) {
			return nil
		}
		return err
	}
	return d.WriteFile(ctx, id, hosted.TokenFile, strings.NewReader(token))
}
