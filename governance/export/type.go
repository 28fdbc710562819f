package export

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// kind is what a DuckDB type means for the formats.
type kind int

const (
	text kind = iota
	boolean
	integer // bits and signed say which
	huge
	float
	double
	decimal
	day
	instant
	bytes
	list
	mapping
	structure
)

// Type is a DuckDB type, read from its name.
type Type struct {
	kind     kind
	bits     int  // of an integer
	unsigned bool // integer
	scale    int  // of a decimal
	width    int  // of a decimal
	nanos    bool // of an instant
	zoned    bool // of an instant
	fields   []string
	children []Type
}

// ParseType reads a type by DuckDB's name of it. A name that it doesn't know is text.
func ParseType(name string) Type {
	name = strings.TrimSpace(name)
	if strings.HasSuffix(name, "]") {
		if i := strings.LastIndexByte(name, '['); i > 0 {
			return Type{kind: list, children: []Type{ParseType(name[:i])}}
		}
	}
	head, inner, nested := strings.Cut(name, "(")
	inner = strings.TrimSuffix(inner, ")")
	switch head = strings.ToUpper(strings.TrimSpace(head)); {
	case head == "DECIMAL" && nested:
		var t Type
		if _, err := fmt.Sscanf(inner, "%d,%d", &t.width, &t.scale); err != nil {
			return Type{}
		}
		t.kind = decimal
		return t
	case head == "MAP" && nested:
		if parts := split(inner); len(parts) == 2 {
			return Type{kind: mapping, children: []Type{ParseType(parts[0]), ParseType(parts[1])}}
		}
	case head == "STRUCT" && nested:
		t := Type{kind: structure}
		for _, part := range split(inner) {
			field, rest := fieldName(strings.TrimSpace(part))
			t.fields, t.children = append(t.fields, field), append(t.children, ParseType(rest))
		}
		return t
	}
	return simple(head)
}

func simple(name string) Type {
	switch name {
	case "BOOLEAN":
		return Type{kind: boolean}
	case "TINYINT":
		return Type{kind: integer, bits: 8}
	case "SMALLINT":
		return Type{kind: integer, bits: 16}
	case "INTEGER":
		return Type{kind: integer, bits: 32}
	case "BIGINT":
		return Type{kind: integer, bits: 64}
	case "UTINYINT":
		return Type{kind: integer, bits: 8, unsigned: true}
	case "USMALLINT":
		return Type{kind: integer, bits: 16, unsigned: true}
	case "UINTEGER":
		return Type{kind: integer, bits: 32, unsigned: true}
	case "UBIGINT":
		return Type{kind: integer, bits: 64, unsigned: true}
	case "HUGEINT", "UHUGEINT":
		return Type{kind: huge, width: 38}
	case "FLOAT":
		return Type{kind: float}
	case "DOUBLE":
		return Type{kind: double}
	case "DATE":
		return Type{kind: day}
	case "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS":
		return Type{kind: instant}
	case "TIMESTAMP_NS":
		return Type{kind: instant, nanos: true}
	case "TIMESTAMP WITH TIME ZONE":
		return Type{kind: instant, zoned: true}
	case "BLOB":
		return Type{kind: bytes}
	}
	return Type{}
}

// split cuts at the commas that stand in no bracket and no quotes.
func split(s string) []string {
	var parts []string
	depth, quoted, start := 0, false, 0
	for i, r := range s {
		switch {
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == '(' || r == '[':
			depth++
		case r == ')' || r == ']':
			depth--
		case r == ',' && depth == 0:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

// fieldName cuts a struct's field into its name and its type.
func fieldName(s string) (name, rest string) {
	if !strings.HasPrefix(s, `"`) {
		name, rest, _ = strings.Cut(s, " ")
		return name, rest
	}
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '"' {
			i++
			continue
		}
		return strings.ReplaceAll(s[1:i], `""`, `"`), s[i+1:]
	}
	return s, ""
}

// JSON returns v, a value of type t, as encoding/json shall write it: numbers of any size as numbers, times as text,
// bytes as base64.
func (t Type) JSON(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return v
	case string:
		if (t.kind == decimal || t.kind == huge || t.kind == integer) && json.Valid([]byte(v)) {
			return json.Number(v)
		}
		return strings.ToValidUTF8(v, "\uFFFD")
	case time.Time:
		return t.time(v)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = t.child(0).JSON(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, e := range v {
			out[key] = t.member(key).JSON(e)
		}
		return out
	default:
		return v
	}
}

// child is the type of what t holds; text where t isn't known to hold anything.
func (t Type) child(i int) Type {
	if i < len(t.children) {
		return t.children[i]
	}
	return Type{}
}

// member is the type of a map's or struct's value.
func (t Type) member(key string) Type {
	if t.kind == mapping {
		return t.child(1)
	}
	for i, f := range t.fields {
		if f == key {
			return t.child(i)
		}
	}
	return Type{}
}

func (t Type) time(v time.Time) string {
	switch {
	case t.kind == day:
		return v.UTC().Format(time.DateOnly)
	case t.zoned:
		return v.UTC().Format("2006-01-02 15:04:05.999999999+00")
	default:
		return v.UTC().Format("2006-01-02 15:04:05.999999999")
	}
}

// Text returns v, which isn't nil, as a CSV cell holds it.
func (t Type) Text(v any) (string, error) {
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			return "", ErrValue
		}
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case time.Time:
		return t.time(v), nil
	case []byte:
		return base64.StdEncoding.EncodeToString(v), nil
	default:
		raw, err := json.Marshal(t.JSON(v))
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrValue, err)
		}
		return string(raw), nil
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
