package home

import (
	"slices"
	"strings"

	"bordereau/sandbox"
)

func sortFiles(files []sandbox.File) {
	slices.SortFunc(files, func(a, b sandbox.File) int { return strings.Compare(a.Path, b.Path) })
}
