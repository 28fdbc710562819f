// Command runsc is gVisor's runtime with the filters of system calls that its processes put on themselves compiled beforehand, as gVisor's
// own releases have them. Built from its Go module alone, each start of a sandbox would compile them anew, which takes a third of the start.
package main

import (
	"os"
	_ "unsafe" // for go:linkname

	"gvisor.dev/gvisor/pkg/seccomp/precompiledseccomp"
	boot "gvisor.dev/gvisor/runsc/boot/filter"
	"gvisor.dev/gvisor/runsc/cli/maincli"
	gofer "gvisor.dev/gvisor/runsc/fsgofer/filter"
)

// gVisor's releases fill these from generated files; its Go module has them empty and exports no way in.
//
//go:linkname bootPrograms gvisor.dev/gvisor/runsc/boot/filter.precompiledPrograms
var bootPrograms map[string]precompiledseccomp.Program

//go:linkname goferPrograms gvisor.dev/gvisor/runsc/fsgofer/filter.precompiledPrograms
var goferPrograms map[string]precompiledseccomp.Program

// register makes the programs known to this process. A process whose options have none among them compiles its own.
func register() {
	boot.ListPrecompiled() // makes the empty maps, once
	gofer.ListPrecompiled()
	pid := uint32(os.Getpid())
	for _, p := range bootFilters(pid) {
		bootPrograms[p.Name] = p
	}
	for _, p := range goferFilters(pid) {
		goferPrograms[p.Name] = p
	}
}

func main() {
	register()
	maincli.Main()
}
