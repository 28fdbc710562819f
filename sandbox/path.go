package sandbox

import (
	"path"
	"regexp"
	"strings"
)

var idPattern = regexp.MustCompile(`^[a-z0-9-]{1,63}$`) //nolint:gochecknoglobals // a constant

// CheckID returns ErrInvalid for a name that no sandbox can have.
func CheckID(id string) error {
	if !idPattern.MatchString(id) {
		return Invalid("a sandbox's id has 1 to 63 of a-z, 0-9 and '-'")
	}
	return nil
}

// Rel turns a path inside a sandbox (absolute, or relative to WorkspaceDir) into one relative to WorkspaceDir,
// "." for the folder itself. Anything outside is ErrInvalid. It is about names only: symbolic links are the driver's to mind.
func Rel(name string) (string, error) {
	if strings.ContainsRune(name, 0) || len(name) > 4096 {
		return "", Invalid("a path holds no NUL and at most 4096 bytes")
	}
	full := path.Clean(name)
	if !path.IsAbs(name) {
		full = path.Join(WorkspaceDir, name)
	}
	if full == WorkspaceDir {
		return ".", nil
	}
	rel, ok := strings.CutPrefix(full, WorkspaceDir+"/")
	if !ok {
		return "", Invalid("%q is outside %s", name, WorkspaceDir)
	}
	return rel, nil
}

// Abs is the path inside the sandbox of a name that Rel gave.
func Abs(rel string) string { return path.Join(WorkspaceDir, rel) }

// Defaults of Limits.
const (
	DefaultMemoryBytes    = 1 << 30
	DefaultWorkspaceBytes = 1 << 30
	DefaultProcesses      = 128
	DefaultCPUs           = 2.0
	DefaultFileBytes      = 512 << 20
	DefaultOutputBytes    = 4 << 20
)

// Or fills what is zero in l from the defaults.
func (l Limits) Or() Limits {
	if l.MemoryBytes <= 0 {
		l.MemoryBytes = DefaultMemoryBytes
	}
	if l.WorkspaceBytes <= 0 {
		l.WorkspaceBytes = DefaultWorkspaceBytes
	}
	if l.Processes <= 0 {
		l.Processes = DefaultProcesses
	}
	if l.CPUs <= 0 {
		l.CPUs = DefaultCPUs
	}
	if l.FileBytes <= 0 {
		l.FileBytes = DefaultFileBytes
	}
	if l.OutputBytes <= 0 {
		l.OutputBytes = DefaultOutputBytes
	}
	return l
}
