package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Format names how the records of a file are written.
type Format string

// The formats that an import reads.
const (
	NDJSON  Format = "ndjson"
	CSV     Format = "csv"
	Parquet Format = "parquet"
	XLSX    Format = "xlsx"
)

// Source is what one import takes in: all of its files together, or none.
type Source struct {
	Files []File
}

// File is one file of an import.
type File struct {
	Path      string // where it is
	Name      string // how messages call it
	Format    Format
	Documents string // the folder that the documents' paths are relative to, "" refuses documents with files
}

// SourceOf makes a source of files, and of folders that hold import.ndjson and the documents it names.
func SourceOf(paths ...string) (Source, error) {
	var src Source
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return Source{}, fmt.Errorf("import source: %w", err)
		}
		if info.IsDir() {
			p = filepath.Join(p, "import.ndjson")
		}
		format, err := FormatOf(p)
		if err != nil {
			return Source{}, err
		}
		src.Files = append(src.Files, File{Path: p, Name: p, Format: format, Documents: filepath.Dir(p)})
	}
	return src, nil
}

// FormatOf tells a file's format by the end of its name.
func FormatOf(name string) (Format, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".ndjson", ".jsonl", ".json":
		return NDJSON, nil
	case ".csv":
		return CSV, nil
	case ".parquet":
		return Parquet, nil
	case ".xlsx":
		return XLSX, nil
	}
	return "", fmt.Errorf("%s: name must end with .ndjson, .csv, .parquet or .xlsx", name)
}
