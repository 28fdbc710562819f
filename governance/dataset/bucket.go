package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
	"golang.org/x/sync/errgroup"

	"bordereau/governance/dataset/generation"
)

// remote is the bucket that replicas share, if there is one. The folder is then a cache of it, and what comes from the bucket is
// used only if it has the hash that the governance database says.
type remote struct{ bucket *blob.Bucket }

func (r remote) key(org, path string) string { return "orgs/" + org + "/" + filepath.ToSlash(path) }

// upload puts files of the organisation's folder into the bucket. It comes before publication: what is published is there for everyone.
func (r remote) upload(ctx context.Context, org, dir string, files []generation.Built) error {
	if r.bucket == nil {
		return nil
	}
	const atOnce = 4
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, f := range files {
		group.Go(func() error { return r.uploadOne(ctx, org, dir, f.Path) })
	}
	return group.Wait()
}

func (r remote) uploadOne(ctx context.Context, org, dir, path string) error {
	in, err := os.Open(filepath.Join(dir, path))
	if err != nil {
		return err
	}
	defer in.Close() // only read
	// A writer that is cancelled leaves no object; closing it otherwise makes one of what was written so far.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, err := r.bucket.NewWriter(ctx, r.key(org, path), &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		return fmt.Errorf("uploading %s: %w", path, err)
	}
	if _, err := io.Copy(out, in); err != nil {
		cancel()
		return errors.Join(fmt.Errorf("uploading %s: %w", path, err), out.Close())
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("uploading %s: %w", path, err)
	}
	return nil
}

// errHash says that an object isn't what was published.
var errHash = errors.New("the object in the bucket does not have the published hash")

// ensure makes sure that a file and its log are in the organisation's folder, fetching them if there is a bucket.
func (r remote) ensure(ctx context.Context, org, dir string, f generation.Built) error {
	if f.Log != nil {
		if err := r.ensureOne(ctx, org, dir, *f.Log); err != nil {
			return err
		}
	}
	return r.ensureOne(ctx, org, dir, f)
}

// ensureOne fetches a file that several generations share once, and links it.
func (r remote) ensureOne(ctx context.Context, org, dir string, f generation.Built) error {
	target := filepath.Join(dir, f.Path)
	info, err := os.Stat(target)
	if err == nil && info.Size() == f.Bytes {
		return nil
	}
	if r.bucket == nil {
		return errors.Join(err, fmt.Errorf("%s is gone or has another size", f.Path))
	}
	if f.Object == "" {
		return r.fetch(ctx, r.key(org, f.Path), target, f)
	}
	shared := filepath.Join(dir, sharedFolder, f.SHA256)
	if err := r.fetch(ctx, r.key(org, f.Object), shared, f); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	if err := os.Link(shared, target); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// sharedFolder keeps what several generations of an organisation share, by hash, while one of them is here.
const sharedFolder = "shared"

// fetch gets an object, unless it is there. Two that fetch the same do no harm: each writes its own and the last rename wins, over the same bytes.
func (r remote) fetch(ctx context.Context, key, target string, f generation.Built) (err error) {
	if info, err := os.Stat(target); err == nil && info.Size() == f.Bytes {
		return nil
	}
	in, err := r.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return fmt.Errorf("fetching %s: %w", f.Path, err)
	}
	defer in.Close() // only read
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(target), ".fetch-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(tmp, h), io.LimitReader(in, f.Bytes+1))
	if err := errors.Join(err, tmp.Chmod(0o444), tmp.Close()); err != nil {
		return fmt.Errorf("fetching %s: %w", f.Path, err)
	}
	if n != f.Bytes || hex.EncodeToString(h.Sum(nil)) != f.SHA256 {
		return fmt.Errorf("fetching %s: %w", f.Path, errHash)
	}
	return os.Rename(tmp.Name(), target)
}

// remove takes a generation's files out of the bucket, but for those that other generations share.
func (r remote) remove(ctx context.Context, org string, g generationRow, others []generationRow) error {
	if r.bucket == nil {
		return nil
	}
	shared := map[string]bool{}
	for _, o := range others {
		for _, f := range o.manifest.Files {
			shared[objectOf(f)] = o.id != g.id || shared[objectOf(f)]
		}
	}
	for _, f := range g.manifest.Files {
		objects := []string{objectOf(f)}
		if f.Log != nil {
			objects = append(objects, f.Log.Path)
		}
		for _, object := range objects {
			if shared[object] {
				continue
			}
			if err := r.bucket.Delete(ctx, r.key(org, object)); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
				return fmt.Errorf("removing %s from the bucket: %w", object, err)
			}
		}
	}
	return nil
}

// documentPath is where a document's file is in the organisation's folder.
func documentPath(sum string) string { return filepath.Join("documents", sum[:2], sum) }
