package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/journal"
)

// Exit statuses of ask, beside 0 for completed and 2 for wrong usage.
const (
	exitFailed    = 1
	exitCutShort  = 3
	exitCancelled = 4
)

// outcomeError says how a turn ended, when that isn't "completed".
type outcomeError struct{ outcome journal.Outcome }

func (e outcomeError) Error() string {
	o := e.outcome
	switch o.Status {
	case journal.CutShort:
		return join("the turn was cut short", o.Reason, o.Message, o.Hint)
	case journal.Cancelled:
		return "the turn was stopped"
	default:
		return join(fmt.Sprintf("the turn failed (%s, %s)", o.Fault, o.Component), o.Class, o.Message, o.Hint)
	}
}

// ExitCode tells the three apart.
func (e outcomeError) ExitCode() int {
	switch e.outcome.Status {
	case journal.CutShort:
		return exitCutShort
	case journal.Cancelled:
		return exitCancelled
	}
	return exitFailed
}

func join(parts ...string) string {
	var some []string
	for _, p := range parts {
		if p != "" {
			some = append(some, p)
		}
	}
	return strings.Join(some, ": ")
}

// list is a flag that may be given more than once.
type list []string

func (l *list) String() string     { return strings.Join(*l, ", ") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

// runAsk asks a running Bordereau a question over its HTTP API and hands back what it delivers.
func runAsk(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("ask", flag.ContinueOnError)
	flags.SetOutput(std.Err)
	var files list
	org := flags.String("org", std.Env("BORDEREAU_ORG"), "whose key to use: the `ORGANISATION`")
	url := flags.String("url", or(std.Env("BORDEREAU_URL"), "http://"+defaults().Listen), "where Bordereau listens")
	data := flags.String("data", or(std.Env("BORDEREAU_DATA"), defaults().Data), "data `FOLDER` to find the key in, unless BORDEREAU_API_KEY is set")
	out := flags.String("out", "out", "`FOLDER` for the files that are delivered")
	conversation := flags.String("conversation", "", "go on with the conversation of this `ID`")
	modelName := flags.String("model", "", "ask this `MODEL` instead of the default one")
	flags.Var(&files, "file", "upload this `FILE` first; may be given more than once")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return usageError{}
	}
	question := strings.TrimSpace(strings.Join(flags.Args(), " "))
	if question == "" {
		return usagef("ask what? bordereau ask --org ORG 'question'")
	}
	key, err := apiKey(std, *data, *org)
	if err != nil {
		return err
	}
	client, err := newAskClient(askClientConfig{URL: *url, Key: key, HTTP: &http.Client{}})
	if err != nil {
		return err
	}
	q := askQuestion{Text: question, Conversation: or(*conversation, uuid.NewString()), Model: *modelName, Files: files, Out: *out}
	result, err := ask(ctx, client, q, newAskPrinter(std.Out, std.Err, time.Now))
	if err != nil {
		return err
	}
	if result.Outcome.Status != journal.Completed {
		return outcomeError{result.Outcome}
	}
	return nil
}

// keyFile is where 'serve' and 'demo' leave an organisation's first key, readable by their user only.
func keyFile(data, org string) string { return filepath.Join(data, "keys", org+".key") }

func apiKey(std stdio, data, org string) (string, error) {
	if key := std.Env("BORDEREAU_API_KEY"); key != "" {
		return key, nil
	}
	if org == "" {
		return "", usagef("which organisation? give --org ORG, or set BORDEREAU_API_KEY")
	}
	if filepath.Base(org) != org || org == "." || org == ".." {
		return "", usagef("%q is no organisation's id", org)
	}
	raw, err := os.ReadFile(keyFile(data, org))
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("no key for organisation %q: set BORDEREAU_API_KEY, or start 'bordereau serve' with the same data folder (%s)", org, data)
	}
	if err != nil {
		return "", fmt.Errorf("reading the key: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
