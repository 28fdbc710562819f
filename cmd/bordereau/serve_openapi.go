package main

import (
	_ "embed" // the description

	"bordereau/governance/console"
	"bordereau/governance/desk"
)

//go:embed openapi.yaml
var besideDescription []byte

// besideAPI describes what is served beside the agent's own API.
func besideAPI() [][]byte {
	return [][]byte{besideDescription, console.Description(), desk.Description()}
}
