//go:build !amd64

package main

import "gvisor.dev/gvisor/pkg/seccomp/precompiledseccomp"

// Elsewhere each start compiles its own.
func bootFilters(uint32) []precompiledseccomp.Program { return nil }

func goferFilters(uint32) []precompiledseccomp.Program { return nil }
