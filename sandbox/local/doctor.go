package local

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bordereau/sandbox/bubblewrap"
	"bordereau/sandbox/gvisor"
	"bordereau/sandbox/home"
)

// Finding is one thing that was looked at.
type Finding struct {
	Name   string // "gvisor", "bubblewrap", "image", "cgroups", "quota"
	Works  bool
	Detail string // what was found
	Remedy string // when it does not work
}

// Diagnosis says which driver and image work here, and why the others don't.
type Diagnosis struct {
	Driver   string // that New would pick; "" when none works
	Image    string
	Findings []Finding
}

// Doctor tries everything in a throwaway folder.
func Doctor(ctx context.Context, cfg Config) (Diagnosis, error) {
	folder, err := os.MkdirTemp("", "bordereau-doctor-*")
	if err != nil {
		return Diagnosis{}, err
	}
	defer os.RemoveAll(folder)
	var d Diagnosis
	cgroups := false
	remedies := map[string]string{
		gvisor.Name:     "run as root on Linux, after: make build",
		bubblewrap.Name: "apt-get install bubblewrap, and allow unprivileged user namespaces",
	}
	for _, name := range []string{gvisor.Name, bubblewrap.Name} {
		one := cfg
		one.Driver, one.Doors, one.Folder = name, nil, filepath.Join(folder, name)
		driver, err := New(ctx, one)
		if err != nil {
			d.Findings = append(d.Findings, Finding{Name: name, Detail: err.Error(), Remedy: remedies[name]})
			continue
		}
		detail := "works; a kernel of its own"
		if name == bubblewrap.Name {
			detail = "works; weaker: it shares this host's kernel"
		}
		d.Findings = append(d.Findings, Finding{Name: name, Works: true, Detail: detail})
		if d.Driver == "" {
			d.Driver, d.Image, cgroups = name, driver.Image(), driver.Cgroups()
		}
		driver.Close()
	}
	d.Findings = append(d.Findings, image(d.Image), limits(cgroups), quota())
	return d, nil
}

// tools are what document work needs inside, by the file that shows that one is there.
var tools = []struct{ name, file string }{ //nolint:gochecknoglobals // a constant table
	{"python3", "usr/bin/python3"},
	{"pandas", "usr/lib/python3/dist-packages/pandas"},
	{"matplotlib", "usr/lib/python3/dist-packages/matplotlib"},
	{"openpyxl", "usr/lib/python3/dist-packages/openpyxl"},
	{"poppler", "usr/bin/pdftoppm"},
	{"tesseract", "usr/bin/tesseract"},
	{"LibreOffice", "usr/bin/soffice"},
}

// image says what sandboxes see, and what is missing there. name is the driver's: "host /usr" or the folder of a built root.
func image(name string) Finding {
	if name == "" {
		return Finding{Name: "image", Detail: "no driver works that could show one", Remedy: "follow a remedy above"}
	}
	root, f := name, Finding{Name: "image", Works: true, Detail: name}
	if name == "host /usr" {
		root = "/"
		f.Detail += ", read-only: made for development; tools are those of this host"
		f.Remedy = "for production: make sandbox-image, then sandbox.image: build/image"
	} else if text, err := os.ReadFile(filepath.Join(root, "usr/share/bordereau/manifest.txt")); err == nil { // #nosec G304 -- from configuration
		f.Detail += fmt.Sprintf(": %d Debian packages", bytes.Count(text, []byte("\n")))
		if sum, err := os.ReadFile(root + ".sha256"); err == nil { // #nosec G304 -- from configuration
			f.Detail += ", root " + strings.TrimSpace(string(sum))
		}
	}
	var missing []string
	for _, t := range tools {
		if _, err := os.Stat(filepath.Join(root, t.file)); err != nil {
			missing = append(missing, t.name)
		}
	}
	if len(missing) > 0 {
		f.Detail += "; missing: " + strings.Join(missing, ", ")
	}
	// Without LibreOffice or tesseract some documents can't be read; without pandas nothing is computed.
	if slices.Contains(missing, "python3") || slices.Contains(missing, "pandas") {
		f.Works = false
		f.Remedy = "apt-get install python3-pandas python3-matplotlib python3-openpyxl, or: make sandbox-image, then sandbox.image: build/image"
	}
	return f
}

func limits(works bool) Finding {
	if works {
		return Finding{Name: "cgroups", Works: true, Detail: "memory, CPU and processes of a sandbox are limited as a whole"}
	}
	return Finding{Name: "cgroups", Detail: "only each process is limited", Remedy: "run as root on a host with writable control groups"}
}

func quota() Finding {
	if home.QuotaWorks() {
		return Finding{Name: "quota", Works: true, Detail: "each workspace is a filesystem of its own size"}
	}
	return Finding{Name: "quota", Detail: "workspaces are watched while commands run, not limited by a filesystem", Remedy: "run as root with loop devices and e2fsprogs"}
}
