// Package image is the file system that a local sandbox sees: a small root of our own, and programs that nobody inside can change.
package image

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bordereau/sandbox"
)

// ToolsDir holds Bordereau's own tools inside; it is first on the PATH.
const ToolsDir = "/opt/bordereau/bin"

// PythonDir holds the "gov" Python module.
const PythonDir = "/opt/bordereau/python"

// User is whom commands run as, by name.
const User = "sandbox"

// Config says what an image is made of.
type Config struct {
	Folder string // where the skeleton is built; one for each UID
	Root   string // a Debian root made by sandbox/image/build; "" uses the host's /usr, read-only
	Gov    string // the static client; "" leaves it out
	UID    int    // of User, as code inside sees it
}

// Image is ready to be mounted.
type Image struct {
	Name   string // "host /usr" or the folder of a built root
	Root   string // on the host, mounted read-only at /
	Usr    string // on the host, mounted read-only at /usr; "" when Root has its own
	Python bool   // whether it has python3
	uid    int
}

// mountpoints must exist in a root that nobody can write to.
var mountpoints = []string{ //nolint:gochecknoglobals // a constant
	"proc", "sys", "dev", "tmp", "workspace", "run/bordereau", "run/control", "usr", "etc", "var/lib", "opt/bordereau/bin", "opt/bordereau/python",
}

// Open builds or refreshes the skeleton and returns the image.
func Open(cfg Config) (*Image, error) {
	if cfg.Folder == "" || cfg.UID <= 0 {
		return nil, errors.New("image: a folder and a uid that is not root's are required")
	}
	if cfg.Gov != "" {
		if st, err := os.Stat(cfg.Gov); err != nil || !st.Mode().IsRegular() {
			return nil, &sandbox.Fault{Kind: sandbox.ErrInvalid, Text: "there is no client at " + cfg.Gov, Hint: "build it: make build"}
		}
	}
	if cfg.Root != "" {
		return openBuilt(cfg)
	}
	return openHost(cfg)
}

// openBuilt takes a root made by the build script as it is; only the tools are laid beside it.
func openBuilt(cfg Config) (*Image, error) {
	for _, d := range mountpoints {
		if st, err := os.Stat(filepath.Join(cfg.Root, d)); err != nil || !st.IsDir() {
			return nil, &sandbox.Fault{
				Kind: sandbox.ErrInvalid, Text: fmt.Sprintf("the image %s has no folder /%s", cfg.Root, d),
				Hint: "build it anew: make sandbox-image",
			}
		}
	}
	if err := addTools(cfg.Root, cfg.Gov); err != nil {
		return nil, err
	}
	if err := writeUsers(cfg.Root, cfg.UID); err != nil {
		return nil, err
	}
	_, err := os.Stat(filepath.Join(cfg.Root, "usr/bin/python3"))
	return &Image{Name: cfg.Root, Root: cfg.Root, Python: err == nil, uid: cfg.UID}, nil
}

func openHost(cfg Config) (*Image, error) {
	if st, err := os.Stat("/usr/bin/sh"); err != nil || !st.Mode().IsRegular() {
		return nil, &sandbox.Fault{
			Kind: sandbox.ErrInvalid, Text: "the host has no merged /usr with a shell",
			Hint: "build a Debian root: make sandbox-image",
		}
	}
	root := filepath.Join(cfg.Folder, fmt.Sprintf("root-%d", cfg.UID))
	for _, d := range mountpoints {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil { // #nosec G301 -- the sandbox's user reads it
			return nil, err
		}
	}
	for _, d := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
		if target, err := os.Readlink("/" + d); err == nil {
			if err := link(target, filepath.Join(root, d)); err != nil {
				return nil, err
			}
		}
	}
	for from, to := range map[string]string{"/tmp": "var/tmp", "/proc/self/mounts": "etc/mtab", "/run/bordereau": "var/run"} {
		if err := link(from, filepath.Join(root, to)); err != nil {
			return nil, err
		}
	}
	for _, name := range hostEtc {
		if err := copyTree(filepath.Join("/etc", name), filepath.Join(root, "etc", name)); err != nil {
			return nil, fmt.Errorf("image: copy /etc/%s: %w", name, err)
		}
	}
	if err := writeUsers(root, cfg.UID); err != nil {
		return nil, err
	}
	if err := addTools(root, cfg.Gov); err != nil {
		return nil, err
	}
	_, err := os.Stat("/usr/bin/python3")
	return &Image{Name: "host /usr", Root: root, Usr: "/usr", Python: err == nil, uid: cfg.UID}, nil
}

// hostEtc is all of the host's /etc that programs in /usr need to start; nothing that says anything about the host.
var hostEtc = []string{ //nolint:gochecknoglobals // a constant
	"ld.so.cache", "alternatives", "fonts", "matplotlibrc", "mime.types", "magic", "python3", "python3.11", "python3.12", "python3.13",
	"libreoffice", "ssl/certs/ca-certificates.crt", "ssl/openssl.cnf", "localtime", "timezone", "papersize", "ImageMagick-6", "debian_version",
}

// writeUsers names the user for each number that it has in this root: one built root may serve drivers that number it differently.
func writeUsers(root string, uid int) error {
	uids := []int{uid}
	if have, err := os.ReadFile(filepath.Join(root, "etc", "passwd")); err == nil {
		for line := range strings.Lines(string(have)) {
			f := strings.Split(line, ":")
			if n, err := strconv.Atoi(f[min(2, len(f)-1)]); err == nil && f[0] == User {
				uids = append(uids, n)
			}
		}
	}
	slices.Sort(uids)
	var users, groups strings.Builder
	for _, n := range slices.Compact(uids) {
		fmt.Fprintf(&users, "%s:x:%d:%d:sandbox:/tmp/home:/bin/bash\n", User, n, n)
		fmt.Fprintf(&groups, "%s:x:%d:\n", User, n)
	}
	files := map[string]string{
		"passwd":        "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n" + users.String() + "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		"group":         "root:x:0:\n" + groups.String() + "nogroup:x:65534:\n",
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
		"hosts":         "127.0.0.1 localhost sandbox\n",
		"hostname":      "sandbox\n",
	}
	for name, text := range files {
		if err := writeIfChanged(filepath.Join(root, "etc", name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// addTools lays the client and the Python module into the root.
func addTools(root, gov string) error {
	if err := writeIfChanged(filepath.Join(root, PythonDir, "gov.py"), []byte(pythonModule), 0o644); err != nil {
		return err
	}
	to := filepath.Join(root, ToolsDir, "gov")
	if gov == "" {
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	same, err := sameContent(gov, to)
	if err != nil || same {
		return err
	}
	return copyFile(gov, to, 0o755)
}

func sameContent(a, b string) (bool, error) {
	x, err := sum(a)
	if err != nil {
		return false, err
	}
	y, err := sum(b)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return x == y, err
}

func sum(name string) (string, error) {
	f, err := os.Open(name) // #nosec G304 -- from configuration
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Env is the environment that every command starts from.
func (i *Image) Env(extra map[string]string) []string {
	env := map[string]string{
		"PATH": strings.Join([]string{ToolsDir, "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"}, ":"),
		"HOME": "/tmp/home", "USER": User, "LOGNAME": User, "SHELL": "/bin/bash", "TMPDIR": "/tmp", "LANG": "C.UTF-8",
		"XDG_CACHE_HOME": "/tmp/home/.cache", "MPLCONFIGDIR": "/tmp/home/.matplotlib", "MPLBACKEND": "Agg",
		"PYTHONPATH": PythonDir, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1",
		// OpenMP in gVisor is six times slower with threads than without.
		"OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMEXPR_NUM_THREADS": "1",
		"BORDEREAU_SOCKET": sandbox.DoorSocket, "BORDEREAU_TOKEN_FILE": sandbox.TokenFile,
	}
	maps.Copy(env, extra)
	list := make([]string, 0, len(env))
	for k, v := range env {
		list = append(list, k+"="+v)
	}
	return list
}

// UID is the user's number as code inside sees it.
func (i *Image) UID() int { return i.uid }
