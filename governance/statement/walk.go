package statement

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"bordereau/governance/fault"
)

// baseMark is set on the nodes that name a relation which is no CTE, for Rewrite to find. The grammar knows no such
// field, so no input can carry it.
const baseMark = "\x00base"

// walker checks one tree and gathers what it touches.
type walker struct {
	words  words
	limits Limits
	out    *Statement

	scopes             []map[string]bool // CTE names in sight, innermost last
	recursive          string            // the name of the CTE whose body is next
	functions, columns map[string]bool
	nodes, selects     int
	depth, lambdas     int
	root               *root // of the expression being walked
	position           int   // of the last node that had one
}

func (w *walker) finish() {
	w.out.Functions = slices.Sorted(maps.Keys(w.functions))
	w.out.Columns = slices.Sorted(maps.Keys(w.columns))
	w.out.Nodes = w.nodes
}

func (w *walker) statement(n map[string]any) error {
	for key, v := range n {
		switch key {
		case "node":
			if err := w.query(v); err != nil {
				return err
			}
		case "named_param_map":
			if !empty(v) {
				return refuse("parameters", w.position, "parameters can't be given values here", "Write the value as a literal.")
			}
		default:
			return w.unknown("statement field " + key)
		}
	}
	return nil
}

func (w *walker) unknown(what string) error {
	return refuse("unknown_syntax", w.position, "this syntax is not allowed ("+what+")", "Write it with ordinary SELECT syntax.")
}

// node opens a node of one of the kinds of g, checks its fields in a fixed order and closes it.
func (w *walker) node(v any, g grammar) error {
	n, ok := v.(map[string]any)
	if !ok {
		return w.unknown("no node")
	}
	if w.nodes++; w.nodes > w.limits.Nodes {
		return &fault.Error{
			Code: fault.TooLarge, Component: component, Rule: "statement_size", Message: "the statement has too many parts",
			Hint: "Split it, or move long lists into a join.",
		}
	}
	if at := location(n); at > 0 {
		w.position = at
	}
	kind, _ := n["type"].(string)
	fields, ok := g[kind]
	if !ok {
		return w.kindRefusal(kind)
	}
	for _, key := range slices.Sorted(maps.Keys(n)) {
		how, ok := fields[key]
		if !ok {
			return w.unknown(kind + "." + key)
		}
		if err := w.field(how, n[key], n); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) kindRefusal(kind string) error {
	switch kind {
	case "RECURSIVE_CTE_NODE":
		return refuse("recursive_cte", w.position, "a recursive CTE with USING KEY is not allowed", "Leave USING KEY out and keep the last row of each key with row_number().")
	case "SHOW_REF":
		return refuse("show", w.position, "SHOW, and DESCRIBE without a relation or query, are not allowed", "describe_data lists relations and columns; DESCRIBE and SUMMARIZE take a relation or a query.")
	}
	return w.unknown(strings.ToLower(kind))
}

func location(n map[string]any) int {
	if num, ok := n["query_location"].(json.Number); ok {
		if at, err := num.Int64(); err == nil {
			return int(at) + 1
		}
	}
	return 0
}

func empty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case []any:
		return len(x) == 0
	case map[string]any:
		return len(x) == 0
	case string:
		return x == ""
	case bool:
		return !x
	}
	return false
}

func word(n map[string]any, key string) string {
	s, _ := n[key].(string)
	return s
}

// query walks a SELECT, VALUES or set operation with its CTEs in sight.
func (w *walker) query(v any) error {
	if w.selects++; w.selects > w.limits.Selects {
		return refuse("select_nesting", w.position, "SELECTs are nested too deeply", "Name the inner ones with WITH and join them.")
	}
	defer func(root *root, depth, lambdas int) {
		w.selects--
		w.root, w.depth, w.lambdas = root, depth, lambdas
	}(w.root, w.depth, w.lambdas)
	w.root, w.depth, w.lambdas = nil, 0, 0
	n, _ := v.(map[string]any)
	scopes := len(w.scopes)
	if err := w.ctes(n["cte_map"]); err != nil {
		return err
	}
	err := w.node(v, w.words.queries)
	w.scopes = w.scopes[:scopes]
	return err
}

// ctes walks the bodies of a WITH. Each sees the ones before it, and itself only in the recursive half of a recursive one.
func (w *walker) ctes(v any) error {
	m, _ := v.(map[string]any)
	list, _ := m["map"].([]any)
	names := map[string]bool{}
	w.scopes = append(w.scopes, names)
	for _, e := range list {
		entry, _ := e.(map[string]any)
		name := strings.ToLower(word(entry, "key"))
		if name == "" || strings.ContainsAny(name, "./\\:'\"") || reserved(name) || names[name] {
			return refuse("cte_name", w.position, "that name is not allowed for a CTE", "Use a plain word.")
		}
		value, ok := entry["value"].(map[string]any)
		if !ok {
			return w.unknown("cte")
		}
		for key, field := range value {
			switch key {
			case "query":
				body, ok := field.(map[string]any)
				if !ok {
					return w.unknown("cte query")
				}
				w.recursive = name
				if err := w.statement(body); err != nil {
					return err
				}
			case "aliases", "materialized":
			case "key_targets":
				if !empty(field) {
					return w.kindRefusal("RECURSIVE_CTE_NODE")
				}
			default:
				return w.unknown("cte field " + key)
			}
		}
		w.renamed(value["aliases"])
		names[name] = true
		w.out.CTEs = append(w.out.CTEs, Relation{Name: name, Position: w.position})
	}
	return nil
}

// reserved names are the ones DuckDB gives catalogue views.
func reserved(name string) bool {
	for _, p := range []string{"duckdb_", "pragma_", "sqlite_", "pg_", "information_schema"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func (w *walker) cteInSight(name string) bool {
	for _, s := range w.scopes {
		if s[name] {
			return true
		}
	}
	return false
}

// expr walks one expression.
func (w *walker) expr(v any) error {
	if v == nil {
		return nil
	}
	n, ok := v.(map[string]any)
	if !ok {
		return w.unknown("no expression")
	}
	kind := word(n, "type")
	whole := w.root
	if whole == nil || strings.HasPrefix(kind, "CONJUNCTION_") || kind == "OPERATOR_NOT" {
		w.root = w.newRoot()
	}
	if alias := word(n, "alias"); alias != "" {
		w.root.names = append(w.root.names, strings.ToLower(alias))
	}
	w.depth++
	arrow := kind == "LAMBDA" || kind == "ARROW"
	if arrow {
		w.lambdas++
	}
	defer func() {
		w.root = whole
		w.depth--
		if arrow {
			w.lambdas--
		}
	}()
	if w.depth > w.limits.Depth {
		return refuse("expression_depth", w.position, "the expression is nested too deeply", "Split it with WITH, or use concat() and lists.")
	}
	if w.lambdas > w.limits.Lambdas {
		return refuse("lambda_nesting", w.position, "lambdas or arrows are nested too deeply", "Split the expression with WITH.")
	}
	switch kind {
	case "STAR":
		w.out.Star = true
	case "CONJUNCTION_AND", "CONJUNCTION_OR", "OPERATOR_NOT":
		// Each side is a predicate of its own.
		children, _ := n["children"].([]any)
		for _, c := range children {
			w.root = nil
			if err := w.expr(c); err != nil {
				return err
			}
		}
		w.root = w.newRoot()
		return w.node(without(n, "children"), w.words.exprs)
	}
	return w.node(n, w.words.exprs)
}

func without(n map[string]any, key string) map[string]any {
	c := maps.Clone(n)
	delete(c, key)
	return c
}
