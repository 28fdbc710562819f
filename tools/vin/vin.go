// Package vin decodes vehicle identification numbers by NHTSA's own rules, without a network, and checks vehicle schedules against the decode.
package vin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"bordereau/tools/vin/vpic"
)

// Decoder decodes VINs against one data set. It is safe for concurrent use.
type Decoder struct {
	data *vpic.DataSet
	now  time.Time
	// lastYear is the newest model year that NHTSA's procedure accepts: two years ahead.
	lastYear int
	ids      elementIDs
	chars    charCache
	pool     sync.Pool
	names    *names
	// spellings are further names of models by make and model.
	spellings map[string][]string
	// modelsOf lists the models of a make; it is made when two models differ for the first time.
	modelsOf func() map[int32][]int32
	// conversions remembers converted displacements, at most maxConverted.
	conversions sync.Map
	remembered  atomic.Int64
}

// Config holds what a Decoder needs.
type Config struct {
	// Data is the set of tables to decode against.
	Data *vpic.DataSet
	// Now decides which model years can exist; a VIN's year code repeats every 30 years.
	Now time.Time
}

// New returns a decoder over cfg.Data.
func New(cfg Config) (*Decoder, error) {
	if cfg.Data == nil {
		return nil, errors.New("vin: a decoder needs a data set")
	}
	if cfg.Now.IsZero() {
		return nil, errors.New("vin: a decoder needs the time, since year codes repeat every 30 years")
	}
	d := &Decoder{data: cfg.Data, now: cfg.Now, lastYear: cfg.Now.Year() + 2}
	d.ids = newElementIDs(cfg.Data)
	d.chars = newCharCache(len(cfg.Data.WMIs))
	d.names = newNames(cfg.Data)
	d.spellings = modelNames()
	d.modelsOf = sync.OnceValue(func() map[int32][]int32 { return modelsByMake(cfg.Data) })
	return d, nil
}

// Load returns a decoder over the data set embedded in the program.
func Load() (*Decoder, error) {
	data, err := vpic.Embedded()
	if err != nil {
		return nil, err
	}
	return New(Config{Data: data, Now: time.Now()})
}

// LoadFile returns a decoder over a data set file as the importer writes it.
func LoadFile(path string) (*Decoder, error) {
	data, err := vpic.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return New(Config{Data: data, Now: time.Now()})
}

// DataDate is the date of the NHTSA snapshot behind every answer, such as 2026-02-06.
func (d *Decoder) DataDate() string { return d.data.Date }

// Hint is what a document says about the vehicle beside its VIN.
type Hint struct {
	// Year is the stated model year; 0 means none. It settles which of two candidate years is meant.
	// A year that the VIN can't have is decoded as asked, with code 12, as NHTSA does.
	Year int `json:"year,omitempty"`
}

// ImportedFile is where an imported data set stands below a data folder.
const ImportedFile = "vin/vpic.bin"

// Open returns a decoder over the data set imported into a data folder, or over the embedded one if none was imported or folder is "".
func Open(folder string) (*Decoder, error) {
	if folder == "" {
		return Load()
	}
	file := filepath.Join(folder, filepath.FromSlash(ImportedFile))
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return Load()
	}
	return LoadFile(file)
}

// Origin says where the data came from, such as "NHTSA vPIC".
func (d *Decoder) Origin() string { return d.data.Origin }

// KnownMake is true if NHTSA or a usual abbreviation names this make.
func (d *Decoder) KnownMake(s string) bool {
	plain := plainMake(s)
	if plain == "" || len(plain) < 2 {
		return false
	}
	_, short := d.names.makes[plain]
	return short || d.names.known()[plain]
}
