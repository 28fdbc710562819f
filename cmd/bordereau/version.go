package main

import (
	"context"
	"fmt"
	"runtime/debug"
)

// version is the module's version, or the commit that this was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return info.Main.Version
}

func runVersion(_ context.Context, _ []string, std stdio) error {
	fmt.Fprintln(std.Out, "bordereau", version())
	return nil
}
