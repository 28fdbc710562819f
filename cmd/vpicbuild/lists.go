package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bordereau/tools/vin/vpic"
)

// null is how the tables' dump spells a missing value.
const null = `\N`

// csvRows reads a CSV file without a header, each row with at least that many columns.
func (r *reader) csvRows(name string, columns int, each func(row []string) error) error {
	f, err := os.Open(filepath.Join(r.dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	in := csv.NewReader(f)
	in.FieldsPerRecord = -1
	rows, err := in.ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for i, row := range rows {
		if len(row) < columns {
			return fmt.Errorf("%s, row %d: %d columns instead of %d", name, i+1, len(row), columns)
		}
		if err := each(row); err != nil {
			return fmt.Errorf("%s, row %d: %w", name, i+1, err)
		}
	}
	return nil
}

// numbers reads the numbers in some columns of a row.
func numbers(row []string, columns ...int) ([]int32, error) {
	out := make([]int32, len(columns))
	for i, c := range columns {
		n, err := strconv.ParseInt(strings.TrimSpace(row[c]), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", c+1, err)
		}
		out[i] = int32(n)
	}
	return out, nil
}

func (r *reader) elements() error {
	return r.csvRows("element.csv", 9, func(row []string) error {
		n, err := numbers(row, 0, 6, 8)
		if err != nil {
			return err
		}
		r.t.Elements = append(r.t.Elements, vpic.ElementRow{
			ID: n[0], Name: row[1], Code: row[2], Lookup: strings.ToLower(row[3]), Group: row[4],
			Type: row[5], Private: n[1] != 0, Decode: row[7], Weight: n[2],
		})
		return nil
	})
}

func (r *reader) engines() error {
	if err := r.csvRows("enginemodel.csv", 2, func(row []string) error {
		n, err := numbers(row, 0)
		if err != nil {
			return err
		}
		r.t.Engines = append(r.t.Engines, vpic.Name{ID: n[0], Text: row[1]})
		return nil
	}); err != nil {
		return err
	}
	return r.csvRows("enginemodelpattern.csv", 4, func(row []string) error {
		n, err := numbers(row, 0, 1)
		if err != nil {
			return err
		}
		at, err := time.Parse(time.DateTime, row[3])
		if err != nil {
			return err
		}
		r.t.EngineFacts = append(r.t.EngineFacts, vpic.EngineFactRow{Engine: n[0], Element: n[1], Value: row[2], Changed: at.UnixMicro()})
		return nil
	})
}

// lookups reads lookups.json: all look-up tables, and the small tables of rules.
func (r *reader) lookups() error {
	b, err := os.ReadFile(filepath.Join(r.dir, "lookups.json"))
	if err != nil {
		return err
	}
	var tables map[string][][]string
	if err := json.Unmarshal(b, &tables); err != nil {
		return fmt.Errorf("lookups.json: %w", err)
	}
	for name, rows := range tables {
		for i, row := range rows {
			if err := r.lookup(name, row); err != nil {
				return fmt.Errorf("lookups.json, %s, row %d: %w", name, i+1, err)
			}
		}
	}
	return nil
}

func (r *reader) lookup(table string, row []string) error {
	for i := range row {
		if row[i] == null {
			row[i] = ""
		}
	}
	switch table {
	case "element", "enginemodel", "defs_body", "defs_make":
		return nil // element.csv and enginemodel.csv hold them; the defs are for crash statistics
	case "conversion":
		n, err := numbers(row, 0, 1, 2)
		if err != nil {
			return err
		}
		r.t.Conversions = append(r.t.Conversions, vpic.ConversionRow{ID: n[0], From: n[1], To: n[2], Formula: row[3]})
	case "defaultvalue":
		n, err := numbers(row, 1, 2)
		if err != nil {
			return err
		}
		r.t.Defaults = append(r.t.Defaults, vpic.DefaultRow{Element: n[0], Type: n[1], Value: row[3]})
	case "errorcode":
		n, err := numbers(row, 0, 3)
		if err != nil {
			return err
		}
		r.t.ErrorCodes = append(r.t.ErrorCodes, vpic.ErrorCodeRow{ID: n[0], Text: row[1], Additional: row[2], Weight: n[1]})
	case "vindescriptor":
		n, err := numbers(row, 2)
		if err != nil {
			return err
		}
		r.t.Descriptors = append(r.t.Descriptors, vpic.DescriptorRow{Descriptor: strings.ToUpper(row[1]), Year: n[0]})
	default:
		n, err := numbers(row, 0)
		if err != nil {
			return err
		}
		r.t.Lookups[table] = append(r.t.Lookups[table], vpic.Name{ID: n[0], Text: strings.TrimSpace(row[1])})
	}
	return nil
}
