// Command guest is process 1 inside a gVisor sandbox: it runs the backend's commands as the sandbox's user.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"bordereau/sandbox/guest"
)

func main() {
	socket := flag.String("socket", "", "where the backend listens")
	uid := flag.Int("uid", 0, "whom commands run as")
	flag.Parse()
	if err := guest.Run(context.Background(), guest.Config{Socket: *socket, UID: *uid}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
