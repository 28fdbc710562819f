package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/xuri/excelize/v2"

	"bordereau/agent/identity"
	"bordereau/agent/journal"
	"bordereau/agent/model/modelserver"
)

// office is a server with sandboxes of this host: the playbook answers, or a model that plays a script.
type office struct {
	url, key, data string
	script         *modelserver.Server
}

func openOffice(t *testing.T) *office {
	t.Helper()
	bin, dir := programs(t), t.TempDir()
	o := &office{data: filepath.Join(dir, "data"), script: modelserver.New(modelserver.Script{})}
	model := httptest.NewServer(o.script)
	t.Cleanup(model.Close)
	settings := filepath.Join(dir, "bordereau.yaml")
	text := fmt.Sprintf(`
data: %s
listen: 127.0.0.1:0
governance: {listen: "127.0.0.1:0"}
models: {default: playbook, openai: {model: scripted, base_url: "%s/v1"}}
sandbox: {driver: auto, runsc: %s, guest: %s, gov: %s, memory_mib: 1024, disk_mib: 512, warm: {min: 0, max: 0}}
`, o.data, model.URL, filepath.Join(bin, "runsc"), filepath.Join(bin, "guest"), filepath.Join(bin, "gov"))
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := loadConfig(flag.NewFlagSet("test", flag.ContinueOnError), []string{"--config", settings}, stdio{Err: t.Output(), Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := start(t.Context(), c, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.stop()
		if err := clearSandboxes(context.WithoutCancel(t.Context()), c, log); err != nil {
			t.Error(err)
		}
	})
	o.url = s.url
	err = withDirectory(t.Context(), c, func(d *identity.Directory) error {
		person, err := enlist(t.Context(), d, identity.Person{Org: "acme", Email: "mary@acme.example"})
		if err == nil {
			_, o.key, err = d.IssueKey(t.Context(), "acme", person.ID, "test", time.Time{}, identity.AllScopes()...)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// ask sends files and a question in a conversation of their own, and returns the answer and the folder of what was delivered.
func (o *office) ask(t *testing.T, model, question string, files ...string) (answer, folder string) {
	t.Helper()
	client, err := newAskClient(askClientConfig{URL: o.url, Key: o.key, HTTP: &http.Client{}})
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	var said bytes.Buffer
	r, err := ask(t.Context(), client, askQuestion{Text: question, Conversation: uuid.NewString(), Model: model, Files: files, Out: folder}, newAskPrinter(io.Discard, &said, time.Now))
	if err != nil || r.Outcome.Status != journal.Completed {
		t.Fatalf("%v: %+v\n%s", err, r.Outcome, said.String())
	}
	return r.Text, folder
}

// TestAttachedSchedules attaches schedules as people make them to a question. What is wrong with one is said, and the others are checked.
func TestAttachedSchedules(t *testing.T) {
	t.Parallel()
	o, dir := openOffice(t), t.TempDir()
	var files []string
	keep := func(name string, write func(file string) error) {
		files = append(files, filepath.Join(dir, name))
		if err := write(files[len(files)-1]); err != nil {
			t.Fatal(err)
		}
	}
	keep("Smith, John's fleet.xlsx", func(file string) error { return writeFleet(file, "") })
	keep("locked.xlsx", func(file string) error { return writeFleet(file, "secret") })
	keep("broken.xlsx", func(file string) error { // an archive, but no workbook; one that is damaged isn't taken at all
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create("xl/sheet.xml")
		if err == nil {
			_, err = w.Write([]byte("<sheet"))
		}
		if err = errors.Join(err, z.Close()); err != nil {
			return err
		}
		return os.WriteFile(file, b.Bytes(), 0o600)
	})
	keep("long.csv", func(file string) error {
		return os.WriteFile(file, []byte("VIN,Year\n"+strings.Repeat("1XPXD49XXRD898766,2024\n", 50_000)), 0o600)
	})
	answer, folder := o.ask(t, "", "Check the attached schedules", files...)
	for _, want := range []string{
		"## Check of the attached Smith, John's fleet.xlsx\n\n3 vehicles decoded, **3 with something to look at**. Read: sheet Fleet, 3 rows; vin in \"VIN\"",
		"| 6 | 102 | 1XPXD49XXRD898766 | vin unresolved: Differs from row 8 (1XPXD49XXRD898767) only at position 17; one of the two may be a misreading; year conflict: stated \"2020\", VIN says \"2024\"",
		"| 8 | 103 | 1XPXD49XXRD898767 | vin conflict: The check digit is X and should be",
		"Workbook: `Smith, John's fleet-checked.xlsx`. Decoded with NHTSA vPIC data of 20",
		"I can't check `locked.xlsx`: an old .xls workbook, or one with a password. What to do: save it as .xlsx without a password.",
		"I can't check `broken.xlsx`: it can't be read as a workbook: ",
		"I can't check `long.csv`: 50000 vehicles are more than the 5000 that are checked at once. What to do: split the schedule",
	} {
		if !strings.Contains(answer, want) {
			t.Errorf("the answer lacks %q:\n%s", want, answer)
		}
	}
	book, err := excelize.OpenFile(filepath.Join(folder, "Smith, John's fleet-checked.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = book.Close() }()
	if rows, err := book.GetRows("Schedule"); err != nil || len(rows) != 4 {
		t.Errorf("the checked schedule has %d rows, %v", len(rows), err)
	}
}

// writeFleet makes a schedule with a letterhead, two rows of headings, merged cells, dates as text and rows of totals.
func writeFleet(file, password string) error {
	f := excelize.NewFile()
	defer func() { _ = f.Close() }()
	err := f.SetSheetName("Sheet1", "Fleet")
	for i, row := range [][]any{
		{"Amber Run Freight LLC: equipment"},
		{},
		{"Unit", "Vehicle", nil, nil, "Gross", "VIN"},
		{"No.", "Year", "Make", "Model", "Weight", nil},
		{"101", "01/01/2024", "Peterbilt", "389", "80,000 lbs", "1XPXD49XXRD898766"},
		{"102", "2020-03-01", nil, "389", "80000", "1XPXD49XXRD898766"},
		{"Subtotal", nil, nil, nil, "160,000", "2"},
		{"103", "2024", "Peterbilt", "389", "80k", "1XPXD49XXRD898767"},
		{"TOTAL:", nil, nil, nil, "240,000", "3 units"},
	} {
		err = errors.Join(err, f.SetSheetRow("Fleet", fmt.Sprintf("A%d", i+1), &row))
	}
	for _, m := range [][2]string{{"A1", "F1"}, {"B3", "D3"}, {"F3", "F4"}, {"C5", "C6"}} {
		err = errors.Join(err, f.MergeCell("Fleet", m[0], m[1]))
	}
	return errors.Join(err, f.SaveAs(file, excelize.Options{Password: password}))
}

// TestRealDocuments opens PDFs that this project didn't write with the tools that a sandbox has, and finds in them what their authors say they hold.
// It needs the shared data beside the repository; without it there is nothing to open.
func TestRealDocuments(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("BORDEREAU_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	files, err := filepath.Glob(filepath.Join(shared, "data", "longlistbench", "*_00?.*"))
	if err != nil || len(files) == 0 {
		t.Logf("no shared data: %v", err)
		return
	}
	o := openOffice(t)
	o.script.Play(modelserver.Script{Replies: []modelserver.Reply{scripted("open", openDocuments), {Text: "done"}}})
	o.ask(t, "openai", "Open the documents", files...)
	checkRan(t, o.data, "open", func(said string) bool {
		return strings.Contains(said, fmt.Sprintf("all %d open", len(files)/2))
	})
}

// openDocuments reads, counts and draws each PDF, and looks in its text for the values that its JSON names.
const openDocuments = `
set -euo pipefail
cd /workspace/documents
n=0
for pdf in *.pdf; do
	pdfinfo "$pdf" | grep -q '^Pages:'
	pdftotext -layout "$pdf" "/tmp/${pdf%.pdf}.txt"
	pdftoppm -r 20 -png -f 1 -l 1 "$pdf" /tmp/page
	python3 - "$pdf" <<'END'
import json, re, sys
stem = sys.argv[1][:-4]
flat = lambda v: re.sub(r"\W+", "", str(v)).upper()
text = flat(open(f"/tmp/{stem}.txt", encoding="utf-8").read())
rows = json.load(open(f"{stem}.json", encoding="utf-8"))
key = next(k for k in ("license_number", "driver_license_number", "claim_number", "plate_number", "vehicle") if k in rows[0])
found = sum(flat(r[key]) in text for r in rows)
print(stem, len(rows), "rows,", found, "by", key)
sys.exit(found < 0.95 * len(rows))
END
	n=$((n + 1))
done
echo "all $n open"
`
