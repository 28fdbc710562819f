package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"bordereau/governance/duck"
)

// command is one subcommand.
type command struct {
	name  string
	short string // "" hides it from the help
	run   func(ctx context.Context, args []string, std stdio) error
}

// commands is the whole list, in the order of the help.
func commands() []command {
	return []command{
		{"serve", "serve all roles on this machine", runServe},
		{"demo", "do the main job on a sample organisation", runDemo},
		{"ask", "ask a running Bordereau a question", runAsk},
		{"import", "import submissions and what was extracted from them", runImport},
		{"organisation", "add or list organisations", runOrganisation},
		{"person", "add, list or change people, give them links, read the admin log", runPerson},
		{"key", "issue an API key for a person of an organisation", runKey},
		{"query", "run SQL through the gate", runQuery},
		{"vin", "decode VINs, check a vehicle schedule", runVIN},
		{"guideline", "check, test or compare guidelines", runGuideline},
		{"schedule", "make, run, pause and look at schedules", runSchedule},
		{"report", "check a workbook or PDF against its run and the audit chain", runReport},
		{"audit", "list, show, verify or export the audit record", runAudit},
		{"turn", "show a turn's timeline", runTurn},
		{"policy", "check a policy file", runPolicy},
		{"sample", "write the sample organisations to a folder", runSample},
		{"modelserver", "serve a scripted model for tests, demonstrations and load", runModelServer},
		{"doctor", "say which sandbox driver and image work here", runDoctor},
		{"version", "say which version this is", runVersion},
		{duck.WorkerCommand, "", runDuckWorker},
		{"dataset-builder", "", runDatasetBuilder},
	}
}

func run(ctx context.Context, args []string, std stdio) error {
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "--help"}, args[0]) {
		help(std.Out)
		return nil
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], std)
		}
	}
	return usagef("no command %q; 'bordereau help' lists them", args[0])
}

func help(w io.Writer) {
	fmt.Fprint(w, "Bordereau: an analyst for insurance submissions.\n\nUsage: bordereau COMMAND [flags]\n\n")
	for _, c := range commands() {
		if c.short != "" {
			fmt.Fprintf(w, "  %-12s %s\n", c.name, c.short)
		}
	}
	fmt.Fprintln(w, strings.TrimSpace(`
'bordereau COMMAND -h' tells a command's flags.`))
}
