package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"bordereau/tools/vin"
	"bordereau/tools/vin/schedule"
)

// Bounds of a schedule's check.
const (
	maxRows  = 5000 // as many as governance decodes at once
	maxFound = 300  // bytes of what is said of one row
)

// checkedSchedule is what a schedule's check prints.
type checkedSchedule struct {
	File     string `json:"file"`
	Sheet    string `json:"sheet,omitempty"`
	Read     string `json:"read"` // which columns were found where
	DataDate string `json:"data_date"`
	schedule.Summary
	Differ   int       `json:"differ"` // rows with something to look at
	Findings []finding `json:"findings"`
	Workbook string    `json:"workbook,omitempty"`
}

// finding is a row that differs from what its VIN says, or stands in doubt.
type finding struct {
	Row   string      `json:"row"` // its number in the file
	Unit  string      `json:"unit,omitempty"`
	VIN   string      `json:"vin"`
	Worst vin.Verdict `json:"worst"`
	Found string      `json:"found"`
}

// checkSchedule reads a schedule, has governance decode its VINs, and shows where they and the schedule differ.
func (c *command) checkSchedule(ctx context.Context, file, out string, limit int) error {
	if out != "" && !strings.EqualFold(filepath.Ext(out), ".xlsx") {
		return usagef("-o takes a name that ends in .xlsx")
	}
	// Makes are told by their heading only: the names of all makes are governance's.
	s, err := schedule.Open(file, func(string) bool { return false })
	if err != nil {
		return unreadable(file, err)
	}
	if len(s.Rows) > maxRows {
		return &fault{
			Code: "too_large", Component: "schedule",
			Message: fmt.Sprintf("%s: %s%d vehicles are more than the %d that are checked at once", filepath.Base(file), onSheet(s), len(s.Rows), maxRows),
			Hint:    "split the schedule, or check it with 'bordereau vin check' outside",
		}
	}
	answer, err := c.client.call(ctx, "decode_vins", map[string]any{"vins": sendable(s.VINRows())})
	if err != nil {
		return err
	}
	var decoded struct {
		DataDate string        `json:"data_date"`
		Results  []vin.Checked `json:"results"`
	}
	if err := json.Unmarshal(answer, &decoded); err != nil || len(decoded.Results) != len(s.Rows) {
		return &fault{Code: "internal", Component: "governance", Message: "the decoded rows can't be read"}
	}
	told := checkedSchedule{
		File: filepath.Base(file), Sheet: s.Sheet, Read: s.Describe(), DataDate: decoded.DataDate, Summary: schedule.Summarise(decoded.Results), Findings: []finding{}, Workbook: out,
	}
	for i := range decoded.Results {
		row := &decoded.Results[i]
		if (row.Worst == vin.Agrees || row.Worst == vin.Variant) && len(row.Duplicates) == 0 && !row.Suspicious {
			continue
		}
		if told.Differ++; limit == 0 || told.Differ <= limit {
			told.Findings = append(told.Findings, finding{
				Row: row.Ref, Unit: s.Cell(s.Rows[i], schedule.ColumnUnit), VIN: row.VIN, Worst: row.Worst,
				Found: brief(strings.NewReplacer(".\n", "; ", "\n", "; ").Replace(schedule.Findings(row)), maxFound),
			})
		}
	}
	if out != "" {
		var book bytes.Buffer
		if err := schedule.Write(&book, s, decoded.Results, schedule.Meta{DataDate: decoded.DataDate, At: time.Now()}); err != nil {
			return err
		}
		if err := writeFile(out, book.Bytes()); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(told)
	if err != nil {
		return err
	}
	return c.print(raw)
}

// unreadable says what is wrong with a file, as a refusal: the file is at fault, not the way to governance.
func unreadable(file string, err error) error {
	var bad *schedule.Error
	if !errors.As(err, &bad) {
		return usagef("%s can't be read: %v", file, err)
	}
	return &fault{Code: "invalid", Component: "schedule", Message: filepath.Base(bad.File) + ": " + bad.Reason, Hint: bad.Hint}
}

func onSheet(s *schedule.Schedule) string {
	if s.Sheet == "" {
		return ""
	}
	return fmt.Sprintf("on sheet %q, ", s.Sheet)
}

// sendable cuts what people write into cells to what governance takes of a vehicle.
func sendable(rows []vin.Row) []vin.Row {
	for i := range rows {
		r := &rows[i]
		r.VIN = brief(r.VIN, 64)
		r.Make, r.Model, r.BodyType = brief(r.Make, 100), brief(r.Model, 100), brief(r.BodyType, 100)
	}
	return rows
}

// brief is the first bytes of a text, whole letters only.
func brief(text string, most int) string {
	text = strings.ToValidUTF8(text, "")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}
