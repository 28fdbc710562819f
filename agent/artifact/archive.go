package artifact

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Caps bound what an archive may unpack to. Office workbooks are archives too.
type Caps struct {
	Entries int   // most files
	Bytes   int64 // most bytes of all files unpacked, counted while unpacking: what a header states is not believed
	Ratio   int64 // most bytes out for one byte in, once more than RatioFrom bytes came out
	Depth   int   // most archives inside each other
}

// ratioFrom is where the ratio begins to count: small files of zeros are no bomb.
const ratioFrom = 16 << 20

// DefaultCaps fit workbooks of some million cells.
func DefaultCaps() Caps { return Caps{Entries: 10_000, Bytes: 2 << 30, Ratio: 200, Depth: 2} }

// maxNested is the largest inner archive that is looked into; a larger one is refused.
const maxNested = 64 << 20

// checkArchive reads staged content as an archive if it is one.
func (s *Store) checkArchive(ctx context.Context, staged string, f File, caps Caps) error {
	r, err := s.bucket.NewReader(ctx, staged, nil)
	if err != nil {
		return fmt.Errorf("looking into an archive: %w", err)
	}
	defer r.Close()
	return CheckArchive(ctx, &readerAt{r: r}, f.Size, caps)
}

// CheckArchive unpacks a zip or gzip file into nothing and returns ErrArchive when it breaks a cap, is damaged, or holds names
// that lead out of a folder. Other content passes.
func CheckArchive(ctx context.Context, r io.ReaderAt, size int64, caps Caps) error {
	c := &unpacking{caps: caps, packed: size}
	return c.check(ctx, r, size, 1)
}

// unpacking counts over an archive and all archives inside it.
type unpacking struct {
	caps    Caps
	packed  int64
	entries int
	bytes   int64
}

func (c *unpacking) check(ctx context.Context, r io.ReaderAt, size int64, depth int) error {
	head := make([]byte, 4)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("looking into an archive: %w", err)
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		if depth > c.caps.Depth {
			return refused("archives inside archives, more than %d deep", c.caps.Depth)
		}
		return c.gzip(ctx, io.NewSectionReader(r, 0, size))
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		if depth > c.caps.Depth {
			return refused("archives inside archives, more than %d deep", c.caps.Depth)
		}
		return c.zip(ctx, r, size, depth)
	}
	return nil
}

func (c *unpacking) gzip(ctx context.Context, r io.Reader) error {
	z, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return refused("damaged gzip")
	}
	c.entries++
	return c.drain(ctx, z, nil)
}

func (c *unpacking) zip(ctx context.Context, r io.ReaderAt, size int64, depth int) error {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return refused("damaged zip")
	}
	if c.entries += len(z.File); c.entries > c.caps.Entries {
		return refused("more than %d files", c.caps.Entries)
	}
	var stated uint64
	for _, f := range z.File {
		if escapes(f.Name) {
			return refused("a file name that leads out of its folder")
		}
		if stated += f.UncompressedSize64; stated > uint64(c.caps.Bytes) { // #nosec G115 -- a cap is positive
			return refused("unpacks to more than %d bytes", c.caps.Bytes)
		}
	}
	for _, f := range z.File {
		if err := c.entry(ctx, f, depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *unpacking) entry(ctx context.Context, f *zip.File, depth int) error {
	if f.Flags&1 != 0 {
		return refused("an encrypted file, which nobody can look into")
	}
	r, err := f.Open()
	if err != nil {
		return refused("a file packed in a way that isn't supported")
	}
	defer r.Close()
	in := bufio.NewReader(r)
	head, _ := in.Peek(4) // an error shows again below
	var keep *bytes.Buffer
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		if f.UncompressedSize64 > maxNested {
			return refused("an archive of more than %d bytes inside it", int64(maxNested))
		}
		keep = &bytes.Buffer{}
	}
	if err := c.drain(ctx, in, keep); err != nil {
		return err
	}
	if keep == nil {
		return nil
	}
	return c.check(ctx, bytes.NewReader(keep.Bytes()), int64(keep.Len()), depth+1)
}

// drain unpacks a stream into nothing, or into keep, and counts.
func (c *unpacking) drain(ctx context.Context, r io.Reader, keep *bytes.Buffer) error {
	buf := make([]byte, 64<<10)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf)
		c.bytes += int64(n)
		switch {
		case c.bytes > c.caps.Bytes:
			return refused("unpacks to more than %d bytes", c.caps.Bytes)
		case c.bytes > ratioFrom && c.bytes > c.caps.Ratio*max(c.packed, 1):
			return refused("unpacks to more than %d times its size", c.caps.Ratio)
		}
		if keep != nil {
			if keep.Len()+n > maxNested {
				return refused("an archive of more than %d bytes inside it", int64(maxNested))
			}
			keep.Write(buf[:n])
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return refused("damaged: %v", err)
		}
	}
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrArchive, fmt.Sprintf(format, args...))
}

func escapes(name string) bool {
	name = strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(name, "/") || len(name) > 1 && name[1] == ':' {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// readerAt reads a seeker at offsets; the archive readers use one goroutine.
type readerAt struct{ r io.ReadSeeker }

func (a *readerAt) ReadAt(p []byte, off int64) (int, error) {
	if _, err := a.r.Seek(off, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(a.r, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}
