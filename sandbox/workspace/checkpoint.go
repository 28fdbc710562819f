package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"bordereau/sandbox"
)

// chunk is the size of the pieces that content is addressed by.
const chunk = 4 << 20

// CheckpointConfig is what Checkpoints need.
type CheckpointConfig struct {
	Bucket    *blob.Bucket // a folder, S3, GCS, …
	FileBytes int64        // larger files are not kept; default 512 MiB
	Bytes     int64        // of all files; default 2 GiB
	Files     int          // default 50,000
	Now       func() time.Time
}

// Checkpoints keeps the last state of each conversation's workspace: content by its hash, compressed, only what changed.
type Checkpoints struct {
	cfg     CheckpointConfig
	encoder *zstd.Encoder
	decoder *zstd.Decoder

	mu   sync.Mutex
	last map[string]*Manifest // by conversation
}

// Manifest is one checkpoint.
type Manifest struct {
	Conversation string
	Taken        time.Time
	Entries      []Entry
	Left         []Left // what could not be kept
}

// Entry is one file, folder or link.
type Entry struct {
	Path     string
	Mode     fs.FileMode
	Size     int64
	Modified time.Time
	Link     string   `json:",omitempty"`
	SHA256   string   `json:",omitempty"`
	Chunks   []string `json:",omitempty"`
	Earlier  bool     `json:",omitempty"` // it was being written, so this is its state at an earlier checkpoint
}

// NewCheckpoints checks the configuration.
func NewCheckpoints(cfg CheckpointConfig) (*Checkpoints, error) {
	if cfg.Bucket == nil {
		return nil, errors.New("workspace: checkpoints need a bucket")
	}
	if cfg.FileBytes <= 0 {
		cfg.FileBytes = 512 << 20
	}
	if cfg.Bytes <= 0 {
		cfg.Bytes = 2 << 30
	}
	if cfg.Files <= 0 {
		cfg.Files = 50_000
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2))
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(4*chunk), zstd.WithDecoderConcurrency(2))
	if err != nil {
		return nil, err
	}
	return &Checkpoints{cfg: cfg, encoder: encoder, decoder: decoder, last: map[string]*Manifest{}}, nil
}

func prefix(conversation string) string {
	sum := sha256.Sum256([]byte(conversation))
	return hex.EncodeToString(sum[:16]) + "/"
}

// Last returns the latest checkpoint, or nil when there is none.
func (c *Checkpoints) Last(ctx context.Context, conversation string) (*Manifest, error) {
	c.mu.Lock()
	m := c.last[conversation]
	c.mu.Unlock()
	if m != nil {
		return m, nil
	}
	packed, err := c.cfg.Bucket.ReadAll(ctx, prefix(conversation)+"manifest")
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, nil //nolint:nilnil // no checkpoint yet is an ordinary answer
	}
	if err != nil {
		return nil, sandbox.Unavailable(err, "can't read the last checkpoint")
	}
	d, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	m = &Manifest{}
	if err := json.NewDecoder(d).Decode(m); err != nil || m.Conversation != conversation {
		return nil, fmt.Errorf("workspace: the checkpoint's list can't be read: %w", errors.Join(err, sandbox.ErrInvalid))
	}
	c.mu.Lock()
	c.last[conversation] = m
	c.mu.Unlock()
	return m, nil
}

// Save stores what changed since the last checkpoint. Nothing of the last one is removed before the new one is complete.
func (c *Checkpoints) Save(ctx context.Context, files Files, id, conversation string) (*Manifest, error) {
	last, err := c.Last(ctx, conversation)
	if err != nil {
		return nil, err
	}
	s := &saving{c: c, files: files, id: id, prefix: prefix(conversation), before: map[string]Entry{}, stored: map[string]bool{}}
	if last != nil {
		for _, e := range last.Entries {
			s.before[e.Path] = e
			for _, sum := range e.Chunks {
				s.stored[sum] = true
			}
		}
		s.taken = last.Taken
	}
	s.m = &Manifest{Conversation: conversation, Taken: c.cfg.Now()}
	s.spool, err = os.CreateTemp("", "bordereau-checkpoint-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(s.spool.Name())
	defer s.spool.Close()
	s.budget = c.cfg.Bytes
	cut, err := walk(ctx, files, id, sandbox.WorkspaceDir, c.cfg.Files, func(f sandbox.File) error { return s.add(ctx, f) })
	if err != nil {
		return nil, err
	}
	if cut {
		s.m.Left = append(s.m.Left, Left{Path: sandbox.WorkspaceDir, Why: "it has too many entries to keep them all"})
	}
	text, err := json.Marshal(s.m)
	if err != nil {
		return nil, err
	}
	if err := c.cfg.Bucket.WriteAll(ctx, s.prefix+"manifest", c.encoder.EncodeAll(text, nil), nil); err != nil {
		return nil, sandbox.Unavailable(err, "can't store a checkpoint")
	}
	c.mu.Lock()
	c.last[conversation] = s.m
	c.mu.Unlock()
	for sum := range s.stored { // what only the last one needed; left over after a crash it costs space, nothing else
		if !s.needs(sum) {
			_ = c.cfg.Bucket.Delete(ctx, s.prefix+sum)
		}
	}
	return s.m, nil
}

// Forget removes all that is kept of a conversation.
func (c *Checkpoints) Forget(ctx context.Context, conversation string) error {
	c.mu.Lock()
	delete(c.last, conversation)
	c.mu.Unlock()
	it := c.cfg.Bucket.List(&blob.ListOptions{Prefix: prefix(conversation)})
	for {
		o, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return sandbox.Unavailable(err, "can't list a checkpoint")
		}
		if err := c.cfg.Bucket.Delete(ctx, o.Key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return sandbox.Unavailable(err, "can't remove a checkpoint")
		}
	}
}

// saving is one checkpoint in the making.
type saving struct {
	c      *Checkpoints
	files  Files
	id     string
	prefix string
	spool  *os.File
	before map[string]Entry
	taken  time.Time // when before was taken
	stored map[string]bool
	needed map[string]bool
	m      *Manifest
	budget int64
}

func (s *saving) needs(sum string) bool {
	if s.needed == nil {
		s.needed = map[string]bool{}
		for _, e := range s.m.Entries {
			for _, c := range e.Chunks {
				s.needed[c] = true
			}
		}
	}
	return s.needed[sum]
}

func (s *saving) leave(f sandbox.File, why string) {
	s.m.Left = append(s.m.Left, Left{Path: f.Path, Why: why})
	if old, ok := s.before[f.Path]; ok && old.SHA256 != "" {
		old.Earlier = true
		s.m.Entries = append(s.m.Entries, old)
	}
}

func (s *saving) add(ctx context.Context, f sandbox.File) error {
	e := Entry{Path: f.Path, Mode: f.Mode, Modified: f.Modified, Size: f.Size, Link: f.Link}
	switch {
	case f.Mode.IsDir(), f.Mode&fs.ModeSymlink != 0:
		s.m.Entries = append(s.m.Entries, e)
		return nil
	case !f.Mode.IsRegular():
		s.leave(f, "it is not a file")
		return nil
	case f.Size > s.c.cfg.FileBytes:
		s.leave(f, fmt.Sprintf("it has more than %d MiB", s.c.cfg.FileBytes>>20))
		return nil
	case f.Size > s.budget:
		s.leave(f, "the workspace is too large to keep all of it")
		return nil
	}
	s.budget -= f.Size
	// A file changed in the same instant as the last checkpoint may look unchanged, so only older ones are trusted.
	if old, ok := s.before[f.Path]; ok && !old.Earlier && old.Size == f.Size && old.Mode == f.Mode && old.Modified.Equal(f.Modified) &&
		f.Modified.Before(s.taken.Add(-2*time.Second)) && old.SHA256 != "" {
		s.m.Entries = append(s.m.Entries, old)
		return nil
	}
	sum, err := whole(ctx, s.files, s.id, f, s.spool)
	switch {
	case errors.Is(err, errChanging):
		s.leave(f, errChanging.Error())
		return nil
	case errors.Is(err, sandbox.ErrNoFile), errors.Is(err, sandbox.ErrInvalid):
		return nil
	case err != nil:
		return err
	}
	e.SHA256 = sum
	e.Size, err = s.spool.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	buf := make([]byte, min(chunk, e.Size))
	for at := int64(0); at < e.Size; at += chunk {
		n, err := s.spool.ReadAt(buf[:min(chunk, e.Size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		piece := sha256.Sum256(buf[:n])
		name := hex.EncodeToString(piece[:])
		e.Chunks = append(e.Chunks, name)
		if s.stored[name] {
			continue
		}
		if err := s.c.cfg.Bucket.WriteAll(ctx, s.prefix+name, s.c.encoder.EncodeAll(buf[:n], nil), nil); err != nil {
			return sandbox.Unavailable(err, "can't store a checkpoint")
		}
		s.stored[name] = true
	}
	s.m.Entries = append(s.m.Entries, e)
	return nil
}
