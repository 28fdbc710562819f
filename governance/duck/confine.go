package duck

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// headroom is what a worker may hold beyond DuckDB's own limit: results on their way, string functions, Go.
const headroom = 768 << 20

// confine gives up, for good, what a statement must not use: memory beyond a ceiling, files, cores. RLIMIT_AS would be no use, since Go
// and glibc reserve gigabytes of addresses that they never touch.
func confine(memory int64) error {
	for _, l := range []struct {
		resource int
		value    uint64
	}{{unix.RLIMIT_DATA, uint64(memory) + headroom}, {unix.RLIMIT_CORE, 0}, {unix.RLIMIT_FSIZE, 0}} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return err
		}
	}
	return nil
}

// usage tells what this process uses. Its file is opened early, for later nothing can be.
type usage struct{ statm *os.File }

func openUsage() (*usage, error) {
	f, err := os.Open("/proc/self/statm")
	if err != nil {
		return nil, err
	}
	return &usage{f}, nil
}

// nearby is more than any allocation that fetching a chunk makes.
const nearby = 64 << 20

// nearCeiling tells whether the process is about to be refused memory.
func (u *usage) nearCeiling() bool {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &limit); err != nil || limit.Cur == unix.RLIM_INFINITY {
		return false
	}
	raw := make([]byte, 256)
	n, err := u.statm.ReadAt(raw, 0)
	if n == 0 {
		return err != nil && !errors.Is(err, io.EOF)
	}
	var size, resident, shared, text, lib, data uint64
	if _, err := fmt.Sscan(string(raw[:n]), &size, &resident, &shared, &text, &lib, &data); err != nil {
		return true
	}
	return data*uint64(os.Getpagesize())+nearby > limit.Cur
}
