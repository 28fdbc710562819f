package model

import (
	"regexp"
	"strings"
)

// attachedPrefix begins the text that names a message's files. Pages know it too.
const attachedPrefix = "Attached, in /workspace/documents: "

// A name may hold a comma; the next one begins after an extension.
var attachedName = regexp.MustCompile(`(.+?(?:\.[A-Za-z0-9]{1,8}|$))(?:, |$)`)

// Attached tells a model which files came with a message. It stands after what the person said.
func Attached(names []string) Block {
	return Block{Kind: Text, Text: attachedPrefix + strings.Join(names, ", ")}
}

// AttachedIn returns the names that Attached was given; nil for any other block.
func AttachedIn(b Block) []string {
	list, ok := strings.CutPrefix(b.Text, attachedPrefix)
	if b.Kind != Text || !ok {
		return nil
	}
	var names []string
	for _, found := range attachedName.FindAllStringSubmatch(list, -1) {
		names = append(names, found[1])
	}
	return names
}
