// Package statement reads one SQL statement with DuckDB's own parser and says what it touches, or refuses it.
package statement

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"bordereau/governance/fault"
)

const component = "statement"

// Config is what a Reader needs.
type Config struct {
	Parser Parser
	Limits Limits // zero fields take DefaultLimits'
}

// Limits bound what a statement may be, so that neither DuckDB's parser nor its binder can be driven into the exponential.
type Limits struct {
	Bytes    int // of text
	Brackets int // open at once, counted before the parser sees the text
	Comments int // opened in the text
	Nodes    int // of the syntax tree
	Depth    int // of nested expressions
	Selects  int // of nested SELECTs: scalar subqueries bind in 2^n
	Lambdas  int // of nested lambdas and arrows: 2^n too
}

// DefaultLimits lets TPC-H and TPC-DS through with room to spare.
func DefaultLimits() Limits {
	return Limits{Bytes: 20_000, Brackets: 100, Comments: 200, Nodes: 8_000, Depth: 96, Selects: 8, Lambdas: 5}
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	for _, f := range []struct {
		have *int
		want int
	}{
		{&l.Bytes, d.Bytes},
		{&l.Brackets, d.Brackets},
		{&l.Comments, d.Comments},
		{&l.Nodes, d.Nodes},
		{&l.Depth, d.Depth},
		{&l.Selects, d.Selects},
		{&l.Lambdas, d.Lambdas},
	} {
		if *f.have == 0 {
			*f.have = f.want
		}
	}
	return l
}

// relaxed are the limits of printed text, which has the sources of relations in it and brackets that the asker did not write.
func (l Limits) relaxed() Limits {
	l.Nodes *= 4
	l.Depth += 32
	l.Selects += 4
	return l
}

// Reader reads statements. It is safe for use by several goroutines.
type Reader struct {
	parser Parser
	limits Limits
	words  words
}

// New returns a Reader.
func New(c Config) (*Reader, error) {
	if c.Parser == nil {
		return nil, errors.New("statement: no parser")
	}
	return &Reader{parser: c.Parser, limits: c.Limits.orDefault(), words: newWords()}, nil
}

// Statement is one SELECT whose every node is of a kind that is known to be harmless.
type Statement struct {
	SQL       string
	Relations []Relation // named in FROM and not a CTE, in order of appearance
	CTEs      []Relation // names that WITH defines
	Functions []string   // lower case, sorted
	Columns   []string   // names referred to, lower case, sorted; may be aliases or struct fields
	Star      bool       // *, COLUMNS(…) or a whole row is asked for
	Nodes     int

	tree     map[string]any // the only element of "statements"
	roots    []*root
	aliases  []string // of relations
	renamed  []string // columns by AS t(…), EXCLUDE and the like
	literals []literal
}

// Relation is a name where it stands.
type Relation struct {
	Name     string // lower case
	Position int    // 1-based byte offset, 0 when not known
}

// Leaves returns s without its tree: it can be redacted and decided on, and no longer be rewritten.
func (s *Statement) Leaves() *Statement {
	c := *s
	c.tree = nil
	return &c
}

// RelationNames returns the relations' names, sorted, each once.
func (s *Statement) RelationNames() []string {
	names := make([]string, 0, len(s.Relations))
	for _, r := range s.Relations {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Read parses sql and checks it against the allow-lists. A refusal is a *fault.Error with rule, position and hint.
func (r *Reader) Read(ctx context.Context, sql string) (*Statement, error) {
	if err := r.precheck(sql); err != nil {
		return nil, err
	}
	raw, err := r.parser.Parse(ctx, sql)
	if err != nil {
		return nil, err
	}
	return r.check(sql, raw, r.limits)
}

// check decodes and walks what the parser answered for sql.
func (r *Reader) check(sql string, raw []byte, limits Limits) (*Statement, error) {
	tree, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if tree["error"] == true {
		return nil, parserRefusal(tree)
	}
	list, _ := tree["statements"].([]any)
	if len(list) == 0 {
		return nil, refuse("empty", 0, "there is no statement", "Send one SELECT statement.")
	}
	if len(list) > 1 {
		return nil, refuse("one_statement", 0, "there is more than one statement", "Send one SELECT at a time.")
	}
	top, ok := list[0].(map[string]any)
	if !ok {
		return nil, refuse("unknown_syntax", 0, "the parser's answer is not understood", "")
	}
	s := &Statement{SQL: sql, tree: top}
	w := &walker{words: r.words, limits: limits, out: s, functions: map[string]bool{}, columns: map[string]bool{}}
	if err := w.statement(top); err != nil {
		return nil, err
	}
	w.finish()
	return s, nil
}

// decode reads the parser's JSON, keeping numbers as they stand.
func decode(raw []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var tree map[string]any
	if err := d.Decode(&tree); err != nil {
		return nil, (&fault.Error{Code: fault.Internal, Component: component, Message: "the parser's answer is not JSON"}).Because(err)
	}
	return tree, nil
}

// precheck refuses text that the parser should not even see.
func (r *Reader) precheck(sql string) error {
	switch {
	case len(sql) > r.limits.Bytes:
		return &fault.Error{
			Code: fault.TooLarge, Component: component, Rule: "text_length", Message: "the statement is too long",
			Hint: "Shorten it; move long lists of constants into a condition or a join.",
		}
	case !utf8.ValidString(sql):
		return refuse("text_encoding", 0, "the statement is not valid UTF-8", "Send UTF-8 text.")
	}
	if at := strings.IndexByte(sql, 0); at >= 0 {
		return refuse("text_encoding", at+1, "the statement holds a NUL byte", "Remove it.")
	}
	depth := 0
	for i := range len(sql) {
		switch sql[i] {
		case '(', '[', '{':
			if depth++; depth > r.limits.Brackets {
				return refuse("bracket_depth", i+1, "brackets are nested too deeply", "Split the statement with WITH.")
			}
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
	}
	if strings.Count(sql, "/*") > r.limits.Comments {
		return refuse("comments", strings.Index(sql, "/*")+1, "there are too many comments", "Remove the comments.")
	}
	return nil
}

// refuse is a refusal that the asker can mend.
func refuse(rule string, position int, message, hint string) *fault.Error {
	return &fault.Error{Code: fault.Denied, Component: component, Rule: rule, Position: position, Message: message, Hint: hint}
}

// parserRefusal turns the parser's own error into ours. Its text quotes the statement, nothing else.
func parserRefusal(tree map[string]any) *fault.Error {
	message, _ := tree["error_message"].(string)
	position := 0
	if p, ok := tree["position"].(string); ok {
		position = atoi(p) + 1
	}
	if strings.Contains(message, "Only SELECT statements") {
		return refuse("select_only", position, "only SELECT statements are allowed",
			"Write a SELECT. SET, PRAGMA, CALL, COPY, EXPLAIN and anything that changes data are refused; write PIVOT as PIVOT (… FOR column IN ('a', 'b')).")
	}
	message, _, _ = strings.Cut(message, "\n")
	return &fault.Error{
		Code: fault.Invalid, Component: component, Rule: "syntax", Position: position,
		Message: "the parser says: " + message, Hint: "Correct the SQL; the dialect is DuckDB's.",
	}
}

func atoi(s string) int {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' || n > 1<<30 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
