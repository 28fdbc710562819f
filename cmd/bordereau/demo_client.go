package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/journal"
)

// demoQuestion is a question of the demonstration and the files that its answer must deliver.
type demoQuestion struct {
	text  string
	files []string
}

func demoQuestions() []demoQuestion {
	return []demoQuestion{
		{
			"Reconcile all submissions from today against carrier guidelines and generate a report flagging discrepancies",
			[]string{"discrepancies.xlsx", "discrepancies.pdf"},
		},
		{
			"What percentage of extracted fields were edited by a human, per field per day, for June and July, for the Claims Intake workflow?",
			[]string{"edit-rate.xlsx", "edit-rate.png"},
		},
		{
			"How accurate was the extraction by field and workflow for June and July?",
			[]string{"extraction-accuracy.xlsx", "extraction-accuracy.png"},
		},
		{
			"What were submission volumes and turn-around for June and July?",
			[]string{"turnaround.xlsx", "turnaround.png"},
		},
	}
}

// demoAsk asks the demonstration's questions over the public HTTP API, as a person would, and fails unless each turn completed
// and delivered its files.
func demoAsk(ctx context.Context, url, key, out string, std stdio) error {
	client, err := newAskClient(askClientConfig{URL: url, Key: key, HTTP: &http.Client{}})
	if err != nil {
		return err
	}
	for _, q := range demoQuestions() {
		// A file of an earlier demonstration must not pass for one of this.
		for _, name := range q.files {
			if err := os.Remove(filepath.Join(out, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("removing an older file: %w", err)
			}
		}
		fmt.Fprintf(std.Out, "\n> %s\n\n", q.text)
		result, err := ask(ctx, client, askQuestion{Text: q.text, Conversation: uuid.NewString(), Out: out}, newAskPrinter(std.Out, std.Err, time.Now))
		if err != nil {
			return err
		}
		if result.Outcome.Status != journal.Completed {
			return outcomeError{result.Outcome}
		}
		for _, name := range q.files {
			if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
				return fmt.Errorf("the turn completed, but %s was not delivered", name)
			}
		}
	}
	return nil
}
