package vpic

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

//go:embed vpic.bin
var embedded []byte

// maxUnpacked bounds what a data set may unpack to; NHTSA's whole list is about 25 MB.
const maxUnpacked = 192 << 20

// Embedded reads the data set in the program.
func Embedded() (*DataSet, error) { return Read(embedded) }

// EmbeddedBytes is the size of the data set in the program.
func EmbeddedBytes() int { return len(embedded) }

// ReadFile reads a data set file.
func ReadFile(path string) (*DataSet, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the VIN data set: %w", err)
	}
	return Read(b)
}

// Read unpacks a data set.
func Read(file []byte) (*DataSet, error) {
	packed, ok := bytes.CutPrefix(file, []byte(magic))
	if !ok {
		return nil, &FormatError{Section: "head", Problem: "this is no data set of this version"}
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxUnpacked), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	all, err := dec.DecodeAll(packed, nil)
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, &FormatError{Section: "head", Problem: "the file is cut off"}
		}
		return nil, &FormatError{Section: "head", Problem: err.Error()}
	}
	return parse(all)
}

// parse reads the sections in order; later ones refer to earlier ones.
func parse(all []byte) (*DataSet, error) {
	d := &DataSet{}
	sections := map[string]func(*reader){
		"about": d.readAbout, "elements": d.readElements, "lookups": d.readLookups, "makes": d.readMakes, "makers": d.readMakers,
		"models": d.readModels, "wmis": d.readWMIs, "links": d.readLinks, "schemas": d.readSchemas, "keys": d.readKeys, "values": d.readValues,
		"groups": d.readGroups, "rows": d.readRows, "ranks": d.readRanks, "rules": d.readRules, "engines": d.readEngines, "specs": d.readSpecs,
	}
	top := newReader("head", all)
	seen := 0
	for top.p < len(top.b) && top.err == nil {
		name := top.own()
		n := top.uint()
		if n > len(top.b)-top.p {
			top.fail("it is cut off")
			break
		}
		read, ok := sections[name]
		if !ok {
			top.fail(fmt.Sprintf("unknown section %q", name))
			break
		}
		r := newReader(name, top.b[top.p:top.p+n])
		read(r)
		if r.err != nil {
			return nil, r.err
		}
		top.p += n
		seen++
	}
	if top.err == nil && seen != len(sections) {
		top.fail("sections are missing")
	}
	if top.err != nil {
		return nil, top.err
	}
	return d, nil
}
