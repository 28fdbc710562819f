package statement

import (
	"maps"
	"slices"
	"strings"
)

// words are the closed lists that a statement is checked against.
type words struct {
	queries, tables, exprs, modifiers             grammar
	functions, tableFunctions, types, unqualified map[string]bool
}

func newWords() words {
	return words{
		queries: parseGrammar(queryGrammar), tables: parseGrammar(tableGrammar),
		exprs: parseGrammar(exprGrammar), modifiers: parseGrammar(modifierGrammar),
		functions: set(functionNames), tableFunctions: set(tableFunctionNames),
		types: set(typeNames), unqualified: set(sessionNames),
	}
}

func set(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		out[w] = true
	}
	return out
}

// Functions lists the names of the functions that a statement may call, without the operators, sorted.
func Functions() []string {
	all := set(functionNames + " " + tableFunctionNames)
	maps.DeleteFunc(all, func(name string, _ bool) bool { return !letter(name[0]) || strings.HasPrefix(name, "__") })
	return slices.Sorted(maps.Keys(all))
}

// sessionNames read as columns and bind to functions that tell about the server when there is no such column.
const sessionNames = `current_user current_role session_user current_catalog current_schema current_database current_schemas current_query`

const tableFunctionNames = `range generate_series unnest`

// typeNames are the types that a cast may name, DuckDB's own names and the aliases it resolves.
const typeNames = `BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT FLOAT DOUBLE DECIMAL
 VARCHAR CHAR DATE TIME TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS TIMESTAMP_US INTERVAL UUID BLOB LIST STRUCT MAP ARRAY NULL SQLNULL UNKNOWN
 ANY INTEGER_LITERAL STRING_LITERAL JSON TEXT STRING BPCHAR NVARCHAR INT INT1 INT2 INT4 INT8 INT16 INT32 INT64 INT128 LONG SHORT SIGNED
 NUMERIC DEC REAL FLOAT4 FLOAT8 BOOL LOGICAL TIMESTAMPTZ DATETIME TIMETZ BYTEA BINARY VARBINARY UINT8 UINT16 UINT32 UINT64 BIGNUM`

// functionNames are the scalar, aggregate, window and list functions that a statement may call. What is left out on purpose: anything that
// reads settings, catalogues, files or the statement itself; error(), which echoes its argument; and makers of huge values from a
// few bytes of SQL (repeat, lpad, rpad, printf, format, bar, list_resize, bitstring), which no memory limit counts.
const functionNames = `
 + - * / // % ** ^ @ || ~~ !~~ ~~* !~~* ~~~ !~~~ ^@ ->> & | ~ << >> ! && <-> <=> @> <@ =
 like_escape not_like_escape ilike_escape not_ilike_escape similar_to_escape not_similar_to_escape regexp_full_match
 abs ceil ceiling floor round round_even roundbankers sign signbit sqrt cbrt ln log log2 log10 exp pow power mod fdiv fmod divide multiply add subtract
 greatest least isnan isfinite isinf trunc even gcd lcm greatest_common_divisor least_common_multiple factorial degrees radians pi
 sin cos tan asin acos atan atan2 cot sinh cosh tanh bit_count xor nextafter gamma lgamma equi_width_bins
 sum sum_no_overflow avg mean count count_star count_if countif min max median mode quantile quantile_cont quantile_disc approx_quantile approx_count_distinct
 approx_top_k reservoir_quantile stddev stddev_pop stddev_samp variance var_pop var_samp
 corr covar_pop covar_samp regr_slope regr_intercept regr_r2 regr_count regr_avgx regr_avgy regr_sxx regr_syy regr_sxy skewness kurtosis kurtosis_pop entropy mad
 any_value first last arbitrary arg_max arg_min argmax argmin max_by min_by arg_max_null arg_min_null bool_and bool_or bit_and bit_or bit_xor
 string_agg group_concat listagg list array_agg histogram product fsum sumkahan favg kahan_sum sem geomean geometric_mean weighted_avg wavg
 row_number rank dense_rank rank_dense percent_rank cume_dist ntile lag lead first_value last_value nth_value fill
 lower upper lcase ucase length len strlen char_length character_length length_grapheme trim ltrim rtrim substring substr substring_grapheme left right
 left_grapheme right_grapheme replace concat concat_ws contains starts_with ends_with prefix suffix position strpos instr
 split_part string_split str_split string_to_array string_split_regex str_split_regex regexp_split_to_array split reverse overlay
 regexp_matches regexp_extract regexp_extract_all regexp_replace regexp_escape strip_accents nfc_normalize ascii ord unicode chr
 levenshtein editdist3 damerau_levenshtein jaccard jaro_similarity jaro_winkler_similarity hamming mismatches translate initcap
 parse_filename parse_path parse_dirname to_base64 base64 from_base64 hex to_hex unhex from_hex bin to_binary encode decode url_encode url_decode
 format_bytes formatreadablesize md5 sha1 sha256 hash
 date_trunc datetrunc date_part datepart date_diff datediff date_sub datesub date_add age year month day quarter week weekofyear weekday dayofweek isodow
 dayofmonth dayofyear dayname monthname hour minute second millisecond microsecond decade century millennium era epoch epoch_ms epoch_us epoch_ns last_day
 julian yearweek isoyear timezone timezone_hour timezone_minute
 make_date make_time make_timestamp make_timestamptz to_timestamp strftime strptime try_strptime time_bucket to_days to_months to_years to_weeks to_hours
 to_minutes to_seconds to_milliseconds to_microseconds to_quarters to_decades to_centuries to_millennia normalized_interval
 today now current_date get_current_timestamp current_timestamp current_localtimestamp current_localtime get_current_time transaction_timestamp
 coalesce ifnull nullif typeof if try_cast isnull
 list_value list_pack array_value list_contains list_has array_has array_contains list_has_all list_has_any array_has_all array_has_any
 list_transform list_apply apply array_apply array_transform list_filter filter array_filter list_reduce reduce array_reduce list_sort array_sort
 list_reverse_sort array_reverse_sort list_distinct array_distinct list_sum list_avg list_min list_max list_count list_median list_mode list_stddev_pop
 list_var_pop list_first list_last list_any_value list_bool_and list_bool_or list_string_agg list_product list_approx_count_distinct
 list_aggregate list_aggr array_aggregate aggregate array_aggr list_unique array_unique list_concat list_cat array_concat array_cat list_append array_append
 array_push_back list_prepend array_prepend array_push_front list_position list_indexof array_position array_indexof list_extract list_element array_extract
 list_slice array_slice list_zip array_zip list_reverse array_reverse list_where array_where list_select array_select list_grade_up array_grade_up
 list_intersect array_intersect flatten array_length cardinality array_to_string array_to_string_comma_default list_cosine_similarity list_distance
 generate_subscripts unnest unlist range generate_series
 struct_pack struct_extract struct_extract_at struct_insert struct_update struct_keys struct_values struct_concat row
 map map_extract map_extract_value map_keys map_values map_entries map_from_entries map_contains map_contains_entry map_contains_value map_concat element_at
 json_extract json_extract_string json_extract_path json_extract_path_text json_value json_exists json_contains json_type json_valid json_keys
 json_array_length json_structure json_object json_array json_quote to_json array_to_json row_to_json json_group_array json_group_object
 grouping grouping_id alias can_cast_implicitly uuid_extract_version`
