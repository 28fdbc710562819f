package statement

import "strings"

// A grammar says of each kind of node which fields it has and how each is checked. A node or field that isn't here is
// refused: a newer DuckDB's new syntax is unknown until somebody has thought about it.
//
// The field kinds: expr (or null), exprs, query, stmt (a query with its parameters), table (or null), word (a plain word of a closed
// kind, such as a join type), name, names and aliases (identifiers: they can only select among what is visible, or name it anew), flag, none (must be null or
// empty), and the ones named after the method of walker that checks them.
type grammar map[string]map[string]string

func parseGrammar(text string) grammar {
	g := grammar{}
	for line := range strings.Lines(text) {
		kind, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		fields := map[string]string{"type": "word", "class": "word", "alias": "name", "query_location": "word"}
		for f := range strings.FieldsSeq(rest) {
			name, how, _ := strings.Cut(f, "=")
			fields[name] = how
		}
		for k := range strings.SplitSeq(kind, ",") {
			g[strings.TrimSpace(k)] = fields
		}
	}
	return g
}

const queryGrammar = `
SELECT_NODE: modifiers=modifiers cte_map=ctes select_list=exprs from_table=table where_clause=expr group_expressions=exprs group_sets=word aggregate_handling=word having=expr sample=sample qualify=expr
RECURSIVE_CTE_NODE: modifiers=modifiers cte_map=ctes cte_name=recursive union_all=flag left=query right=recursion aliases=aliases key_targets=unkeyed
SET_OPERATION_NODE: modifiers=modifiers cte_map=ctes setop_type=word left=query right=query setop_all=flag children=queries
`

const tableGrammar = `
EMPTY: sample=none
BASE_TABLE: sample=sample schema_name=unqualified table_name=relation column_name_alias=aliases catalog_name=unqualified at_clause=none
SUBQUERY: sample=sample subquery=stmt column_name_alias=aliases
JOIN: sample=none left=table right=table condition=expr join_type=word ref_type=word using_columns=names delim_flipped=flag duplicate_eliminated_columns=exprs
TABLE_FUNCTION: sample=sample function=tablefunction column_name_alias=aliases with_ordinality=word
EXPRESSION_LIST: sample=none expected_names=aliases expected_types=types values=rows column_name_alias=aliases
SHOW_REF: sample=none table_name=shown query=query show_type=shown catalog_name=unqualified schema_name=unqualified
PIVOT: sample=sample source=table aggregates=exprs unpivot_names=aliases pivots=pivots groups=names column_name_alias=aliases include_nulls=flag
`

const exprGrammar = `
COLUMN_REF: column_names=columns
POSITIONAL_REFERENCE: index=word
VALUE_CONSTANT: value=value
VALUE_PARAMETER: identifier=parameter
STAR: relation_name=name exclude_list=names replace_list=replacements columns=flag expr=expr qualified_exclude_list=word rename_list=renames
FUNCTION: function_name=function schema=word catalog=word children=exprs filter=expr order_bys=modifier distinct=flag is_operator=flag export_state=none
CASE_EXPR: case_checks=cases else_expr=expr
OPERATOR_CAST: child=expr cast_type=datatype try_cast=flag
COLLATE: child=expr collation=collation
SUBQUERY: subquery_type=word subquery=stmt child=expr comparison_type=word
LAMBDA: lhs=expr expr=expr syntax_type=word
COMPARE_EQUAL, COMPARE_NOTEQUAL, COMPARE_LESSTHAN, COMPARE_GREATERTHAN, COMPARE_LESSTHANOREQUALTO, COMPARE_GREATERTHANOREQUALTO, COMPARE_DISTINCT_FROM, COMPARE_NOT_DISTINCT_FROM: left=expr right=expr
COMPARE_BETWEEN: input=expr lower=expr upper=expr
COMPARE_IN, COMPARE_NOT_IN, OPERATOR_NOT, OPERATOR_IS_NULL, OPERATOR_IS_NOT_NULL, OPERATOR_COALESCE, OPERATOR_NULLIF, OPERATOR_TRY, OPERATOR_UNPACK, ARRAY_EXTRACT, ARRAY_SLICE, STRUCT_EXTRACT, ARRAY_CONSTRUCTOR, ARROW, GROUPING_FUNCTION: children=exprs
CONJUNCTION_AND, CONJUNCTION_OR: children=exprs
WINDOW_AGGREGATE, WINDOW_ROW_NUMBER, WINDOW_RANK, WINDOW_RANK_DENSE, WINDOW_DENSE_RANK, WINDOW_NTILE, WINDOW_PERCENT_RANK, WINDOW_CUME_DIST, WINDOW_FIRST_VALUE, WINDOW_LAST_VALUE, WINDOW_LEAD, WINDOW_LAG, WINDOW_NTH_VALUE, WINDOW_FILL: function_name=function schema=word catalog=word children=exprs partitions=exprs orders=orders start=word end=word start_expr=expr end_expr=expr offset_expr=expr default_expr=expr ignore_nulls=flag filter_expr=expr exclude_clause=word distinct=flag arg_orders=orders
`

const modifierGrammar = `
ORDER_MODIFIER: orders=orders
LIMIT_MODIFIER: limit=expr offset=expr
LIMIT_PERCENT_MODIFIER: limit=expr offset=expr
DISTINCT_MODIFIER: distinct_on_targets=exprs
`
