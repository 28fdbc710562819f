package main

import (
	"fmt"
	"io"
)

// fault is governance's typed error.
type fault struct {
	Code      string `json:"code"`
	Component string `json:"component"`
	Message   string `json:"message"`
	Hint      string `json:"hint"`
	Rule      string `json:"rule"`
	Position  int    `json:"position"`
	Retryable bool   `json:"retryable"`
	AuditID   string `json:"audit_id"`
}

func (f *fault) Error() string { return f.Code + ": " + f.Message }

func (f *fault) status() int {
	switch f.Code {
	case "auth", "denied", "invalid", "not_found":
		return exitRefused
	case "rate_limited", "timeout", "too_large":
		return exitLimit
	}
	return exitBroken
}

// passing tells whether the same call may go well in a moment.
func (f *fault) passing() bool {
	return f.Code == "unavailable" || f.Retryable && f.status() == exitBroken
}

// print says what happened, where, and what to do, in lines that a person or a model reads.
func (f *fault) print(w io.Writer) {
	fmt.Fprintf(w, "gov: %s: %s", f.Code, f.Message)
	if f.Position > 0 {
		fmt.Fprintf(w, " (at byte %d of the query)", f.Position)
	}
	fmt.Fprintln(w)
	for _, line := range []struct{ label, text string }{
		{"hint", f.Hint}, {"rule", f.Rule}, {"component", f.Component}, {"audit", f.AuditID},
	} {
		if line.text != "" {
			fmt.Fprintf(w, "  %s: %s\n", line.label, line.text)
		}
	}
}

// broken is a failure of the way to governance.
func broken(message, hint string) *fault {
	return &fault{Code: "unavailable", Component: "door", Message: message, Hint: hint, Retryable: true}
}
