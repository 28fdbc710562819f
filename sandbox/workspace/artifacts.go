package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"bordereau/sandbox"
)

// Caps bound what one collection takes.
type Caps struct {
	Files     int   // default 200
	FileBytes int64 // default 64 MiB
	Bytes     int64 // of all new files together; default 256 MiB
}

func (c Caps) or() Caps {
	if c.Files <= 0 {
		c.Files = 200
	}
	if c.FileBytes <= 0 {
		c.FileBytes = 64 << 20
	}
	if c.Bytes <= 0 {
		c.Bytes = 256 << 20
	}
	return c
}

// Artifact is one file that was put into sandbox.ArtifactsDir.
type Artifact struct {
	Name   string // relative to ArtifactsDir
	Path   string // inside the sandbox
	Size   int64
	SHA256 string
}

// Left is a file that was not taken, and why, in words for the model and the person.
type Left struct {
	Path string
	Why  string
}

// CollectArtifacts hands every new or changed file below ArtifactsDir to save: whole, unchanged while it was read, or not at all. known is
// the hash of each name that was saved before; it is brought up to date. Links, devices and pipes are never followed or opened.
func CollectArtifacts(ctx context.Context, files Files, id string, known map[string]string, caps Caps,
	save func(ctx context.Context, a Artifact, content io.Reader) error,
) (taken []Artifact, left []Left, err error) {
	caps = caps.or()
	spool, err := os.CreateTemp("", "bordereau-artifact-*")
	if err != nil {
		return nil, nil, fmt.Errorf("workspace: spool an artifact: %w", err)
	}
	defer os.Remove(spool.Name())
	defer spool.Close()

	budget, count := caps.Bytes, 0
	skip := func(f sandbox.File, why string) { left = append(left, Left{Path: f.Path, Why: why}) }
	cut, err := walk(ctx, files, id, sandbox.ArtifactsDir, 10*caps.Files, func(f sandbox.File) error {
		name := strings.TrimPrefix(f.Path, sandbox.ArtifactsDir+"/")
		switch {
		case f.Mode.IsDir() || strings.Contains("/"+name, "/.writing-"):
			return nil
		case !f.Mode.IsRegular():
			skip(f, "it is not a regular file")
			return nil
		case f.Size > caps.FileBytes:
			skip(f, fmt.Sprintf("it has more than %d MiB", caps.FileBytes>>20))
			return nil
		case count >= caps.Files:
			skip(f, fmt.Sprintf("there are more than %d files", caps.Files))
			return nil
		case f.Size > budget:
			skip(f, fmt.Sprintf("new files have more than %d MiB together", caps.Bytes>>20))
			return nil
		}
		count++
		sum, err := whole(ctx, files, id, f, spool)
		switch {
		case errors.Is(err, errChanging):
			skip(f, errChanging.Error())
			return nil
		case errors.Is(err, sandbox.ErrNoFile), errors.Is(err, sandbox.ErrInvalid):
			return nil // removed or replaced meanwhile
		case err != nil:
			return err
		case known[name] == sum:
			return nil
		}
		st, err := spool.Stat()
		if err != nil {
			return err
		}
		a := Artifact{Name: name, Path: f.Path, Size: st.Size(), SHA256: sum}
		if err := save(ctx, a, io.NewSectionReader(spool, 0, a.Size)); err != nil {
			return fmt.Errorf("workspace: save artifact %s: %w", name, err)
		}
		budget -= a.Size
		if known != nil {
			known[name] = sum
		}
		taken = append(taken, a)
		return nil
	})
	if cut {
		left = append(left, Left{Path: sandbox.ArtifactsDir, Why: "it has too many entries to look at"})
	}
	return taken, left, err
}
