package main

import (
	"context"
	"fmt"
	"net/url"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/s3blob"
)

// openBucket opens what replicas share: file:///folder on a file system of all of them, or s3://name with the parameters of gocloud.dev's
// s3blob (region, endpoint, use_path_style …) and AWS's usual credentials.
func openBucket(ctx context.Context, address string) (*blob.Bucket, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("configuration: governance.bucket: %q is no address", address)
	}
	switch u.Scheme {
	case "file":
		return openFolder(u.Path)
	case s3blob.Scheme:
		opener := new(s3blob.URLOpener)
		bucket, err := opener.OpenBucketURL(ctx, u)
		if err != nil {
			return nil, fmt.Errorf("opening governance.bucket: %w", err)
		}
		return bucket, nil
	}
	return nil, fmt.Errorf("configuration: governance.bucket: %q begins with neither file:// nor s3://", address)
}

// openFolder opens a folder as a bucket, and makes it.
func openFolder(path string) (*blob.Bucket, error) {
	bucket, err := fileblob.OpenBucket(path, &fileblob.Options{CreateDir: true, DirFileMode: 0o700, NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		return nil, fmt.Errorf("opening the folder %s: %w", path, err)
	}
	return bucket, nil
}
