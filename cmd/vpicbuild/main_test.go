package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"bordereau/tools/vin/vpic"
)

func table[T any](t *testing.T, dir, name string, rows ...T) {
	t.Helper()
	if err := parquet.WriteFile(filepath.Join(dir, name+".parquet"), rows); err != nil {
		t.Fatal(err)
	}
}

// folder makes the smallest folder of tables.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	table(t, dir, "make", namedRow{1, "Wabash"})
	table(t, dir, "model", namedRow{10, "Dry Van"})
	table(t, dir, "manufacturer", namedRow{7, "Wabash National"})
	table(t, dir, "make_model", modelMakeRow{Model: 10, Make: 1})
	table(t, dir, "wmi", wmiRow{ID: 3, WMI: "1JJ", Maker: 7, Type: 6, Country: 6, Public: "2015-01-01"})
	table(t, dir, "wmi_make", wmiMakeRow{WMI: 3, Make: 1})
	table(t, dir, "wmi_vinschema", wmiSchemaRow{WMI: 3, Schema: 5, From: 2010}, wmiSchemaRow{WMI: 3, Schema: 6, From: 2010})
	table(t, dir, "vinschema", namedRow{5, "Wabash for 1JJ"})
	table(t, dir, "pattern", patternRow{Schema: 5, Keys: "v532", Element: 28, Value: "10", Changed: 1_771_352_588_860_000}, patternRow{Schema: 6, Keys: "V", Element: 5, Value: "61"})
	for name, text := range map[string]string{
		"element.csv":     "5,\"Body Class\",BodyClass,BodyStyle,\"Exterior / Body\",lookup,0,Pattern,99\n28,Model,Model,Model,General,lookup,0,Pattern,99\n",
		"enginemodel.csv": "28,3306\n", "enginemodelpattern.csv": "28,5,61,\"2016-03-02 16:47:05.727000\",1\n",
		"lookups.json": `{"bodystyle":[["61","Trailer"]],"vehicletype":[["6","Trailer","\\N"]],"errorcode":[["0","0 - clean","\\N","0"]],"defaultvalue":[["1","5","6","0"]],
			"vindescriptor":[["1","YV4BR00K*L1","2020"]],"conversion":[["3","11","13","#x# / 1000."]],"element":[["1"]]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBuildsADataSet(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "vpic.bin")
	var log bytes.Buffer
	if err := run([]string{"-in", folder(t), "-out", out}, &log); err != nil {
		t.Fatal(err)
	}
	d, err := vpic.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if d.Date != "2026-02-17" || d.Complete || d.FindWMI("1JJ") == nil || d.Keys.Text[1] != "V532" || len(d.Schemas) != 2 || d.Schemas[1].Name != "NHTSA schema 6" {
		t.Errorf("date %s, keys %q, schemas %+v", d.Date, d.Keys.Text, d.Schemas)
	}
}

func TestBrokenTablesAreRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(dir string) error{
		"model.parquet": func(dir string) error { return os.Remove(filepath.Join(dir, "model.parquet")) },
		"element.csv":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "element.csv"), []byte("1,x\n"), 0o600) },
		"lookups.json":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "lookups.json"), []byte("{"), 0o600) },
		"enginemodel": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "enginemodel.csv"), []byte("x,y\n"), 0o600)
		},
	} {
		dir := folder(t)
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "vpic.bin")
		if err := run([]string{"-in", dir, "-out", out}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(name, ".csv")) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: a file was written", name)
		}
	}
}

// Where the shared tables are at hand, the embedded file is what they give, byte for byte.
func TestEmbeddedFileIsReproducible(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("BORDEREAU_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	in := filepath.Join(shared, "data", "vpic")
	if _, err := os.Stat(in); err != nil {
		t.Log("the shared tables aren't here: nothing to compare with")
		return
	}
	out := filepath.Join(t.TempDir(), "vpic.bin")
	if err := run([]string{"-in", in, "-out", out}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	built, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	embedded, err := os.ReadFile("../../tools/vin/vpic/vpic.bin")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(built, embedded) {
		t.Errorf("the tables give %d other bytes than the %d embedded ones: run go run ./cmd/vpicbuild", len(built), len(embedded))
	}
}
