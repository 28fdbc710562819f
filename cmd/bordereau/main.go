// Command bordereau is the whole system in one program: it serves every role, asks, imports, queries, decodes and verifies.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// stdio is what a command may read and write; tests give their own.
type stdio struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(string) string
}

// exitCoder is an error that decides the exit status. Other errors exit with 1, wrong usage with 2.
type exitCoder interface {
	error
	ExitCode() int
}

// usageError is a command line that can't be understood.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

// ExitCode returns 2.
func (e usageError) ExitCode() int { return 2 }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv})
	stop()
	os.Exit(exitStatus(err, os.Stderr))
}

// exitStatus prints err, unless the command printed it already, and returns the status to exit with.
func exitStatus(err error, w io.Writer) int {
	if err == nil {
		return 0
	}
	if err.Error() != "" {
		fmt.Fprintln(w, "bordereau:", err)
	}
	if coded, ok := errors.AsType[exitCoder](err); ok {
		return coded.ExitCode()
	}
	return 1
}
