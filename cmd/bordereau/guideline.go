package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bordereau/tools/guideline"
)

const guidelineUsage = `Usage:
  bordereau guideline list                       the guidelines that come with the program
  bordereau guideline show ID[@VERSION]          one of them, rule by rule
  bordereau guideline names                      the facts that conditions may use
  bordereau guideline check FILE...              read guidelines and say what is wrong, with file, line and column
  bordereau guideline test GUIDELINE CASES...    judge examples; GUIDELINE is a file or an id
  bordereau guideline diff OLD NEW               what changes between two; each a file or an id
`

// failedChecks ends a command whose findings are printed already.
type failedChecks struct{}

func (failedChecks) Error() string { return "" }

// ExitCode returns 1.
func (failedChecks) ExitCode() int { return 1 }

// runGuideline checks, tests, compares and lists guidelines.
func runGuideline(_ context.Context, args []string, std stdio) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-h") || args[0] == "--help" || args[0] == "help" {
		_, err := io.WriteString(std.Out, guidelineUsage)
		return err
	}
	lib, err := guideline.Embedded()
	if err != nil {
		return err
	}
	rest := args[1:]
	switch {
	case args[0] == "list":
		for _, g := range lib.All() {
			fmt.Fprintf(std.Out, "%-16s carrier %-10s effective %s  %d rules  %s\n", g.Key(), g.Carrier, g.Effective.Format(time.DateOnly), len(g.Rules), g.Name)
		}
		return nil
	case args[0] == "names":
		for _, n := range guideline.NewVocabulary().Names() {
			fmt.Fprintf(std.Out, "%-34s %-13s %s\n", n.Name, n.Kind, n.Meaning)
		}
		return nil
	case args[0] == "show" && len(rest) == 1:
		g, err := openGuideline(lib, rest[0])
		if err != nil {
			return err
		}
		showGuideline(std.Out, g)
		return nil
	case args[0] == "check" && len(rest) > 0:
		return checkGuidelines(lib, rest, std)
	case args[0] == "test" && len(rest) > 1:
		return testGuideline(lib, rest[0], rest[1:], std)
	case args[0] == "diff" && len(rest) == 2:
		a, err := openGuideline(lib, rest[0])
		if err != nil {
			return err
		}
		b, err := openGuideline(lib, rest[1])
		if err != nil {
			return err
		}
		for _, c := range guideline.Diff(a, b) {
			fmt.Fprintln(std.Out, c)
		}
		return nil
	}
	return usagef("'bordereau guideline %s' can't be understood\n%s", strings.Join(args, " "), guidelineUsage)
}

// openGuideline takes a file, which may extend what comes with the program, or an id.
func openGuideline(lib *guideline.Library, name string) (*guideline.Guideline, error) {
	if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" {
		return lib.Named(name, time.Now().UTC())
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return guideline.Load(name, text, lib.ByKey)
}

func checkGuidelines(lib *guideline.Library, files []string, std stdio) error {
	bad := false
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		g, err := guideline.Load(f, text, lib.ByKey)
		if err != nil {
			bad = true
			fmt.Fprintln(std.Err, err)
			continue
		}
		fmt.Fprintf(std.Out, "%s: %s, %d rules, %d parameters: nothing wrong\n", f, g.Key(), len(g.Rules), len(g.Parameters))
	}
	if bad {
		return failedChecks{}
	}
	return nil
}

func testGuideline(lib *guideline.Library, name string, files []string, std stdio) error {
	g, err := openGuideline(lib, name)
	if err != nil {
		return err
	}
	good, bad := 0, 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		cases, err := guideline.LoadCases(f, text)
		if err != nil {
			return err
		}
		results, err := g.Test(cases)
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		for _, r := range results {
			if r.OK() {
				good++
			} else {
				bad++
			}
			fmt.Fprintln(std.Out, r)
		}
	}
	fmt.Fprintf(std.Out, "%d as expected, %d not\n", good, bad)
	if bad > 0 {
		return failedChecks{}
	}
	return nil
}

func showGuideline(w io.Writer, g *guideline.Guideline) {
	fmt.Fprintf(w, "%s, carrier %s, effective %s\n%s\nsha256 %s\n\nParameters\n", g.Key(), g.Carrier, g.Effective.Format(time.DateOnly), g.Name, g.SHA256)
	for _, p := range g.Parameters {
		fmt.Fprintf(w, "  %-22s %s  %s\n", p.Name, p, p.Text)
	}
	fmt.Fprintln(w, "\nRules")
	for _, r := range g.Rules {
		fmt.Fprintf(w, "  %-8s %-9s %-8s %-11s %s (%s)\n", r.ID, r.Severity, r.Action, r.Scope, r.Text, r.Basis)
	}
}
