package statement

import (
	"strings"
)

func (w *walker) table(v any) error {
	if v == nil {
		return nil
	}
	root := w.root
	w.root = nil
	defer func() { w.root = root }()
	if n, ok := v.(map[string]any); ok {
		if alias := word(n, "alias"); alias != "" {
			w.out.aliases = append(w.out.aliases, strings.ToLower(alias))
		}
	}
	return w.node(v, w.words.tables)
}

func (w *walker) relation(v any, n map[string]any) error {
	name, _ := v.(string)
	name = strings.ToLower(name)
	if w.cteInSight(name) {
		return nil
	}
	if word(n, "schema_name") != "" || word(n, "catalog_name") != "" {
		return w.field("unqualified", "x", n)
	}
	w.out.Relations = append(w.out.Relations, Relation{Name: name, Position: location(n)})
	n[baseMark] = true
	return nil
}

func (w *walker) tableFunction(v any) error {
	f, _ := v.(map[string]any)
	name := strings.ToLower(word(f, "function_name"))
	if !w.words.tableFunctions[name] || word(f, "type") != "FUNCTION" || word(f, "schema") != "" {
		return refuse("table_function", location(f), "the table function "+shown(name)+" is not allowed",
			"Query the relations that describe_data lists; range, generate_series and unnest are allowed.")
	}
	return w.expr(v)
}

// function checks a call's name. Desugared built-ins carry the schema main; s.f(x) parses as a function in schema s.
func (w *walker) function(v any, n map[string]any) error {
	name, _ := v.(string)
	name = strings.ToLower(name)
	if schema := word(n, "schema"); word(n, "catalog") != "" || (schema != "" && schema != "main") {
		return refuse("qualified_function", location(n), "functions are called without schema, and not as methods", "Write function(value).")
	}
	if !w.words.functions[name] {
		return refuse("function", location(n), "the function "+shown(name)+" is not allowed", functionHint(name))
	}
	w.functions[name] = true
	return nil
}

// shown quotes a name for a message, cut to a length that no message minds.
func shown(name string) string {
	if len(name) > 48 {
		name = strings.ToValidUTF8(name[:48], "") + "…"
	}
	return `"` + name + `"`
}

func (w *walker) columnRef(v any) error {
	parts, ok := v.([]any)
	if !ok || len(parts) == 0 {
		return w.unknown("column")
	}
	ref := make([]string, 0, len(parts))
	for _, p := range parts {
		s, ok := p.(string)
		if !ok {
			return w.unknown("column")
		}
		ref = append(ref, strings.ToLower(s))
	}
	if len(ref) == 1 && w.words.unqualified[ref[0]] {
		return refuse("session", w.position, shown(ref[0])+" tells about the server and is not allowed", "Leave it out.")
	}
	for _, s := range ref {
		w.columns[s] = true
	}
	w.root.refs = append(w.root.refs, ref)
	return nil
}

// value checks a constant and remembers where it stands.
func (w *walker) value(v any, n map[string]any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return w.unknown("constant")
	}
	if err := w.constant(m); err != nil {
		return err
	}
	if m["is_null"] != true {
		w.literal(location(n))
	}
	return nil
}

// constant checks a value: its type and its payload, which is data and never syntax.
func (w *walker) constant(m map[string]any) error {
	for key, v := range m {
		switch key {
		case "type":
			if err := w.dataType(v); err != nil {
				return err
			}
		case "is_null", "value":
		default:
			return w.unknown("constant." + key)
		}
	}
	return nil
}

// dataType checks a type by name, whatever it is made of.
func (w *walker) dataType(v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return w.unknown("type")
	}
	id := word(m, "id")
	info, _ := m["type_info"].(map[string]any)
	if id == "UNBOUND" || id == "USER" {
		return w.namedType(info)
	}
	if !w.words.types[strings.ReplaceAll(strings.TrimSuffix(id, " WITH TIME ZONE"), " ", "_")] {
		return w.typeRefusal(id)
	}
	for key, field := range info {
		switch key {
		case "child_type":
			if err := w.dataType(field); err != nil {
				return err
			}
		case "child_types":
			err := w.each(field, func(e any) error {
				pair, _ := e.(map[string]any)
				return w.dataType(pair["second"])
			})
			if err != nil {
				return err
			}
		case "type", "alias", "width", "scale", "size", "collation":
			if err := w.scalar(field); err != nil {
				return err
			}
		case "extension_info":
			if field != nil {
				return w.typeRefusal(id)
			}
		default:
			return w.typeRefusal(id)
		}
	}
	return nil
}

func (w *walker) namedType(info map[string]any) error {
	name := strings.ToUpper(word(info, "name"))
	if word(info, "catalog") != "" || word(info, "schema") != "" || !w.words.types[name] || info["expr"] != nil {
		return w.typeRefusal(name)
	}
	return w.each(info["user_type_modifiers"], func(e any) error {
		m, ok := e.(map[string]any)
		if !ok {
			return w.typeRefusal(name)
		}
		return w.constant(m)
	})
}

func (w *walker) typeRefusal(name string) error {
	return refuse("type", w.position, "the type "+shown(name)+" is not allowed", "Cast to VARCHAR, BIGINT, DOUBLE, DECIMAL, DATE, TIMESTAMP, BOOLEAN or a list, struct or map of them.")
}

// pivots checks the columns of a PIVOT or UNPIVOT; only literal IN lists are known before the data is read.
func (w *walker) pivots(v any) error {
	return w.each(v, func(e any) error {
		m, ok := e.(map[string]any)
		if !ok {
			return w.unknown("pivot")
		}
		w.root = w.newRoot()
		defer func() { w.root = nil }()
		for key, field := range m {
			var err error
			switch key {
			case "pivot_expressions":
				err = w.each(field, w.expr)
			case "unpivot_names":
				w.renamed(field)
			case "entries":
				err = w.each(field, w.pivotEntry)
			case "pivot_enum":
				if !empty(field) {
					err = refuse("pivot_enum", w.position, "PIVOT needs its values written out", "Write FOR column IN ('a', 'b').")
				}
			case "subquery":
				if field != nil {
					err = refuse("pivot_enum", w.position, "PIVOT needs its values written out", "Write FOR column IN ('a', 'b').")
				}
			default:
				err = w.unknown("pivot." + key)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *walker) pivotEntry(e any) error {
	m, ok := e.(map[string]any)
	if !ok {
		return w.unknown("pivot entry")
	}
	for key, field := range m {
		var err error
		switch key {
		case "values":
			err = w.each(field, func(c any) error {
				m, ok := c.(map[string]any)
				if !ok {
					return w.unknown("pivot value")
				}
				w.literal(0)
				return w.constant(m)
			})
		case "star_expr", "expr":
			err = w.expr(field)
		case "alias":
			w.renamed([]any{field})
		default:
			err = w.unknown("pivot entry." + key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
