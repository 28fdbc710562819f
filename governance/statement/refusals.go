package statement

// functionHint tells how to do without a function that isn't allowed.
func functionHint(name string) string {
	switch name {
	case "repeat", "lpad", "rpad", "printf", "format", "bar":
		return "Use ||, concat, substring or strftime."
	case "error":
		return "Use CASE and give back NULL or a word."
	case "list_resize", "array_resize", "bitstring":
		return "Use list_transform or range."
	case "random", "uuid", "gen_random_uuid", "setseed":
		return "Order by a column or hash(column) so that the answer repeats."
	case "read_csv", "read_csv_auto", "read_text", "read_blob", "read_parquet", "parquet_scan", "read_json", "read_json_auto", "glob", "sniff_csv":
		return "Files can't be read. Query the relations that describe_data lists."
	}
	return "Use another function; ordinary aggregates, string, date, list, struct and window functions are allowed."
}
