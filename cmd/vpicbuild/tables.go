package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"bordereau/tools/vin/vpic"
)

// readTables reads a folder of NHTSA's tables.
func readTables(dir string) (*vpic.Tables, error) {
	t := &vpic.Tables{Lookups: map[string][]vpic.Name{}, Origin: "NHTSA vPIC, selection of elements"}
	r := &reader{dir: dir, t: t}
	for _, step := range []func() error{
		r.elements, r.lookups, r.engines, r.named("make", &t.Makes), r.named("model", &t.Models), r.named("manufacturer", &t.Makers),
		r.wmis, r.pairs, r.schemas, r.patterns,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	r.unnamed()
	t.Date = time.UnixMicro(r.newest).UTC().Format(time.DateOnly)
	return t, nil
}

type reader struct {
	dir    string
	t      *vpic.Tables
	newest int64
}

// rowsOf streams a Parquet file.
func rowsOf[T any](dir, name string, each func(*T) error) error {
	f, err := os.Open(filepath.Join(dir, name+".parquet"))
	if err != nil {
		return err
	}
	defer f.Close()
	r := parquet.NewGenericReader[T](f)
	defer r.Close()
	buf := make([]T, 1024)
	for {
		n, err := r.Read(buf)
		for i := range buf[:n] {
			if err := each(&buf[i]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		clear(buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

type namedRow struct {
	ID   int32  `parquet:"id,optional"`
	Name string `parquet:"name,optional"`
}

func (r *reader) named(table string, list *[]vpic.Name) func() error {
	return func() error {
		return rowsOf(r.dir, table, func(n *namedRow) error {
			*list = append(*list, vpic.Name{ID: n.ID, Text: strings.TrimSpace(n.Name)})
			return nil
		})
	}
}

type wmiRow struct {
	ID      int32  `parquet:"id,optional"`
	WMI     string `parquet:"wmi,optional"`
	Maker   int32  `parquet:"mfr,optional"`
	Type    int32  `parquet:"vtype,optional"`
	Truck   int32  `parquet:"ttype,optional"`
	Country int32  `parquet:"country,optional"`
	Public  string `parquet:"pub,optional"`
}

func (r *reader) wmis() error {
	return rowsOf(r.dir, "wmi", func(w *wmiRow) error {
		row := vpic.WMIRow{ID: w.ID, Code: strings.ToUpper(strings.TrimSpace(w.WMI)), Maker: w.Maker, Type: w.Type, TruckType: w.Truck, Country: w.Country}
		if w.Public != "" {
			day, err := time.Parse(time.DateOnly, w.Public)
			if err != nil {
				return fmt.Errorf("manufacturer's code %s: %w", w.WMI, err)
			}
			row.HasPublic, row.PublicSince = true, int32(day.Unix()/86400)
		}
		r.t.WMIs = append(r.t.WMIs, row)
		return nil
	})
}

type wmiMakeRow struct {
	WMI  int32 `parquet:"wmi,optional"`
	Make int32 `parquet:"make,optional"`
}

type wmiSchemaRow struct {
	WMI    int32 `parquet:"wmi,optional"`
	Schema int32 `parquet:"schema,optional"`
	From   int32 `parquet:"yf,optional"`
	To     int32 `parquet:"yt,optional"`
}

type modelMakeRow struct {
	Model int32 `parquet:"model,optional"`
	Make  int32 `parquet:"make,optional"`
}

func (r *reader) pairs() error {
	if err := rowsOf(r.dir, "wmi_make", func(m *wmiMakeRow) error {
		r.t.WMIMakes = append(r.t.WMIMakes, vpic.Pair{A: m.WMI, B: m.Make})
		return nil
	}); err != nil {
		return err
	}
	if err := rowsOf(r.dir, "make_model", func(m *modelMakeRow) error {
		r.t.ModelMakes = append(r.t.ModelMakes, vpic.Pair{A: m.Model, B: m.Make})
		return nil
	}); err != nil {
		return err
	}
	return rowsOf(r.dir, "wmi_vinschema", func(l *wmiSchemaRow) error {
		r.t.WMISchemas = append(r.t.WMISchemas, vpic.WMISchemaRow{WMI: l.WMI, Schema: l.Schema, From: l.From, To: l.To})
		return nil
	})
}

func (r *reader) schemas() error {
	return rowsOf(r.dir, "vinschema", func(s *namedRow) error {
		r.t.Schemas = append(r.t.Schemas, vpic.SchemaRow{ID: s.ID, Name: s.Name})
		return nil
	})
}

// unnamed adds the schemas that manufacturers and patterns refer to but whose row the selection lacks: their patterns are sound.
func (r *reader) unnamed() {
	known := map[int32]bool{}
	for _, s := range r.t.Schemas {
		known[s.ID] = true
	}
	for _, l := range r.t.WMISchemas {
		if !known[l.Schema] {
			known[l.Schema] = true
			r.t.Schemas = append(r.t.Schemas, vpic.SchemaRow{ID: l.Schema, Name: fmt.Sprintf("NHTSA schema %d", l.Schema)})
		}
	}
}

type patternRow struct {
	Schema  int32  `parquet:"schema,optional"`
	Keys    string `parquet:"keys,optional"`
	Element int32  `parquet:"el,optional"`
	Value   string `parquet:"attr,optional"`
	Changed int64  `parquet:"ts,optional"`
}

func (r *reader) patterns() error {
	return rowsOf(r.dir, "pattern", func(p *patternRow) error {
		r.newest = max(r.newest, p.Changed)
		r.t.Patterns = append(r.t.Patterns, vpic.PatternRow{
			Schema: p.Schema, Element: p.Element,
			Key: r.t.Keys.Index(strings.ToUpper(p.Keys)), Value: r.t.Values.Index(p.Value), Changed: p.Changed,
		})
		return nil
	})
}
