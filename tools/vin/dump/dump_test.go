package dump_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bordereau/tools/vin"
	"bordereau/tools/vin/dump"
	"bordereau/tools/vin/vpic"
)

func install(t testing.TB, sql string, target string) (*vpic.DataSet, error) {
	t.Helper()
	name := zipped(t, func(w io.Writer) { io.WriteString(w, sql) })
	return dump.Install{Zip: name, Target: target}.Run(t.Context())
}

func TestImportedListTellsWhatTheEmbeddedOneLacks(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "vin", "vpic.bin")
	set, err := install(t, small(), target)
	if err != nil {
		t.Fatal(err)
	}
	if set.Date != "2026-03-04" || !set.Complete {
		t.Errorf("date %s, complete %v", set.Date, set.Complete)
	}
	read, err := vpic.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	d, err := vin.New(vin.Config{Data: read, Now: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	r := d.Decode("1JJV532D9JL178490", vin.Hint{})
	for name, want := range map[string]string{
		"Make": "WABASH VANS", "Model": "Dry Van", "ModelYear": "2018", "BodyClass": "Trailer", "TrailerLength": "53", "Axles": "2", "TrailerBodyType": "Van",
		"TrailerType": "Straight Semi/Semi Trailer", "PlantCity": "LAFAYETTE", "DriveType": "Not Applicable", "Manufacturer": "WABASH NATIONAL CORPORATION", "ErrorCode": "0",
	} {
		if got := r.Value(name); got != want {
			t.Errorf("%s is %q instead of %q", name, got, want)
		}
	}
	if e, _ := r.Element("TrailerLength"); e.Schema != "Wabash for 1JJ" || e.Key != "*53" || e.Source != vin.SourcePattern {
		t.Errorf("provenance %+v", e)
	}
	// A truck gets its drive type from the model's sheet, and nothing from the schema that NHTSA has yet to check.
	r = d.Decode("1XPXD49XXRD898766", vin.Hint{})
	if r.Value("DriveType") != "6x4" || r.Value("PlantCity") != "DENTON" || r.Value("Axles") != "" || r.Value("DisplacementCC") != "14900.0" || r.Value("TrailerType") != "Not Applicable" {
		t.Errorf("%v", r.Values())
	}
	if e, _ := r.Element("DriveType"); e.Source != vin.SourceSpecs {
		t.Errorf("source %s", e.Source)
	}
	// A wrong check digit that NHTSA excuses is no error.
	r = d.Decode("1XPXD49X0RD898767", vin.Hint{})
	if r.ErrorCode() != "0" && r.ErrorCode() != "0,14" {
		t.Errorf("code %s", r.ErrorCode())
	}
	// A code that isn't public yet is unknown.
	if r = d.Decode("9ZZXD49X0RD898767", vin.Hint{}); !strings.HasPrefix(r.ErrorCode(), "1,7") && r.Codes[0] != 7 {
		t.Errorf("code %s", r.ErrorCode())
	}
}

func TestBrokenListChangesNothing(t *testing.T) {
	t.Parallel()
	beforeCut, _, ok := strings.Cut(small(), "12\t200")
	if !ok {
		t.Fatal("the list has no such row")
	}
	for _, c := range []struct{ name, sql, want string }{
		{"cut off in a table", beforeCut, "ends in the middle"},
		{"cut off between tables", strings.TrimSuffix(small(), "--\n-- PostgreSQL database dump complete\n--\n"), "has no end"},
		{"a word for a number", strings.Replace(small(), "3\t100\t*53\t118", "3\tx00\t*53\t118", 1), "table pattern, row 3, column vinschemaid"},
		{"a bad time", strings.Replace(small(), "2019-05-05 10:11:12.345", "yesterday", 1), "column updatedon"},
		{"too few columns", strings.Replace(small(), "1\t100\tV532D\t28\t10", "1\t100\tV532D\t28", 1), "6 columns instead of 7"},
		{"a table gone", strings.Replace(small(), "COPY vpic.wmi_make", "COPY vpic.wmi_fake", 1), "table wmi_make"},
		{"a column renamed", strings.Replace(small(), "vinschemaid, keys", "schema, keys", 1), "column vinschemaid"},
		{"an unknown formula", strings.Replace(small(), "#x# / 1000.", "sqrt(#x#)", 1), "unknown form"},
		{"no dump at all", "<html>404</html>", "has no"},
		{"empty", "", "has no"},
	} {
		target := filepath.Join(t.TempDir(), "vpic.bin")
		if err := os.WriteFile(target, []byte("as before"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := install(t, c.sql, target)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", c.name, err)
		}
		if b, _ := os.ReadFile(target); string(b) != "as before" {
			t.Errorf("%s: the old data set is gone", c.name)
		}
		left, _ := filepath.Glob(filepath.Join(filepath.Dir(target), ".vpic-*"))
		if len(left) > 0 {
			t.Errorf("%s: %v was left", c.name, left)
		}
	}
}

func TestBadZip(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x.zip")
	if err := os.WriteFile(name, []byte("no zip"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dump.ReadZip(t.Context(), name); err == nil {
		t.Error("a file that is no zip was read")
	}
	var typed *dump.Error
	good := zipped(t, func(w io.Writer) { io.WriteString(w, small()) })
	_, err := dump.Install{Zip: good, Target: filepath.Join(t.TempDir(), "x"), LeastWMIs: 10_000}.Run(t.Context())
	if !errors.As(err, &typed) || typed.Hint == "" {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped")
	cancel(stop)
	if _, err := (dump.Install{Zip: good, Target: filepath.Join(t.TempDir(), "x")}).Run(ctx); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(small())
	f.Add("COPY vpic.pattern (id) FROM stdin;\n1\n\\.\n")
	f.Fuzz(func(t *testing.T, sql string) {
		_, _ = dump.Read(t.Context(), strings.NewReader(sql))
	})
}
