// Command gov is the client inside a sandbox: it asks governed data for code and people there, through the sandbox's door.
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

// The exit statuses. 1 is for what can't happen.
const (
	exitAnswered = 0
	exitUsage    = 2
	exitRefused  = 3
	exitLimit    = 4
	exitBroken   = 5
)

// stdio is what a command may touch; tests give their own.
type stdio struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(string) string
	Terminal bool // Out is one
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	info, err := os.Stdout.Stat()
	std := stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
	status := exit(run(ctx, os.Args[1:], std), std.Err)
	stop()
	os.Exit(status)
}

// exit prints err and returns the status to exit with.
func exit(err error, w io.Writer) int {
	var f *fault
	var u usage
	switch {
	case err == nil:
		return exitAnswered
	case errors.As(err, &u):
		if u != "" {
			fmt.Fprintln(w, "gov:", string(u))
			fmt.Fprintln(w, "'gov help' lists the commands.")
		}
		return exitUsage
	case errors.As(err, &f):
		f.print(w)
		return f.status()
	}
	fmt.Fprintln(w, "gov:", err)
	return exitBroken
}

// usage is a command line that can't be understood; "" has been explained already.
type usage string

func (u usage) Error() string { return string(u) }

func usagef(format string, args ...any) error { return usage(fmt.Sprintf(format, args...)) }

const help = `gov asks governed submission data from inside a sandbox.

  gov sql [-f FILE] [-o rows.csv|.parquet|.arrow] [--max-rows N] 'SELECT …'
                        a preview; with -o the whole result in a file and its head in FILE.json
  gov describe [RELATION]
                        relations, columns, row counts, workflows, guidelines
  gov submissions [--from DAY] [--to DAY] [--workflow W] [--status S] [--insured NAME] [--limit N] [--offset N]
  gov extraction (--submission ID | --document ID | --field ID) [--limit N] [--offset N] [--all]
                        extracted fields with page, box, confidence and edits
  gov vin [-f rows.json] [VIN …]
                        decode VINs; rows.json is [{"vin":…,"year":…,"make":…,"ref":…}, …]
  gov vin --schedule FILE [-o checked.xlsx] [--limit N]
                        check an .xlsx or .csv vehicle schedule: its columns are found, its VINs decoded, what differs is listed
  gov reconcile [--from DAY] [--to DAY] [--workflow W] [--submission ID …] [--guideline ID] [-o run.json]
  gov document ID -o FILE
                        a document as it came, for roles that may

Answers are JSON (--json), or a table on a terminal (--table). The query may come on standard input: gov sql < q.sql
Exit status: 0 answered, 2 wrong usage, 3 refused, 4 a limit was met, 5 infrastructure.
The socket is $BORDEREAU_SOCKET or /run/bordereau/mcp.sock, the token in $BORDEREAU_TOKEN_FILE or /run/bordereau/token.
Where there is no socket, $BORDEREAU_ENDPOINT is governance's address, and each call proves the key beside the token (DPoP).
`
