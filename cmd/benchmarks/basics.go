package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// basics says what the machine's own steps cost at this moment: virtual machines differ in these by far more than in their processors,
// and what starts processes or reads into fresh memory differs with them.
func basics() string {
	const pages = 16 << 10
	memory, err := unix.Mmap(-1, 0, pages*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return ""
	}
	defer func() { _ = unix.Munmap(memory) }()
	begun := time.Now()
	for i := 0; i < len(memory); i += os.Getpagesize() {
		memory[i] = 1
	}
	touch := time.Since(begun) / pages

	const starts = 21
	var started []time.Duration
	for range starts {
		begun := time.Now()
		if exec.Command("true").Run() != nil { //nolint:noctx // it ends at once
			return ""
		}
		started = append(started, time.Since(begun))
	}
	slices.Sort(started)
	return fmt.Sprintf("What the machine's own steps cost in that run: the first touch of a page %.2g µs, the start of a process that does nothing %.2g ms.",
		float64(touch.Nanoseconds())/1e3, float64(started[starts/2].Microseconds())/1e3)
}
