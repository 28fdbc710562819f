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

// step reads one section.
type step struct {
	name string
	read func(*reader)
}

// parse reads the sections, those that don't refer to each other side by side.
func parse(all []byte) (*DataSet, error) {
	sections, err := split(all)
	if err != nil {
		return nil, err
	}
	d := &DataSet{}
	run := func(steps ...step) error {
		for _, s := range steps {
			b, ok := sections[s.name]
			if !ok {
				return &FormatError{Section: s.name, Problem: "it is missing"}
			}
			r := newReader(s.name, b)
			s.read(r)
			if r.err != nil {
				return r.err
			}
		}
		return nil
	}
	keys := make(chan error, 1)
	go func() {
		keys <- run(step{"keys", d.readKeys}, step{"schemas", d.readSchemas}, step{"groups", d.readGroups})
	}()
	err = run(step{"about", d.readAbout}, step{"elements", d.readElements}, step{"lookups", d.readLookups}, step{"makes", d.readMakes},
		step{"makers", d.readMakers}, step{"models", d.readModels}, step{"values", d.readValues}, step{"wmis", d.readWMIs}, step{"links", d.readLinks},
		step{"rules", d.readRules}, step{"engines", d.readEngines}, step{"specs", d.readSpecs})
	if err := errors.Join(<-keys, err); err != nil {
		return nil, err
	}
	for _, l := range d.Links {
		if int(l.Schema) >= len(d.Schemas) {
			return nil, &FormatError{Section: "links", Problem: "a manufacturer refers to a schema that isn't there"}
		}
	}
	if err := run(step{"rows", d.readRows}, step{"ranks", d.readRanks}); err != nil {
		return nil, err
	}
	return d, nil
}

// split finds the sections by name.
func split(all []byte) (map[string][]byte, error) {
	top := newReader("head", all)
	sections := map[string][]byte{}
	for top.p < len(top.b) && top.err == nil {
		name := top.own()
		n := top.uint()
		if n > len(top.b)-top.p {
			top.fail("it is cut off")
			break
		}
		sections[name] = top.b[top.p : top.p+n]
		top.p += n
	}
	return sections, top.err
}
