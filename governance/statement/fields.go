package statement

import (
	"encoding/json"
	"regexp"
	"strings"
)

// plainWord is a name that takes no quotes anywhere.
var plainWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]{0,63}$`)

// engineWord is a word of DuckDB's own, such as a join type or NULLS LAST.
var engineWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_. ]{0,63}$`)

// field checks the value of one field of node n, as the grammar says how.
func (w *walker) field(how string, v any, n map[string]any) error {
	switch how {
	case "word", "flag":
		return w.scalar(v)
	case "name":
		if _, ok := v.(string); !ok && v != nil {
			return w.unknown("name")
		}
		return nil
	case "names", "aliases":
		if how == "aliases" {
			w.renamed(v)
		}
		return w.each(v, func(e any) error {
			if _, ok := e.(string); !ok {
				return w.unknown("names")
			}
			return nil
		})
	case "none":
		if !empty(v) {
			return w.unknown(strings.ToLower(word(n, "type")) + " option")
		}
		return nil
	case "expr":
		return w.expr(v)
	case "exprs":
		return w.each(v, func(e any) error { return w.fresh(e, n) })
	case "rows":
		return w.each(v, func(row any) error { return w.each(row, func(e any) error { return w.fresh(e, n) }) })
	case "query":
		return w.query(v)
	case "shown": // DESCRIBE and SUMMARIZE of a query; what has a name instead tells about the database
		if kind := word(n, "show_type"); word(n, "table_name") != "" || n["query"] == nil || kind != "DESCRIBE" && kind != "SUMMARY" {
			return w.kindRefusal("SHOW_REF")
		}
		return nil
	case "recursive":
		if name, ok := v.(string); !ok || strings.ToLower(name) != w.recursive {
			return w.unknown("recursive CTE")
		}
		return nil
	case "unkeyed":
		if !empty(v) {
			return w.kindRefusal("RECURSIVE_CTE_NODE")
		}
		return nil
	case "recursion": // only here the CTE sees itself
		w.scopes = append(w.scopes, map[string]bool{strings.ToLower(word(n, "cte_name")): true})
		defer func() { w.scopes = w.scopes[:len(w.scopes)-1] }()
		return w.query(v)
	case "queries":
		return w.each(v, w.query)
	case "stmt":
		m, ok := v.(map[string]any)
		if !ok {
			return w.unknown("subquery")
		}
		return w.statement(m)
	case "table":
		return w.table(v)
	case "ctes":
		return nil // walked before the node, so that they are in sight
	case "modifiers":
		return w.each(v, func(m any) error { return w.node(m, w.words.modifiers) })
	case "modifier":
		return w.node(v, w.words.modifiers)
	case "orders":
		return w.orders(v)
	case "cases":
		return w.pairs(v, "when_expr", "then_expr")
	case "replacements":
		return w.pairs(v, "value")
	case "renames":
		return w.each(v, func(e any) error {
			m, _ := e.(map[string]any)
			w.renamed([]any{m["value"]})
			return nil
		})
	case "columns":
		return w.columnRef(v)
	case "value":
		return w.value(v, n)
	case "parameter":
		return refuse("parameters", w.position, "parameters have no value here", "Write the value as a literal.")
	case "relation":
		return w.relation(v, n)
	case "unqualified":
		if !empty(v) {
			return refuse("qualified_relation", w.position, "relations are named without schema or catalogue", "Write just the relation's name.")
		}
		return nil
	case "function":
		return w.function(v, n)
	case "tablefunction":
		return w.tableFunction(v)
	case "datatype":
		return w.dataType(v)
	case "types":
		return w.each(v, w.dataType)
	case "collation":
		if s, ok := v.(string); !ok || !plainWord.MatchString(s) {
			return w.unknown("collation")
		}
		return nil
	case "sample":
		return w.sample(v)
	case "pivots":
		return w.pivots(v)
	}
	return w.unknown(how)
}

func (w *walker) each(v any, f func(any) error) error {
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		return w.unknown("no list")
	}
	for _, e := range list {
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

// fresh walks an expression that stands in a list of its node: an element of a query's list, a row or a conjunction begins a
// predicate of its own, an argument belongs to its function's.
func (w *walker) fresh(v any, n map[string]any) error {
	switch word(n, "type") {
	case "SELECT_NODE", "EXPRESSION_LIST", "DISTINCT_MODIFIER", "PIVOT":
		w.root = nil
		defer func() { w.root = nil }()
	}
	return w.expr(v)
}

// scalar accepts what has no parts; group_sets, the one list of lists of numbers, too.
func (w *walker) scalar(v any) error {
	switch x := v.(type) {
	case nil, bool, json.Number:
		return nil
	case string:
		if x != "" && !engineWord.MatchString(x) {
			return w.unknown("word")
		}
		return nil
	case []any:
		return w.each(x, func(e any) error {
			if m, ok := e.(map[string]any); ok { // qualified names in EXCLUDE
				return w.qualifiedName(m)
			}
			return w.scalar(e)
		})
	}
	return w.unknown("word")
}

func (w *walker) qualifiedName(m map[string]any) error {
	for _, v := range m {
		if _, ok := v.(string); !ok {
			return w.unknown("qualified name")
		}
	}
	return nil
}

func (w *walker) orders(v any) error {
	return w.each(v, func(e any) error {
		m, ok := e.(map[string]any)
		if !ok {
			return w.unknown("order")
		}
		for key, field := range m {
			var err error
			switch key {
			case "expression":
				err = w.expr(field)
			case "type", "null_order":
				err = w.scalar(field)
			default:
				err = w.unknown("order." + key)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// pairs walks a list of small objects; the named keys hold expressions and any other a string.
func (w *walker) pairs(v any, exprs ...string) error {
	return w.each(v, func(e any) error {
		m, ok := e.(map[string]any)
		if !ok {
			return w.unknown("pair")
		}
		seen := 0
		for _, key := range exprs {
			if _, ok := m[key]; ok {
				seen++
				if err := w.expr(m[key]); err != nil {
					return err
				}
			}
		}
		for key, field := range m {
			if _, ok := field.(string); ok && key == "key" {
				seen++
				w.renamed([]any{field})
			}
		}
		if seen != len(m) {
			return w.unknown("pair")
		}
		return nil
	})
}

func (w *walker) sample(v any) error {
	if v == nil {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return w.unknown("sample")
	}
	for key, field := range m {
		switch key {
		case "sample_size":
			if c, ok := field.(map[string]any); !ok || w.constant(c) != nil {
				return w.unknown("sample size")
			}
		case "is_percentage", "method", "seed":
			if err := w.scalar(field); err != nil {
				return err
			}
		default:
			return w.unknown("sample." + key)
		}
	}
	return nil
}
