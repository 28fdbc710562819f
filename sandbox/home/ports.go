package home

// Doors opens the one way out of a sandbox as a socket "mcp.sock" in a folder of the host.
type Doors interface {
	// Open listens in dir for the sandbox id. Asked again with another id it stamps that one from then on.
	Open(id, dir string) error
	Close(dir string)
}
