package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"bordereau/agent/model/modelserver"
)

// runModelServer serves scripted replies over the wires of model providers, faults included: for demos, tests and load.
func runModelServer(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("modelserver", flag.ContinueOnError)
	flags.SetOutput(std.Err)
	listen := flags.String("listen", "127.0.0.1:8099", "address to serve on; loopback unless you mean it")
	script := flags.String("script", "", "JSON file: {\"replies\":[{\"text\":…,\"calls\":[…],\"fault\":…,\"times\":…}],\"key\":…}; without it one reply greets")
	flags.Usage = func() {
		fmt.Fprintln(std.Err, "Usage: bordereau modelserver [flags]\n\nServes /v1/messages (Anthropic) and /v1/chat/completions (OpenAI) from a script.\n\nFlags:")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return usagef("%v", err)
	}
	play := modelserver.Script{Replies: []modelserver.Reply{{Text: "This is the scripted model server. Give it a script with -script."}}}
	if *script != "" {
		text, err := os.ReadFile(*script)
		if err != nil {
			return fmt.Errorf("reading the script: %w", err)
		}
		play = modelserver.Script{}
		if err := json.Unmarshal(text, &play); err != nil {
			return fmt.Errorf("reading the script %s: %w", *script, err)
		}
		if len(play.Replies) == 0 {
			return usagef("the script %s has no replies", *script)
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", *listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	server := &http.Server{Handler: modelserver.New(play), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintf(std.Out, "model server on http://%s\n", l.Addr())
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		// Streams that stall on purpose never end by themselves.
		return errors.Join(server.Close(), ignoreClosed(<-done))
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
