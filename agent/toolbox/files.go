package toolbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"bordereau/agent/turn"
	"bordereau/sandbox"
)

// Bounds of what a model reads and writes at once.
const (
	maxRead    = 256 << 10
	maxWrite   = 4 << 20
	maxEntries = 500
)

// within makes a path absolute and refuses one that leads out of the workspace. The driver checks again, links included.
func within(p string) (string, error) {
	if p == "" {
		return "", invalid("the path is missing", "paths are below /workspace")
	}
	if !path.IsAbs(p) {
		p = path.Join(sandbox.WorkspaceDir, p)
	}
	p = path.Clean(p)
	if p != sandbox.WorkspaceDir && !strings.HasPrefix(p, sandbox.WorkspaceDir+"/") || strings.ContainsRune(p, 0) {
		return "", invalid("the path leads out of the workspace", "paths are below /workspace")
	}
	return p, nil
}

func (s *session) readFile(ctx context.Context, c turn.Call) (turn.Result, error) {
	var in struct {
		Path   string `json:"path"`
		Offset int64  `json:"offset"`
	}
	if err := decode(c, &in); err != nil {
		return turn.Result{}, err
	}
	file, err := within(in.Path)
	if err != nil {
		return turn.Result{}, err
	}
	if in.Offset < 0 {
		return turn.Result{}, invalid("the offset is negative", "")
	}
	var content []byte
	var info sandbox.File
	err = s.space.do(ctx, func(id string) error {
		r, f, err := s.c.Sandboxes.ReadFile(ctx, id, file)
		if err != nil {
			return err
		}
		defer r.Close()
		info = f
		if _, err := io.CopyN(io.Discard, r, in.Offset); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading the file: %w", err)
		}
		content, err = io.ReadAll(io.LimitReader(r, maxRead))
		return err
	})
	if err != nil {
		return turn.Result{}, err
	}
	text, ok := readable(content)
	if !ok {
		return turn.Result{}, invalid(fmt.Sprintf("%s is no text file (%d bytes)", file, info.Size), "read it with a program, by the tool run")
	}
	next := in.Offset + int64(len(text))
	r, err := answer(map[string]any{"path": file, "size": info.Size, "offset": in.Offset, "next_offset": next, "whole": in.Offset == 0 && next >= info.Size, "content": text})
	r.Text = text
	if next < info.Size {
		r.Text += fmt.Sprintf("\n[%d of %d bytes; go on with offset %d]", next, info.Size, next)
	}
	return r, err
}

// readable returns the content up to its last whole character, if it is text.
func readable(b []byte) (string, bool) {
	for cut := range min(utf8.UTFMax, len(b)+1) {
		text, rest := b[:len(b)-cut], b[len(b)-cut:]
		if utf8.Valid(text) && (cut == 0 || !utf8.FullRune(rest)) {
			return string(text), !strings.ContainsRune(string(text), 0)
		}
	}
	return "", false
}

func (s *session) writeFile(ctx context.Context, c turn.Call) (turn.Result, error) {
	var in struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	if err := decode(c, &in); err != nil {
		return turn.Result{}, err
	}
	file, err := within(in.Path)
	if err != nil {
		return turn.Result{}, err
	}
	if file == sandbox.WorkspaceDir {
		return turn.Result{}, invalid("the path names a folder", "name a file below /workspace")
	}
	if len(in.Content) > maxWrite {
		return turn.Result{}, &fault{Code: "too_large", Component: "toolbox", Message: fmt.Sprintf("the content has more than %d bytes", maxWrite), Hint: "make large files with a program, by the tool run"}
	}
	s.space.touch()
	if err := s.space.do(ctx, func(id string) error {
		return s.c.Sandboxes.WriteFile(ctx, id, file, strings.NewReader(in.Content))
	}); err != nil {
		return turn.Result{}, err
	}
	return answer(map[string]any{"path": file, "size": len(in.Content)})
}

func (s *session) listFiles(ctx context.Context, c turn.Call) (turn.Result, error) {
	var in struct {
		Path string `json:"path"`
	}
	if err := decode(c, &in); err != nil {
		return turn.Result{}, err
	}
	if in.Path == "" {
		in.Path = sandbox.WorkspaceDir
	}
	dir, err := within(in.Path)
	if err != nil {
		return turn.Result{}, err
	}
	type entry struct {
		Path   string `json:"path"`
		Size   int64  `json:"size"`
		Folder bool   `json:"folder,omitempty"`
	}
	entries, total := []entry{}, 0
	err = s.space.do(ctx, func(id string) error {
		entries, total = []entry{}, 0
		files, err := s.c.Sandboxes.ListFiles(ctx, id, dir)
		for _, f := range files {
			if strings.Contains(f.Path, "/.bordereau") {
				continue // our own marks
			}
			if total++; len(entries) < maxEntries {
				entries = append(entries, entry{f.Path, f.Size, f.Mode.IsDir()})
			}
		}
		return err
	})
	if err != nil {
		return turn.Result{}, err
	}
	out := map[string]any{"path": dir, "entries": entries, "truncated": total > len(entries)}
	if note := s.space.takeNote(); note != "" {
		out["note"] = note
	}
	return answer(out)
}
