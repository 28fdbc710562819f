package schedule

import (
	"errors"
	"fmt"
	"strings"
)

// Kinds of failure.
var (
	ErrNotFound = errors.New("schedule: not found") // also for what belongs to another organisation
	ErrConfig   = errors.New("schedule: incomplete configuration")
	ErrBusy     = errors.New("schedule: a run is under way")
	ErrTaken    = errors.New("schedule: the tick is taken") // by another replica
)

// ProblemError says what is wrong with what a person wrote, and where.
type ProblemError struct {
	Field   string // "cron", "zone", "name", "task", "model", "deliver", …
	Message string
	Hint    string
}

func (e *ProblemError) Error() string { return fmt.Sprintf("%s: %s", e.Message, e.Hint) }

func problem(field, message, hint string) *ProblemError {
	return &ProblemError{Field: field, Message: message, Hint: hint}
}

// short bounds a stranger's words inside a sentence.
func short(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}
