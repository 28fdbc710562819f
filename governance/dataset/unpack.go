package dataset

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"bordereau/governance/fault"
)

// maxEntries bounds the files of an uploaded archive; unpackedTimes bounds what it may unpack to, in multiples of the body's limit.
const (
	maxEntries    = 100_000
	unpackedTimes = 4
)

func badArchive(format string, args ...any) error {
	return &fault.Error{
		Code: fault.Invalid, Component: "import", Message: "the archive is refused: " + fmt.Sprintf(format, args...),
		Hint: "zip import.ndjson and the documents' folder, without anything else",
	}
}

// unpack takes an archive apart into dir and returns where its import.ndjson is. Only plain files with plain names come out.
func unpack(archive, dir string, limit int64) (string, error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return "", badArchive("it can't be read")
	}
	defer z.Close() // only read
	if len(z.File) > maxEntries {
		return "", badArchive("it has more than %d files", maxEntries)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close() // nothing to lose
	left := limit * unpackedTimes
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		if !filepath.IsLocal(f.Name) || strings.ContainsAny(f.Name, "\\\x00") || f.Name != path.Clean(f.Name) {
			return "", badArchive("%.80q is not a plain name", f.Name)
		}
		if !f.Mode().IsRegular() {
			return "", badArchive("%.80q is not a plain file", f.Name)
		}
		n, err := unpackOne(root, f, left)
		if err != nil {
			return "", err
		}
		left -= n
	}
	index := filepath.Join(dir, "import.ndjson")
	if _, err := os.Stat(index); err != nil {
		return "", badArchive("it has no import.ndjson at its top")
	}
	return index, nil
}

func unpackOne(root *os.Root, f *zip.File, left int64) (n int64, err error) {
	in, err := f.Open()
	if err != nil {
		return 0, badArchive("%.80q can't be read", f.Name)
	}
	defer in.Close() // only read
	if err := root.MkdirAll(path.Dir(f.Name), 0o700); err != nil {
		return 0, badArchive("%.80q is a file and a folder", path.Dir(f.Name))
	}
	out, err := root.OpenFile(f.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, badArchive("%.80q is there twice", f.Name)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	n, err = io.Copy(out, io.LimitReader(in, left+1))
	if err != nil {
		return 0, badArchive("%.80q is damaged", f.Name)
	}
	if n > left {
		return 0, &fault.Error{Code: fault.TooLarge, Component: "import", Message: "the archive unpacks to more than is taken"}
	}
	return n, nil
}
