package model

import "strings"

// attachedPrefix begins the text that names a message's files, one on a line, since a name may hold anything else. Pages know it too.
const attachedPrefix = "Attached, in /workspace/documents:"

// Attached tells a model which files came with a message. It stands after what the person said.
func Attached(names []string) Block {
	return Block{Kind: Text, Text: attachedPrefix + "\n" + strings.Join(names, "\n")}
}

// AttachedIn returns the names that Attached was given; nil for any other block.
func AttachedIn(b Block) []string {
	list, ok := strings.CutPrefix(b.Text, attachedPrefix)
	if b.Kind != Text || !ok {
		return nil
	}
	return strings.Split(strings.TrimSpace(list), "\n") // earlier messages have their names on the first line
}
