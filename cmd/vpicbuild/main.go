// Command vpicbuild makes the compact data set that the program embeds from a folder of NHTSA's tables in Parquet, CSV and JSON.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"

	"bordereau/tools/vin/vpic"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "vpicbuild:", err)
		os.Exit(1)
	}
}

func run(args []string, log io.Writer) error {
	flags := flag.NewFlagSet("vpicbuild", flag.ContinueOnError)
	flags.SetOutput(log)
	in := flags.String("in", "../shared/data/vpic", "folder with wmi.parquet, pattern.parquet, element.csv, lookups.json, …")
	out := flags.String("out", "tools/vin/vpic/vpic.bin", "file to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	tables, err := readTables(*in)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := vpic.Write(&file, tables); err != nil {
		return err
	}
	set, err := vpic.Read(file.Bytes())
	if err != nil {
		return fmt.Errorf("reading back what was written: %w", err)
	}
	if err := os.WriteFile(*out, file.Bytes(), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(log, "%s: %d bytes, data of %s, %d manufacturers' codes, %d schemas, %d keys, %d rows\n",
		*out, file.Len(), set.Date, len(set.WMIs), len(set.Schemas), len(set.Keys.Text), len(set.Rows.Element))
	return nil
}
