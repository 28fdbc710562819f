// Package literal writes values into the SQL that the domain tools ask governance to run.
package literal

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrText is returned for text that SQL can't hold.
var ErrText = errors.New("text is not valid UTF-8 or holds a NUL byte")

// placeholder is $1, $2, … in a statement. Statements hold no other dollar sign.
var placeholder = regexp.MustCompile(`\$[0-9]+`)

// Bind replaces each $n of a statement by the literal of the n-th value: a string, an integer, a date
// (time.Time, its UTC day) or nil. It is the only way a value enters the SQL of these tools.
func Bind(statement string, values ...any) (string, error) {
	literals := make([]string, len(values))
	for i, v := range values {
		text, err := quote(v)
		if err != nil {
			return "", fmt.Errorf("value %d: %w", i+1, err)
		}
		literals[i] = text
	}
	var bad error
	bound := placeholder.ReplaceAllStringFunc(statement, func(p string) string {
		n, err := strconv.Atoi(p[1:])
		if err != nil || n < 1 || n > len(literals) {
			bad = fmt.Errorf("no value for %s", p)
			return p
		}
		return literals[n-1]
	})
	return bound, bad
}

// quote is the literal of one value.
func quote(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "NULL", nil
	case string:
		return quoteText(v)
	case int:
		return strconv.Itoa(v), nil
	case time.Time:
		return "DATE '" + v.UTC().Format(time.DateOnly) + "'", nil
	default:
		return "", fmt.Errorf("no literal for %T", v)
	}
}

// quoteText is a string literal. DuckDB reads no escapes between single quotes but the doubled quote.
func quoteText(s string) (string, error) {
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return "", ErrText
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'", nil
}
