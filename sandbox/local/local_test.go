package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bordereau/sandbox"
	"bordereau/sandbox/bubblewrap"
	"bordereau/sandbox/gvisor"
	"bordereau/sandbox/local"
	"bordereau/sandbox/sandboxtest"
)

func find(t *testing.T, d local.Diagnosis, name string) local.Finding {
	t.Helper()
	for _, f := range d.Findings {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("nothing is said of %s: %+v", name, d)
	return local.Finding{}
}

// TestDoctor holds that it names the driver and image that work here, and for what does not the reason and the remedy.
func TestDoctor(t *testing.T) {
	t.Parallel()
	cfg := local.Config{Runsc: sandboxtest.Runsc(t), Guest: sandboxtest.Guest(t), Log: sandboxtest.Log(t)}
	d, err := local.Doctor(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if d.Driver != gvisor.Name || d.Image != "host /usr" || !find(t, d, "gvisor").Works || !strings.Contains(find(t, d, "bubblewrap").Detail, "weaker") {
		t.Errorf("%+v", d)
	}
	if f := find(t, d, "image"); !strings.Contains(f.Detail, "development") || !strings.Contains(f.Remedy, "make sandbox-image") {
		t.Errorf("%+v", f)
	}
	// Without the runtime the weaker driver is named, and how to come to the stronger.
	cfg.Runsc = "/no/such/runsc"
	if d, err = local.Doctor(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if f := find(t, d, "gvisor"); d.Driver != bubblewrap.Name || f.Works || !strings.Contains(f.Detail, "/no/such/runsc") || !strings.Contains(f.Remedy, "make build") {
		t.Errorf("%s, %+v", d.Driver, f)
	}
	// An image that was not built by the script is refused, and says how to build one.
	cfg.Image = t.TempDir()
	if d, err = local.Doctor(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if f := find(t, d, "bubblewrap"); d.Driver != "" || f.Works || !strings.Contains(f.Detail, "make sandbox-image") || find(t, d, "image").Works {
		t.Errorf("%s, %+v", d.Driver, f)
	}
}

// TestNothingRunsUnconfined holds that without a driver that works there is no driver at all.
func TestNothingRunsUnconfined(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	d, err := local.New(t.Context(), local.Config{Driver: "gvisor", Folder: folder, Runsc: "/no/such/runsc", Guest: "/no/such/guest", Log: sandboxtest.Log(t)})
	if !errors.Is(err, sandbox.ErrUnconfined) || d != nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("%v, %v", d, err)
	}
	if left, _ := os.ReadDir(filepath.Join(folder, "gvisor", "homes")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
