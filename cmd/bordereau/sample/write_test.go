package sample

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

// hashOf is one hash over all files of a folder.
func hashOf(t *testing.T, folder string) (string, int) {
	t.Helper()
	h, n := sha256.New(), 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		n++
		fmt.Fprintln(h, strings.TrimPrefix(path, folder), len(text))
		h.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil)), n
}

func TestWritesTheSameBytes(t *testing.T) {
	t.Parallel()
	var hashes []string
	for range 2 {
		dir := t.TempDir()
		began := time.Now()
		if err := generate(t, "eastbank", 7).Write(dir); err != nil {
			t.Fatal(err)
		}
		sum, n := hashOf(t, dir)
		t.Logf("%d files in %v", n, time.Since(began))
		hashes = append(hashes, sum)
	}
	if hashes[0] != hashes[1] {
		t.Error("two runs of one seed differ")
	}
}

func TestKeyAndVolume(t *testing.T) {
	t.Parallel()
	org := generate(t, "northgate", 1)
	if len(org.Submissions) < 300 || len(org.Key.Received) != 25 {
		t.Errorf("%d submissions, %d today", len(org.Submissions), len(org.Key.Received))
	}
	workflows := map[string]int{}
	for _, s := range org.Submissions {
		workflows[s.Workflow]++
		if s.Received.After(day1.Add(6 * time.Hour)) {
			t.Errorf("%s arrives at %s", s.ID, s.Received)
		}
	}
	if len(workflows) != 3 || len(org.Key.EditRates) < 100 || len(org.Key.Injected) < 10 {
		t.Errorf("%v, %d edit rates, %d injected", workflows, len(org.Key.EditRates), len(org.Key.Injected))
	}
	edited := 0
	for _, r := range org.Key.EditRates {
		edited += r.Edited
		if r.Day < "2026-06-01" || r.Day > "2026-07-31" {
			t.Errorf("rate of %s", r.Day)
		}
	}
	if edited < 50 {
		t.Errorf("%d fields edited", edited)
	}
}

func TestSummer(t *testing.T) {
	t.Parallel()
	for today, want := range map[string]string{"2026-11-29": "2026", "2026-07-01": "2026", "2026-06-30": "2025", "2027-03-01": "2026"} {
		d, err := time.Parse(time.DateOnly, today)
		if err != nil {
			t.Fatal(err)
		}
		if from, to := Summer(d); from.Format(time.DateOnly) != want+"-06-01" || to.Format(time.DateOnly) != want+"-07-31" {
			t.Errorf("%s: %s to %s", today, from, to)
		}
		if first := arrivals(d, 300, 25, 1)[0]; first.Year() > d.Year() || first.After(d.AddDate(0, -6, -25)) {
			t.Errorf("%s: the first arrives %s", today, first)
		}
	}
}

// TestEveryPlantForEveryCarrier makes sure that the plan reaches all kinds of discrepancy under each guideline.
func TestEveryPlantForEveryCarrier(t *testing.T) {
	t.Parallel()
	seen := map[string]map[string]int{}
	total := 0
	for _, list := range [][]plant{companyPlants(), fleetPlants(), driverPlants(), lossPlants(), operationPlants()} {
		for _, p := range list {
			seen[p.name] = map[string]int{}
			total++
		}
	}
	for _, p := range plan(sizes["northgate"][0]) {
		for _, one := range p.plants {
			seen[one.name][p.carrier]++
		}
	}
	for name, carriers := range seen {
		if len(carriers) != 3 {
			t.Errorf("%s is planted for %v only", name, carriers)
		}
	}
	t.Logf("%d plants", total)
}

// TestValuesStandWhereTheyAreClaimed opens every kind of file and looks for each value at its place.
func TestValuesStandWhereTheyAreClaimed(t *testing.T) {
	t.Parallel()
	org := generate(t, "eastbank", 3)
	kinds := map[string]bool{}
	for _, s := range org.Submissions {
		for _, f := range s.Documents {
			kinds[f.Kind] = true
			switch f.Media {
			case xlsxType:
				inWorkbook(t, f)
			case "message/rfc822":
				lines := strings.Split(strings.TrimSuffix(string(f.Bytes), "\r\n"), "\r\n")
				for _, spot := range f.Spots {
					n := int(spot.Box[1]*float64(len(lines)) + 0.5)
					col := int(spot.Box[0]*100 + 0.5)
					if n >= len(lines) || !strings.HasPrefix(lines[n][min(col, len(lines[n])):], spot.Text) {
						t.Errorf("%s: %q is not on line %d", f.ID, spot.Text, n)
					}
				}
			default:
				inPDF(t, f)
			}
			for _, spot := range f.Spots {
				if spot.Current() != spot.Text && spot.Value != spot.Text {
					t.Errorf("%s %s: neither %q nor %q stands on the page", f.ID, spot.Field, spot.Current(), spot.Value)
				}
			}
		}
	}
	if len(kinds) != 9 {
		t.Errorf("kinds of documents: %v", kinds)
	}
}

func inWorkbook(t *testing.T, f *File) {
	t.Helper()
	book, err := excelize.OpenReader(bytes.NewReader(f.Bytes))
	if err != nil {
		t.Fatalf("%s: %v", f.ID, err)
	}
	defer book.Close()
	rows, err := book.GetRows("Sheet1")
	if err != nil {
		t.Fatal(err)
	}
	cols := 0
	for _, r := range rows {
		cols = max(cols, len(r))
	}
	for _, spot := range f.Spots {
		r, c := int(spot.Box[1]*float64(len(rows))+0.5), int(spot.Box[0]*float64(cols)+0.5)
		if r >= len(rows) || c >= len(rows[r]) || rows[r][c] != spot.Text {
			t.Errorf("%s: %q is not in row %d, column %d", f.ID, spot.Text, r+1, c+1)
		}
	}
}

// inPDF reads the page's own text operators: the product writes them uncompressed.
func inPDF(t *testing.T, f *File) {
	t.Helper()
	pages := bytes.Split(f.Bytes, []byte("stream\n"))
	var text []byte
	for i := 1; i < len(pages); i += 2 {
		if bytes.Contains(pages[i], []byte(" Td (")) {
			text = append(text, pages[i]...)
		}
	}
	shown := strings.NewReplacer(`\(`, "(", `\)`, ")", `\\`, `\`).Replace(string(text))
	for _, spot := range f.Spots {
		x, y := spot.Box[0]*wide, spot.Box[1]*high
		found := false
		for line := range strings.Lines(shown) {
			var px, py float64
			at := strings.Index(line, "BT ")
			if at < 0 || !strings.Contains(line, "("+spot.Text+")") {
				continue
			}
			if _, err := fmt.Sscanf(line[at:], "BT %f %f Td", &px, &py); err != nil {
				continue
			}
			px, py = px*25.4/72, high-py*25.4/72
			if px >= x-0.2 && px <= spot.Box[2]*wide && py >= y && py <= spot.Box[3]*high+0.2 {
				found = true
				break
			}
		}
		if !found {
			t.Errorf("%s: %q is not at %v of page %d", f.ID, spot.Text, spot.Box, spot.Page)
		}
	}
}

func TestImportLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := generate(t, "eastbank", 1).Write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "import.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for l := range strings.Lines(string(text)) {
		var one struct{ Type, ID, Path string }
		if err := json.Unmarshal([]byte(l), &one); err != nil {
			t.Fatal(err)
		}
		kinds[one.Type]++
		if one.Path != "" {
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(one.Path))); err != nil {
				t.Error(err)
			}
		}
	}
	if len(kinds) != 5 {
		t.Errorf("%v", kinds)
	}
}

func BenchmarkThreeOrganisations(b *testing.B) {
	d, err := decoder()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, id := range Orgs() {
			org, err := Generate(b.Context(), Config{Today: day1, Seed: 1, Decoder: d}, id)
			if err != nil {
				b.Fatal(err)
			}
			if err := org.Write(b.TempDir()); err != nil {
				b.Fatal(err)
			}
		}
	}
}
