package image_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bordereau/governance/mcpserver/mcpservertest"
	"bordereau/governance/turntoken"
	"bordereau/sandbox"
	"bordereau/sandbox/bubblewrap"
	"bordereau/sandbox/door"
	"bordereau/sandbox/gvisor"
	"bordereau/sandbox/sandboxtest"
)

// drivers opens both local drivers over an image, with doors to a running governance and the real client.
func drivers(t *testing.T, bed *mcpservertest.Bed, image string) map[string]sandbox.Driver {
	t.Helper()
	doors, err := door.New(door.Config{Upstream: bed.URL, Log: sandboxtest.Log(t), Stamp: func(id, token string) (string, string) {
		return turntoken.StampHeader, bed.Stamper.Stamp(id, token)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(doors.Stop)
	gov := sandboxtest.Program(t, "gov")
	strong, err := gvisor.New(t.Context(), gvisor.Config{
		Runsc: sandboxtest.Runsc(t), Guest: sandboxtest.Program(t, "guest"), Gov: gov, Image: image, Folder: sandboxtest.Folder(t), Doors: doors, Log: sandboxtest.Log(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(strong.Close)
	weak, err := bubblewrap.New(t.Context(), bubblewrap.Config{Gov: gov, Image: image, Folder: sandboxtest.Folder(t), Doors: doors, Log: sandboxtest.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(weak.Close)
	return map[string]sandbox.Driver{gvisor.Name: strong, bubblewrap.Name: weak}
}

// box makes a sandbox with a turn's token in it and returns how to run a script there.
func box(t *testing.T, bed *mcpservertest.Bed, d sandbox.Driver) func(script string) (stdout, stderr string, code int) {
	t.Helper()
	grant := mcpservertest.Grant() // of sandbox s1
	if _, err := d.Create(t.Context(), sandbox.Spec{ID: grant.Sandbox, Org: grant.Org}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Delete(t.Context(), grant.Sandbox) })
	if err := d.SetToken(t.Context(), grant.Sandbox, bed.Mint(t, grant)); err != nil {
		t.Fatal(err)
	}
	return func(script string) (string, string, int) {
		t.Helper()
		var out, errs bytes.Buffer
		r, err := d.Exec(t.Context(), grant.Sandbox, sandbox.Command{Args: []string{"bash", "-c", script}, Stdout: &out, Stderr: &errs, Timeout: 5 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return out.String(), errs.String(), r.ExitCode
	}
}

const module = `python3 - <<'END'
import gov, pandas
frame = gov.sql("SELECT 42 AS n")
assert isinstance(frame, pandas.DataFrame), type(frame)
print(list(frame.columns), frame["n"].sum())
try:
    gov.extraction("no-such-option")
except gov.GovError as e:
    print("told:", str(e).split(":")[0])
END`

// TestPythonModule asks governed data from Python inside real sandboxes, through the real client and the door.
func TestPythonModule(t *testing.T) {
	t.Parallel()
	bed := mcpservertest.Start(t, nil)
	for name, d := range drivers(t, bed, "") {
		t.Run(name, func(t *testing.T) {
			run := box(t, bed, d)
			out, errs, code := run(module)
			if code != 0 || !strings.HasPrefix(out, "['n'] 42\n") {
				t.Fatalf("%d %q %s", code, out, errs)
			}
			// The token of this sandbox is worth nothing in another one.
			if _, err := d.Create(t.Context(), sandbox.Spec{ID: "s2", Org: "acme"}); err != nil {
				t.Fatal(err)
			}
			if err := d.SetToken(t.Context(), "s2", bed.Mint(t, mcpservertest.Grant())); err != nil {
				t.Fatal(err)
			}
			bed.Refusals.Take()
			var said bytes.Buffer
			r, err := d.Exec(t.Context(), "s2", sandbox.Command{Args: []string{"gov", "sql", "SELECT 42 AS n"}, Stderr: &said})
			if err != nil || r.ExitCode != 3 || !strings.Contains(said.String(), "outside its sandbox") {
				t.Errorf("%+v %v %s", r, err, said.String())
			}
			if records := bed.Refusals.Take(); len(records) != 1 || records[0].Kind != "sandbox" || records[0].Sandbox != "s2" {
				t.Errorf("recorded %+v", records)
			}
			_ = d.Delete(t.Context(), "s2")
		})
	}
}

// TestBuiltImage uses what make sandbox-image built, which runs this test with BORDEREAU_IMAGE set to it: it takes minutes to build, so
// it is no part of the other tests.
func TestBuiltImage(t *testing.T) {
	image := os.Getenv("BORDEREAU_IMAGE")
	if image == "" {
		t.Log("BORDEREAU_IMAGE is not set: make sandbox-image builds an image and runs this test over it")
		return
	}
	image, err := filepath.Abs(image)
	if err != nil {
		t.Fatal(err)
	}
	bed := mcpservertest.Start(t, nil)
	for name, d := range drivers(t, bed, image) {
		t.Run(name, func(t *testing.T) {
			run := box(t, bed, d)
			for what, check := range map[string]struct{ script, want string }{
				"gov":    {module, "['n'] 42\n"},
				"system": {`grep -c . /usr/share/bordereau/manifest.txt | awk '{print ($1 > 200)}'; id -un; cat /etc/hostname; find / -xdev -perm /6000 -type f 2>/dev/null | wc -l`, "1\nsandbox\nsandbox\n0\n"},
				"pandas": {`python3 -c '
import pandas, openpyxl, matplotlib.pyplot as plt
f = pandas.DataFrame({"day": ["a", "b"], "rate": [1, 2]}); f.to_excel("t.xlsx"); f.plot(x="day", y="rate"); plt.savefig("t.png")
print(pandas.read_excel("t.xlsx").rate.sum())'`, "3\n"},
				// A letter becomes a PDF, then a picture, then text again.
				"documents": {
					`printf 'Effective date 1 March 2026\n' > letter.txt
soffice --headless --convert-to pdf letter.txt >/dev/null 2>&1 && pdftotext letter.pdf - | head -1
pdftoppm -r 200 -png letter.pdf page && tesseract page-1.png - 2>/dev/null | head -1; qpdf --check letter.pdf >/dev/null && echo sound`,
					"Effective date 1 March 2026\nEffective date 1 March 2026\nsound\n",
				},
				"spreadsheet": {`python3 -c '
import openpyxl
b = openpyxl.Workbook(); b.active["A1"] = 2; b.active["A2"] = "=A1*21"; b.save("c.xlsx")'
soffice --headless --convert-to csv c.xlsx >/dev/null 2>&1; cat c.csv`, "2\n42\n"},
			} {
				out, errs, code := run(check.script)
				if code != 0 || !strings.HasPrefix(out, check.want) {
					t.Errorf("%s: %d %q %s", what, code, out, errs)
				}
			}
		})
	}
}
