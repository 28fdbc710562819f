package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"bordereau/reports"
)

// runReportRender renders a stored run again, with what people said of its findings since.
func runReportRender(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("report render", flag.ContinueOnError)
	org := orgFlag(flags, std)
	out := flags.String("out", "out", "the `FOLDER` for workbook and PDF")
	title := flags.String("title", "", "another `TITLE` than the run's")
	plain := flags.Bool("no-excerpts", false, "show no pages of documents, which are not masked")
	secret := flags.String("password-file", "", "encrypt the PDF with the password in `FILE`, - for standard input")
	c, err := loadConfig(flags, args, std)
	if err != nil {
		return err
	}
	if *org == "" || flags.NArg() != 1 {
		return usagef("report render: want --org ORG and the id of a run")
	}
	password, err := readPassword(*secret, std.In)
	if err != nil {
		return err
	}
	desk, shut, err := openReports(ctx, c, std)
	if err != nil {
		return err
	}
	defer shut()
	run, err := desk.load(ctx, *org, flags.Arg(0), newest)
	if err != nil {
		return err
	}
	run.Title = or(*title, run.Title)
	run.Excerpts = reports.Shown
	if *plain {
		run.Excerpts = "They were not asked for."
	}
	desk.paper.password = password
	documents, err := desk.paper.Render(ctx, run, desk.opener(*org, run))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return fmt.Errorf("making the folder of the report: %w", err)
	}
	for _, d := range documents {
		name := filepath.Join(*out, d.Name)
		if err := os.WriteFile(name, d.Content, 0o600); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		fmt.Fprintln(std.Out, name)
	}
	return nil
}

// readPassword reads the first line of a file, so that no list of processes and no history shows a password.
func readPassword(file string, stdin io.Reader) (string, error) {
	if file == "" {
		return "", nil
	}
	from := stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return "", fmt.Errorf("reading the password: %w", err)
		}
		defer func() { _ = opened.Close() }()
		from = opened
	}
	line, err := bufio.NewReader(from).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the password: %w", err)
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", errors.New("reading the password: the first line is empty")
	}
	return line, nil
}
