package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"bordereau/tools/vin"
)

const vinUsage = `Usage:
  bordereau vin [--json] [--year YEAR] [--online] VIN…   decode VINs; without any, one a line from standard input
  bordereau vin check FILE [-o FILE] [--json]            check a vehicle schedule (.xlsx or .csv) against its VINs
  bordereau vin import FILE                              take NHTSA's vPICList_lite_YYYY_MM.plain.zip as the data
`

// runVIN decodes VINs, checks schedules and imports NHTSA's list.
func runVIN(ctx context.Context, args []string, std stdio) error {
	if len(args) > 0 {
		switch args[0] {
		case "check":
			return runVINCheck(ctx, args[1:], std)
		case "import":
			return runVINImport(ctx, args[1:], std)
		}
	}
	flags := vinFlags("vin", std)
	asJSON := flags.set.Bool("json", false, "one JSON object a VIN, with NHTSA's names")
	year := flags.set.Int("year", 0, "stated model `YEAR`, which settles between the years that a VIN can have")
	online := flags.set.Bool("online", false, "ask NHTSA's service for what the data here lacks; a VIN and its year leave this machine")
	vins, err := flags.parse(args)
	if err != nil {
		return err
	}
	d, err := vin.Open(flags.folder())
	if err != nil {
		return err
	}
	if len(vins) == 0 {
		if vins, err = linesOf(std.In); err != nil {
			return err
		}
	}
	if len(vins) == 0 {
		return usagef("no VIN is given\n%s", vinUsage)
	}
	results := make([]*vin.Result, len(vins))
	for i, v := range vins {
		r := d.Decode(v, vin.Hint{Year: *year})
		results[i] = &r
	}
	if *online {
		if err := enrich(ctx, flags.folder(), results, std); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(std.Out)
	for _, r := range results {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if *asJSON {
			err = json.NewEncoder(out).Encode(r)
		} else {
			err = printVIN(out, r)
		}
		if err != nil {
			return err
		}
	}
	return out.Flush()
}

// vinFlagSet are the flags that all VIN commands have.
type vinFlagSet struct {
	set  *flag.FlagSet
	data *string
}

func vinFlags(name string, std stdio) vinFlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(std.Err)
	set.Usage = func() {
		fmt.Fprint(std.Err, vinUsage)
		set.PrintDefaults()
	}
	return vinFlagSet{set, set.String("data", std.Env("BORDEREAU_DATA"), "data `FOLDER` (default "+defaults().Data+")")}
}

// parse reads flags that stand before, between or after the other arguments, and returns those.
func (f vinFlagSet) parse(args []string) ([]string, error) {
	var rest []string
	for {
		if err := f.set.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, usageError{}
			}
			return nil, usagef("%v", err)
		}
		args = f.set.Args()
		if len(args) == 0 {
			return rest, nil
		}
		rest, args = append(rest, args[0]), args[1:]
	}
}

func (f vinFlagSet) folder() string {
	if *f.data != "" {
		return *f.data
	}
	return defaults().Data
}

func linesOf(in io.Reader) ([]string, error) {
	if in == nil {
		return nil, nil
	}
	var out []string
	s := bufio.NewScanner(in)
	for s.Scan() {
		if line := strings.TrimSpace(s.Text()); line != "" {
			out = append(out, line)
		}
	}
	return out, s.Err()
}

// printVIN writes a decode for a person.
func printVIN(w io.Writer, r *vin.Result) error {
	fmt.Fprintf(w, "%s\n", orDash(r.VIN))
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-16s %s\n", name, value)
		}
	}
	year := ""
	if r.Year() != 0 {
		year = fmt.Sprint(r.Year())
		for _, c := range r.Candidates {
			if !c.Chosen {
				year += fmt.Sprintf(" (or %d)", c.Year)
			}
		}
	}
	line("Year", year)
	for _, name := range []string{
		"Make", "Model", "Series", "Trim", "VehicleType", "BodyClass", "TrailerBodyType", "TrailerType", "TrailerLength", "Axles", "DriveType", "GVWR",
		"EngineModel", "EngineManufacturer", "FuelTypePrimary", "BrakeSystemType", "Manufacturer", "PlantCity", "PlantCountry",
	} {
		if v := r.Value(name); v != "Not Applicable" {
			line(name, v)
		}
	}
	line("SuggestedVIN", r.SuggestedVIN)
	for text := range strings.SplitSeq(r.ErrorText(), "; ") {
		line("Code", text)
	}
	for _, n := range r.Notes {
		line("Note", n)
	}
	_, err := fmt.Fprintf(w, "  %-16s NHTSA vPIC of %s\n", "Data", r.DataDate)
	return err
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
