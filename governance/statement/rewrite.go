package statement

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"bordereau/governance/fault"
)

// Source is what stands for a relation when a statement is run: the relation without its hidden columns and filtered rows.
type Source struct {
	subquery map[string]any
}

// Source builds the source of a relation: hidden columns left out, rows kept where filter (SQL, "" for all) is true. The filter
// passes the same checks as any statement and may name no other relation than allowed.
func (r *Reader) Source(ctx context.Context, relation string, hidden []string, filter string, allowed func(string) bool) (*Source, error) {
	sql := "SELECT *"
	if len(hidden) > 0 {
		quoted := make([]string, len(hidden))
		for i, h := range hidden {
			quoted[i] = Quote(h)
		}
		sql += " EXCLUDE (" + strings.Join(quoted, ", ") + ")"
	}
	sql += " FROM " + Quote(relation)
	if filter != "" {
		sql += " WHERE (" + filter + "\n)"
	}
	s, err := r.Read(ctx, sql)
	if err != nil {
		return nil, err
	}
	for _, n := range s.Relations {
		if !allowed(n.Name) {
			return nil, refuse("relation", 0, "the filter names "+shown(n.Name)+", which is no relation", "")
		}
	}
	node, _ := s.tree["node"].(map[string]any)
	for _, key := range []string{"modifiers", "group_expressions", "having", "qualify"} {
		if !empty(node[key]) { // "true) ORDER BY (1" and its like
			return nil, refuse("row_filter", 0, "a row filter is one condition", "Write just what stands after WHERE.")
		}
	}
	if word(node, "type") != "SELECT_NODE" {
		return nil, refuse("row_filter", 0, "a row filter is one condition", "Write just what stands after WHERE.")
	}
	subquery, _ := clone(s.tree, nil).(map[string]any)
	return &Source{subquery: subquery}, nil
}

// Quote returns a name as a quoted identifier.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Rewrite returns the text to run: each relation of sources replaced by its source, and at most maxRows+1 rows. The text has been
// parsed again, and means exactly the tree that was checked and rewritten.
func (r *Reader) Rewrite(ctx context.Context, s *Statement, sources map[string]*Source, maxRows int) (*Statement, error) {
	tree, _ := clone(s.tree, sources).(map[string]any)
	node, _ := tree["node"].(map[string]any)
	tree["node"] = bound(node, maxRows+1)
	raw, err := json.Marshal(map[string]any{"error": false, "statements": []any{tree}})
	if err != nil {
		return nil, (&fault.Error{Code: fault.Internal, Component: component, Message: "the rewritten statement can't be encoded"}).Because(err)
	}
	sql, again, err := r.parser.Print(ctx, raw)
	if err != nil {
		return nil, err
	}
	printed, err := r.check(sql, again, r.limits.relaxed())
	if err != nil {
		return nil, differs(err)
	}
	if !sameTree(tree, printed.tree) {
		return nil, differs(nil)
	}
	return printed, nil
}

// differs refuses a statement whose printed form isn't what was checked. It is never the asker's fault, unless they attack.
func differs(cause error) *fault.Error {
	return refuse("reprint", 0, "the statement does not survive printing and reading again",
		"Write it more plainly: plain names, no unusual quoting.").Because(cause)
}

// bound limits a query to n rows.
func bound(node map[string]any, n int) map[string]any {
	limit := map[string]any{
		"class": "CONSTANT", "type": "VALUE_CONSTANT", "alias": "", "query_location": json.Number("0"),
		"value": map[string]any{
			"type": map[string]any{"id": "INTEGER", "type_info": nil}, "is_null": false, "value": json.Number(strconv.Itoa(n)),
		},
	}
	modifiers, _ := node["modifiers"].([]any)
	if from, _ := node["from_table"].(map[string]any); word(from, "type") == "SHOW_REF" {
		return wrap(node, limit) // DESCRIBE and SUMMARIZE take no LIMIT of their own
	}
	for _, m := range modifiers {
		mod, _ := m.(map[string]any)
		switch word(mod, "type") {
		case "LIMIT_PERCENT_MODIFIER":
			return wrap(node, limit)
		case "LIMIT_MODIFIER":
			if mod["limit"] == nil {
				mod["limit"] = limit
				return node
			}
			have, ok := constantInt(mod["limit"])
			if !ok {
				return wrap(node, limit)
			}
			if have > int64(n) {
				mod["limit"] = limit
			}
			return node
		}
	}
	node["modifiers"] = append(slices.Clone(modifiers), map[string]any{"type": "LIMIT_MODIFIER", "limit": limit, "offset": nil})
	return node
}

func constantInt(v any) (int64, bool) {
	m, _ := v.(map[string]any)
	value, _ := m["value"].(map[string]any)
	num, ok := value["value"].(json.Number)
	if word(m, "type") != "VALUE_CONSTANT" || !ok || value["is_null"] == true {
		return 0, false
	}
	if id := word(value["type"].(map[string]any), "id"); id != "INTEGER" && id != "BIGINT" {
		return 0, false
	}
	n, err := num.Int64()
	return n, err == nil && n >= 0
}

// wrap makes SELECT * FROM (node) AS bounded LIMIT limit.
func wrap(node, limit map[string]any) map[string]any {
	return map[string]any{
		"type":      "SELECT_NODE",
		"modifiers": []any{map[string]any{"type": "LIMIT_MODIFIER", "limit": limit, "offset": nil}},
		"cte_map":   map[string]any{"map": []any{}},
		"select_list": []any{map[string]any{
			"class": "STAR", "type": "STAR", "alias": "", "query_location": json.Number("0"), "relation_name": "", "exclude_list": []any{},
			"replace_list": []any{}, "columns": false, "expr": nil, "qualified_exclude_list": []any{}, "rename_list": []any{},
		}},
		"from_table": map[string]any{
			"type": "SUBQUERY", "alias": "bounded", "sample": nil, "query_location": json.Number("0"),
			"subquery": map[string]any{"node": node, "named_param_map": []any{}}, "column_name_alias": []any{},
		},
		"where_clause": nil, "group_expressions": []any{}, "group_sets": []any{}, "aggregate_handling": "STANDARD_HANDLING",
		"having": nil, "sample": nil, "qualify": nil,
	}
}

// clone copies a tree without marks; relations that have a source become it.
func clone(v any, sources map[string]*Source) any {
	switch x := v.(type) {
	case map[string]any:
		if x[baseMark] == true {
			if s := sources[strings.ToLower(word(x, "table_name"))]; s != nil {
				return substitute(x, s)
			}
		}
		if d := double(x); d != nil {
			return d
		}
		out := make(map[string]any, len(x))
		for k, e := range x {
			if k != baseMark {
				out[k] = clone(e, sources)
			}
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = clone(e, sources)
		}
		return out
	}
	return v
}

// double writes a constant such as 1e9 as a cast, since DuckDB prints 1000000000.0, which reads as a DECIMAL.
func double(n map[string]any) map[string]any {
	value, _ := n["value"].(map[string]any)
	kind, _ := value["type"].(map[string]any)
	num, ok := value["value"].(json.Number)
	if word(n, "type") != "VALUE_CONSTANT" || word(kind, "id") != "DOUBLE" || !ok {
		return nil
	}
	return map[string]any{
		"class": "CAST", "type": "OPERATOR_CAST", "alias": n["alias"], "query_location": n["query_location"], "try_cast": false,
		"cast_type": map[string]any{"id": "DOUBLE", "type_info": nil},
		"child": map[string]any{
			"class": "CONSTANT", "type": "VALUE_CONSTANT", "alias": "", "query_location": n["query_location"],
			"value": map[string]any{"type": map[string]any{"id": "VARCHAR", "type_info": nil}, "is_null": false, "value": num.String()},
		},
	}
}

// substitute makes (source) AS alias of a relation's node, so that what names the relation goes on naming it.
func substitute(n map[string]any, s *Source) map[string]any {
	alias := word(n, "alias")
	if alias == "" {
		alias = word(n, "table_name")
	}
	out := maps.Clone(s.subquery)
	return map[string]any{
		"type": "SUBQUERY", "alias": alias, "sample": n["sample"], "query_location": n["query_location"],
		"subquery": clone(out, nil), "column_name_alias": n["column_name_alias"],
	}
}

// valuesInside returns the VALUES of (SELECT * FROM (VALUES …) AS alias) AS alias, which is how DuckDB prints (VALUES …) AS alias. Anything
// else comes back as it is.
func valuesInside(subquery map[string]any) map[string]any {
	stmt, _ := subquery["subquery"].(map[string]any)
	node, _ := stmt["node"].(map[string]any)
	from, _ := node["from_table"].(map[string]any)
	list, _ := node["select_list"].([]any)
	if word(from, "type") != "EXPRESSION_LIST" || len(list) != 1 || !empty(subquery["column_name_alias"]) || !empty(subquery["sample"]) {
		return subquery
	}
	wrapped := wrap(nil, nil)
	wrapped["modifiers"], wrapped["from_table"] = []any{}, from
	if word(from, "alias") != word(subquery, "alias") || !sameTree(wrapped, node) {
		return subquery
	}
	return from
}

// sameTree compares two trees apart from where things stand in the text. A missing, null, empty or false field is the same.
func sameTree(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return empty(a) && empty(b)
		}
		if word(x, "type") == "EXPRESSION_LIST" && word(y, "type") == "SUBQUERY" {
			y = valuesInside(y)
		}
		for k, v := range x {
			if k != "query_location" && k != baseMark && !sameTree(v, y[k]) {
				return false
			}
		}
		for k, v := range y {
			if _, ok := x[k]; !ok && k != "query_location" && k != baseMark && !empty(v) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return empty(a) && empty(b)
		}
		for i := range x {
			if !sameTree(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	if empty(a) && empty(b) {
		return true
	}
	return a == b
}
