// Package artifact keeps files, by organisation and content hash, that turns deliver and people upload.
package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/google/uuid"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/gcerrors"
)

// Kinds of failure.
var (
	ErrNotFound = errors.New("artifact: not found")
	ErrTooLarge = errors.New("artifact: too large")
	ErrHash     = errors.New("artifact: content does not match its hash")
	ErrName     = errors.New("artifact: bad file name")
	ErrArchive  = errors.New("artifact: archive refused")
	ErrConflict = errors.New("artifact: that name is taken by another file")
	ErrConfig   = errors.New("artifact: incomplete configuration")
)

// File is what a store knows of content it holds.
type File struct {
	SHA256    string
	Size      int64
	MediaType string
}

// Store keeps content in a bucket. It never changes what it holds: the same content is kept once an organisation.
type Store struct {
	bucket *blob.Bucket
}

// New returns a store in a bucket: a folder, S3, GCS or Azure. Close closes the bucket.
func New(bucket *blob.Bucket) (*Store, error) {
	if bucket == nil {
		return nil, fmt.Errorf("%w: a store needs a bucket", ErrConfig)
	}
	return &Store{bucket: bucket}, nil
}

// OpenFolder returns a store in a folder, which it makes when it is missing.
func OpenFolder(dir string) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the artifact folder: %w", err)
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return nil, fmt.Errorf("opening the artifact folder: %w", err)
	}
	// Temporary files stay inside the folder: a rename from another file system would fail.
	bucket, err := fileblob.OpenBucket(abs, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		return nil, fmt.Errorf("opening the artifact folder: %w", err)
	}
	return New(bucket)
}

// Close releases the bucket.
func (s *Store) Close() error { return s.bucket.Close() }

// Put is what to keep and what must hold for it.
type Put struct {
	Org     string
	Name    string // decides the media type together with the content; not kept here
	Content io.Reader
	Limit   int64  // most bytes; 0: no limit
	SHA256  string // "" or the hash that the content must have
	Unpack  Caps   // what an archive may hold; zero: not looked into
}

// Put keeps content, streaming: memory doesn't grow with size. Content that breaks a rule leaves nothing behind.
func (s *Store) Put(ctx context.Context, p Put) (File, error) {
	if !orgForm.MatchString(p.Org) {
		return File{}, fmt.Errorf("%w: organisation %q", ErrName, p.Org)
	}
	staged := "staging/" + uuid.NewString()
	f, err := s.stage(ctx, staged, p)
	if err != nil {
		return File{}, err
	}
	defer func() { _ = s.bucket.Delete(context.WithoutCancel(ctx), staged) }() // a left-over is swept by age, not an error of this call
	if p.SHA256 != "" && p.SHA256 != f.SHA256 {
		return File{}, fmt.Errorf("%w: got %s", ErrHash, f.SHA256)
	}
	if p.Unpack != (Caps{}) {
		if err := s.checkArchive(ctx, staged, f, p.Unpack); err != nil {
			return File{}, err
		}
	}
	final := key(p.Org, f.SHA256)
	there, err := s.bucket.Exists(ctx, final)
	if err != nil {
		return File{}, fmt.Errorf("keeping a file: %w", err)
	}
	if !there {
		if err := s.bucket.Copy(ctx, final, staged, nil); err != nil {
			return File{}, fmt.Errorf("keeping a file: %w", err)
		}
	}
	return f, nil
}

// stage writes the content under a temporary key while hashing it.
func (s *Store) stage(ctx context.Context, key string, p Put) (File, error) {
	// Cancelling the writer's context before Close is how a bucket is told to drop what was written.
	wctx, drop := context.WithCancel(ctx)
	defer drop()
	w, err := s.bucket.NewWriter(wctx, key, &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		return File{}, fmt.Errorf("keeping a file: %w", err)
	}
	in := p.Content
	if p.Limit > 0 {
		in = io.LimitReader(in, p.Limit+1)
	}
	sum, head := sha256.New(), &headWriter{}
	n, err := io.Copy(io.MultiWriter(w, sum, head), in)
	if err == nil && p.Limit > 0 && n > p.Limit {
		err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, p.Limit)
	}
	if err != nil {
		drop()
		_ = w.Close() // reports the cancellation only
		return File{}, fmt.Errorf("reading the content: %w", err)
	}
	if err := w.Close(); err != nil {
		return File{}, fmt.Errorf("keeping a file: %w", err)
	}
	return File{SHA256: hex.EncodeToString(sum.Sum(nil)), Size: n, MediaType: MediaType(p.Name, head.bytes)}, nil
}

// Open reads content from an offset; the size returned is the whole's.
func (s *Store) Open(ctx context.Context, org, sha string) (io.ReadSeekCloser, int64, error) {
	if !orgForm.MatchString(org) || !shaForm.MatchString(sha) {
		return nil, 0, ErrNotFound
	}
	r, err := s.bucket.NewReader(ctx, key(org, sha), nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, 0, fmt.Errorf("%w: content %s", ErrNotFound, sha)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("opening a file: %w", err)
	}
	return r, r.Size(), nil
}

// Has tells whether an organisation has content with that hash.
func (s *Store) Has(ctx context.Context, org, sha string) (bool, error) {
	if !orgForm.MatchString(org) || !shaForm.MatchString(sha) {
		return false, nil
	}
	return s.bucket.Exists(ctx, key(org, sha))
}

var (
	orgForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	shaForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// key puts the organisation first: one organisation's files can be listed, moved and deleted alone, and nobody learns from
// how an upload went that another organisation has the same file.
func key(org, sha string) string { return "org/" + org + "/" + sha[:2] + "/" + sha }

// headWriter keeps the first bytes, which tell the media type.
type headWriter struct{ bytes []byte }

func (h *headWriter) Write(p []byte) (int, error) {
	if room := sniffBytes - len(h.bytes); room > 0 {
		h.bytes = append(h.bytes, p[:min(room, len(p))]...)
	}
	return len(p), nil
}
