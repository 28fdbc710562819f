package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"bordereau/tools/vin"
	"bordereau/tools/vin/dump"
)

// leastWMIs is fewer than any list of NHTSA's has had in years: a smaller one is not the whole list.
const leastWMIs = 8_000

// runVINImport takes NHTSA's monthly list as the data that VINs are decoded with.
func runVINImport(ctx context.Context, args []string, std stdio) error {
	flags := vinFlags("vin import", std)
	files, err := flags.parse(args)
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return usagef("one file is wanted: NHTSA's vPICList_lite_YYYY_MM.plain.zip\n%s", vinUsage)
	}
	// The list is larger than the memory that an import may take.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(dump.MemoryLimit))
	target := filepath.Join(flags.folder(), filepath.FromSlash(vin.ImportedFile))
	set, err := dump.Install{Zip: files[0], Target: target, LeastWMIs: leastWMIs}.Run(ctx)
	if err != nil {
		return fmt.Errorf("the list was not taken, the data is as before: %w", err)
	}
	_, err = fmt.Fprintf(std.Out, "VINs are decoded with NHTSA's list of %s from now on: %d manufacturers' codes, %d schemas, %d patterns. A running server takes it at its next start.\n",
		set.Date, len(set.WMIs), len(set.Schemas), len(set.Rows.Element))
	return err
}
