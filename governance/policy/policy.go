// Package policy decides whether a role may run a statement, on which columns and rows, masked how, and how much of it.
package policy

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

//go:embed default.yaml
var defaultYAML []byte

//go:embed policy.schema.json
var schemaJSON []byte

// Schema returns the JSON schema of a policy file.
func Schema() []byte { return slices.Clone(schemaJSON) }

// The masking profiles: variants of a generation.
const (
	Standard = "standard"
	Full     = "full"
)

// Policy is a checked policy file.
type Policy struct {
	Profiles  map[string]Profile
	Roles     map[string]Role
	Budgets   Budgets
	Catalogue Catalogue
}

// Mask says what is left of a field: one of the masks, or last4+token, or year+token.
type Mask string

// The masks.
const (
	Last4 Mask = "last4"
	Year  Mask = "year"
	Token Mask = "token"
	Null  Mask = "null"

	joins = "+"
)

// Profile is what one variant of a generation masks, by field name.
type Profile struct {
	Mask map[string]Mask
}

// Masks are a profile's by field, as a dataset.Store puts them in force.
func (p Profile) Masks() map[string]string {
	out := map[string]string{}
	for field, mask := range p.Mask {
		out[field] = string(mask)
	}
	return out
}

// Role is what people in a role may do.
type Role struct {
	Name      string
	Profile   string
	Limits    Limits
	Relations []string            // nil: all
	Hidden    map[string][]string // columns by relation
	Rows      map[string]Filter   // by relation
}

// Filter is a condition in SQL.
type Filter struct {
	SQL  string
	Line int // of the file
}

// Limits bound one statement.
type Limits struct {
	Rows   int
	Bytes  int64
	Time   time.Duration
	Memory int64
}

// Budget bounds what many statements spend.
type Budget struct {
	Queries int64
	Run     time.Duration
	Bytes   int64
}

// Budgets are a turn's in all, a person's and an organisation's in a day.
type Budgets struct{ Turn, Person, Organisation Budget }

// Default returns the policy that is built in.
func Default(c Catalogue) (*Policy, error) { return Parse("built-in policy", defaultYAML, c) }

// Load reads a policy file; path "" means the built-in one.
func Load(path string, c Catalogue) (*Policy, error) {
	if path == "" {
		return Default(c)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return Parse(path, raw, c)
}

// Problem is one thing that is wrong with a file.
type Problem struct {
	Line    int
	Message string
}

// InvalidError lists all that is wrong with a file.
type InvalidError struct {
	File     string
	Problems []Problem
}

func (e *InvalidError) Error() string {
	errs := make([]error, 0, len(e.Problems))
	for _, p := range e.Problems {
		errs = append(errs, fmt.Errorf("%s:%d: %s", e.File, p.Line, p.Message))
	}
	return errors.Join(errs...).Error()
}
