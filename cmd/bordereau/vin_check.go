package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bordereau/tools/vin"
	"bordereau/tools/vin/schedule"
)

// runVINCheck checks a schedule file against its VINs.
func runVINCheck(ctx context.Context, args []string, std stdio) error {
	flags := vinFlags("vin check", std)
	out := flags.set.String("o", "", "`FILE` to write, an .xlsx (default: the schedule's name with -checked.xlsx)")
	asJSON := flags.set.Bool("json", false, "print each row as a JSON object")
	files, err := flags.parse(args)
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return usagef("one schedule file is wanted\n%s", vinUsage)
	}
	target := *out
	if target == "" {
		target = strings.TrimSuffix(files[0], filepath.Ext(files[0])) + "-checked.xlsx"
	}
	if !strings.EqualFold(filepath.Ext(target), ".xlsx") {
		return usagef("-o %s: the checked schedule is an .xlsx file", target)
	}
	if a, err := filepath.Abs(target); err == nil {
		if b, err := filepath.Abs(files[0]); err == nil && a == b {
			return usagef("-o %s would overwrite the schedule itself", target)
		}
	}
	d, err := vin.Open(flags.folder())
	if err != nil {
		return err
	}
	s, err := schedule.Open(files[0], d.KnownMake)
	if err != nil {
		return err
	}
	checked := d.Check(s.VINRows())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := writeWhole(target, func(f *os.File) error {
		return schedule.Write(f, s, checked, schedule.Meta{DataDate: d.DataDate(), At: time.Now()})
	}); err != nil {
		return err
	}
	if *asJSON {
		enc := json.NewEncoder(std.Out)
		for i := range checked {
			if err := enc.Encode(checked[i]); err != nil {
				return err
			}
		}
		return nil
	}
	sum := schedule.Summarise(checked)
	fmt.Fprintf(std.Out, "%s: %s\n", s.File, s.Describe())
	for _, v := range []vin.Verdict{vin.Conflict, vin.Unresolved, vin.Variant, vin.Agrees} {
		fmt.Fprintf(std.Out, "  %-11s %d\n", v, sum.Verdicts[v])
	}
	fmt.Fprintf(std.Out, "  duplicates  %d\n  suspicious  %d\n", sum.Duplicates, sum.Suspicious)
	for i := range checked {
		if c := &checked[i]; c.Worst == vin.Conflict || len(c.Duplicates) > 0 || c.Suspicious {
			fmt.Fprintf(std.Out, "row %s, %s: %s\n", c.Ref, orDash(c.VIN), strings.ReplaceAll(schedule.Findings(c), "\n", "; "))
		}
	}
	_, err = fmt.Fprintf(std.Out, "NHTSA data of %s. Written: %s\n", d.DataDate(), target)
	return err
}

// writeWhole writes a file beside its target and renames it, so that nobody sees half of it.
func writeWhole(target string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(target), ".bordereau-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", target, err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return fmt.Errorf("writing %s: %w", target, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", target, err)
	}
	return os.Rename(f.Name(), target)
}
