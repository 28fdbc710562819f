package gvisor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"

	"bordereau/sandbox"
	"bordereau/sandbox/home"
)

// The part of the OCI runtime specification that we use.
type (
	spec struct {
		Version  string  `json:"ociVersion"`
		Process  process `json:"process"`
		Root     root    `json:"root"`
		Hostname string  `json:"hostname"`
		Mounts   []mount `json:"mounts"`
		Linux    linux   `json:"linux"`
	}
	process struct {
		User         user         `json:"user"`
		Args         []string     `json:"args"`
		Env          []string     `json:"env"`
		Cwd          string       `json:"cwd"`
		Capabilities capabilities `json:"capabilities"`
		Rlimits      []rlimit     `json:"rlimits"`
		NoNew        bool         `json:"noNewPrivileges"`
	}
	user         struct{ UID, GID int }
	capabilities struct {
		Bounding  []string `json:"bounding"`
		Effective []string `json:"effective"`
		Permitted []string `json:"permitted"`
	}
	rlimit struct {
		Type string `json:"type"`
		Hard uint64 `json:"hard"`
		Soft uint64 `json:"soft"`
	}
	root struct {
		Path     string `json:"path"`
		Readonly bool   `json:"readonly"`
	}
	mount struct {
		Destination string   `json:"destination"`
		Type        string   `json:"type"`
		Source      string   `json:"source"`
		Options     []string `json:"options,omitempty"`
	}
	linux struct {
		Namespaces  []namespace `json:"namespaces"`
		CgroupsPath string      `json:"cgroupsPath,omitempty"`
		Resources   *resources  `json:"resources,omitempty"`
	}
	namespace struct {
		Type string `json:"type"`
	}
	resources struct {
		Memory struct {
			Limit int64 `json:"limit"`
		} `json:"memory"`
		Pids struct {
			Limit int64 `json:"limit"`
		} `json:"pids"`
		CPU struct {
			Quota  int64  `json:"quota"`
			Period uint64 `json:"period"`
		} `json:"cpu"`
	}
)

const (
	guestInside = "/run/control/guest"
	ctlInside   = "/run/control/ctl.sock"
)

// bundle writes the runtime's configuration of one sandbox.
func (d *Driver) bundle(h *home.Home, container string) error {
	r := h.Record()
	caps := []string{"CAP_KILL", "CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_DAC_READ_SEARCH"}
	s := spec{Version: "1.0.2", Hostname: "sandbox", Root: root{Path: d.img.Root, Readonly: true}}
	s.Process = process{
		Args: []string{guestInside, "-socket", ctlInside, "-uid", strconv.Itoa(d.img.UID())},
		Env:  []string{"PATH=/usr/bin:/bin", "GOMAXPROCS=2"}, Cwd: "/", NoNew: true,
		Capabilities: capabilities{Bounding: caps, Effective: caps, Permitted: caps},
		Rlimits: []rlimit{
			limit("RLIMIT_NPROC", int64(r.Limits.Processes)), limit("RLIMIT_NOFILE", 4096), limit("RLIMIT_CORE", 0),
			limit("RLIMIT_FSIZE", r.Limits.FileBytes),
		},
	}
	s.Mounts = []mount{
		{"/proc", "proc", "proc", nil},
		{"/dev", "tmpfs", "tmpfs", []string{"nosuid", "noexec"}},
		// The size of /dev itself is ignored by runsc; only root could write there. This one is open to all, so it gets a mount.
		{"/dev/shm", "tmpfs", "tmpfs", []string{"nosuid", "nodev", "mode=1777", "size=64m"}},
	}
	if d.img.Usr != "" {
		s.Mounts = append(s.Mounts,
			mount{"/usr", "bind", d.img.Usr, []string{"rbind", "ro", "nosuid", "nodev"}},
			mount{"/usr/local", "tmpfs", "tmpfs", []string{"ro", "nosuid", "nodev", "size=4k"}})
	}
	s.Mounts = append(s.Mounts,
		mount{sandbox.WorkspaceDir, "bind", h.Workspace(), []string{"rbind", "rw", "nosuid", "nodev"}},
		mount{"/tmp", "bind", h.Tmp(), []string{"rbind", "rw", "nosuid", "nodev"}},
		mount{sandbox.DoorDir, "bind", h.DoorDir(), []string{"rbind", "ro", "nosuid", "nodev", "noexec"}},
		mount{filepath.Dir(guestInside), "bind", h.ControlDir(), []string{"rbind", "ro", "nosuid", "nodev"}})
	s.Linux.Namespaces = []namespace{{"pid"}, {"network"}, {"ipc"}, {"uts"}, {"mount"}}
	if d.cgroups {
		s.Linux.CgroupsPath = "/bordereau/" + container
		res := &resources{}
		res.Memory.Limit = r.Limits.MemoryBytes
		// Each process inside may cost the sandbox a host process of its own and threads beside.
		res.Pids.Limit = int64(4*r.Limits.Processes + 256)
		res.CPU.Period, res.CPU.Quota = 100_000, int64(r.Limits.CPUs*100_000)
		s.Linux.Resources = res
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(h.Bundle(), "config.json"), text, 0o600)
}

func limit(kind string, n int64) rlimit {
	return rlimit{Type: kind, Hard: uint64(n), Soft: uint64(n)} // #nosec G115 -- limits are positive
}
