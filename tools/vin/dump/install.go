package dump

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"bordereau/tools/vin/vpic"
)

// Install describes one import.
type Install struct {
	// Zip is NHTSA's file.
	Zip string
	// Target is the data set file to replace. Its folder is made if it isn't there.
	Target string
	// LeastWMIs is how many manufacturers' codes a real list has at least; 0 accepts any.
	LeastWMIs int
}

// Run imports the list. The target is replaced at the very end, by a file that was written, read back and compared: whole or not at all.
func (i Install) Run(ctx context.Context) (*vpic.DataSet, error) {
	if i.Zip == "" || i.Target == "" {
		return nil, errors.New("dump: an import needs a zip and a target")
	}
	tables, err := ReadZip(ctx, i.Zip)
	if err != nil {
		return nil, err
	}
	if len(tables.WMIs) < i.LeastWMIs {
		return nil, &Error{Table: "wmi", Reason: fmt.Sprintf("only %d manufacturers' codes; NHTSA's list has more than %d", len(tables.WMIs), i.LeastWMIs), Hint: downloadHint}
	}
	if err := os.MkdirAll(filepath.Dir(i.Target), 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of the VIN data set: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(i.Target), ".vpic-*")
	if err != nil {
		return nil, fmt.Errorf("writing the VIN data set: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	patterns := len(tables.Patterns)
	if err := vpic.Write(f, tables); err != nil {
		return nil, err
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return nil, fmt.Errorf("writing the VIN data set: %w", err)
	}
	set, err := vpic.ReadFile(f.Name())
	if err != nil {
		return nil, fmt.Errorf("reading back the imported VIN data set: %w", err)
	}
	if len(set.Rows.Element) == 0 {
		return nil, &Error{Table: "pattern", Reason: fmt.Sprintf("none of the %d patterns can be used", patterns)}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := os.Rename(f.Name(), i.Target); err != nil {
		return nil, fmt.Errorf("switching to the imported VIN data set: %w", err)
	}
	return set, syncFolder(filepath.Dir(i.Target))
}

// syncFolder makes a rename survive a loss of power.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// MemoryLimit is the soft limit for debug.SetMemoryLimit under which a program imports NHTSA's list within 200 MB: it makes the collector work
// harder rather than let garbage pile up.
const MemoryLimit = 160 << 20
