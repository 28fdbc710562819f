package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// vinCommand runs a VIN command and returns what it wrote.
func vinCommand(t *testing.T, in string, env map[string]string, args ...string) (out, errs string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if env == nil {
		env = map[string]string{}
	}
	if env["BORDEREAU_DATA"] == "" {
		env["BORDEREAU_DATA"] = t.TempDir()
	}
	err = runVIN(t.Context(), args, stdio{In: strings.NewReader(in), Out: &stdout, Err: &stderr, Env: func(k string) string { return env[k] }})
	return stdout.String(), stderr.String(), err
}

func TestVINCommandDecodes(t *testing.T) {
	t.Parallel()
	out, _, err := vinCommand(t, "", nil, "1XPXD49XXRD898766", "--year", "2024")
	if err != nil || !strings.Contains(out, "PETERBILT") || !strings.Contains(out, "2024 (or 1994)") || !strings.Contains(out, "NHTSA vPIC of 2026-02-17") {
		t.Errorf("%s, %v", out, err)
	}
	// JSON, one object a VIN, also from standard input, whatever is in it.
	out, _, err = vinCommand(t, "1JJV532D9JL178490\n\n<html>\n", nil, "--json")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d objects", len(lines))
	}
	for i, want := range []string{"WABASH VANS", ""} {
		var m map[string]any
		if err := json.Unmarshal([]byte(lines[i]), &m); err != nil || m["Make"] != want || m["ErrorCode"] == "" {
			t.Errorf("object %d: %v, %v", i, m["Make"], err)
		}
	}
	var usage interface{ ExitCode() int }
	for _, args := range [][]string{{}, {"--year", "x", "V"}, {"--nonsense"}, {"check"}, {"import"}, {"check", "a.csv", "-o", "b.txt"}} {
		if _, _, err := vinCommand(t, "", nil, args...); !errors.As(err, &usage) || usage.ExitCode() != 2 {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestVINCheckCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "fleet.csv")
	if err := os.WriteFile(file, []byte("Unit,Year,Make,Model,VIN\n1,2024,Peterbilt,389,1XPXD49XXRD898766\n2,2019,Kenworth,T680,1JJV532D9JL178490\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, err := vinCommand(t, "", nil, "check", file, "-o", filepath.Join(dir, "out.xlsx"))
	if err != nil || !strings.Contains(out, "conflict    1") || !strings.Contains(out, "row 3") {
		t.Fatalf("%s, %v", out, err)
	}
	book, err := excelize.OpenFile(filepath.Join(dir, "out.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	if rows, err := book.GetRows("Schedule"); err != nil || len(rows) != 3 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if out, _, err = vinCommand(t, "", nil, "check", "--json", file); err != nil || strings.Count(out, "\n") != 2 || !strings.Contains(out, `"worst":"conflict"`) {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "fleet-checked.xlsx")); err != nil {
		t.Error(err)
	}
	if _, _, err := vinCommand(t, "", nil, "check", filepath.Join(dir, "none.csv")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestVINImportCommandChangesNothingOnFailure(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "vPICList_lite_2026_06.plain.zip")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	w, err := z.Create("vPICList_lite_2026_06.sql")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(w, "COPY vpic.make (id, name) FROM stdin;\n1\tA\n")
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"BORDEREAU_DATA": data}
	if _, _, err := vinCommand(t, "", env, "import", file); err == nil || !strings.Contains(err.Error(), "the data is as before") {
		t.Errorf("error %v", err)
	}
	if out, _, err := vinCommand(t, "", env, "1XPXD49XXRD898766"); err != nil || !strings.Contains(out, "PETERBILT") {
		t.Errorf("%s, %v", out, err)
	}
}

func TestVINOnline(t *testing.T) {
	t.Parallel()
	dead := false
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if dead {
			io.WriteString(w, "<html>down</html>")
			return
		}
		fmt.Fprint(w, `{"Count":1,"Results":[{"VIN":"1JJV532D9JL178490","ModelYear":"2018","Make":"WABASH VANS","TrailerLength":"53"}]}`)
	}))
	defer service.Close()
	env := map[string]string{"BORDEREAU_VPIC_URL": service.URL + "/"}
	out, errs, err := vinCommand(t, "", env, "--online", "1JJV532D9JL178490")
	if err != nil || errs != "" || !strings.Contains(out, "TrailerLength    53") {
		t.Errorf("%s, %s, %v", out, errs, err)
	}
	dead = true
	out, errs, err = vinCommand(t, "", map[string]string{"BORDEREAU_VPIC_URL": service.URL + "/"}, "--online", "1JJV532D9JL178490")
	if err != nil || !strings.Contains(errs, "shape") || !strings.Contains(out, "WABASH VANS") {
		t.Errorf("a service that speaks HTML: %s, %s, %v", out, errs, err)
	}
}
