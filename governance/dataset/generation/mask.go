package generation

import (
	"context"
	"fmt"
	"strings"
	"unicode"
)

// Class says which mask a field's values get.
type Class int

// The classes.
const (
	Open Class = iota // only what looks like an SSN, FEIN or birth date inside the text is masked
	SSN
	FEIN
	Licence
	BirthDate
)

// ClassOf tells the class of a field by its name, however it is written: ssn, SSN, Driver_LicenseNumberIdentifier_A, driversLicenseNo, taxID.
func ClassOf(field string) Class {
	words := splitWords(field)
	joined := strings.Join(words, " ")
	has := func(phrases ...string) bool {
		for _, p := range phrases {
			if strings.Contains(" "+joined+" ", " "+p+" ") {
				return true
			}
		}
		return false
	}
	switch {
	case has("dob", "d o b", "birth date", "birthdate", "date birth", "date of birth", "birthday", "born", "birth day", "dateofbirth", "date ofbirth"):
		return BirthDate
	case has("ssn", "social", "social security", "socialsecurity", "sin", "ssan", "itin"):
		return SSN
	case has("fein", "ein", "feid", "tin", "taxid", "tax id", "tax identifier", "tax identification",
		"tax payer id", "taxpayer id", "taxpayer identification", "employer id", "employer identification", "federal id", "federal tax"):
		return FEIN
	case has("dl", "cdl", "dln", "oln") && (has("no", "num", "number", "id", "identifier", "nbr") || len(words) == 1):
		return Licence
	case has("license", "licence", "lic", "licenses", "licences", "licensed", "licensenumber", "licencenumber", "licenseno", "licenceno"):
		// The state, class, status and dates of a licence are no secret.
		if has("state", "class", "status", "type", "province", "expiry", "expiration", "date", "year", "years", "count", "endorsements", "restrictions", "plate") {
			return Open
		}
		return Licence
	}
	return Open
}

// splitWords cuts a name at anything that is no letter or digit and where a lower-case letter meets an upper-case one.
func splitWords(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(runes[i-1])):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return words
}

// Patterns in free text. Digits are those of any script, dashes those of any typesetter.
const (
	dash        = `[-‐‑‒–—−－./ ]`
	patternSSN  = `(^|[^\p{Nd}])\p{Nd}{3}\s?` + dash + `\s?\p{Nd}{2}\s?` + dash + `\s?(\p{Nd}{4})`
	patternID   = `(?i)(\bssn\b|social security|\bss ?#|\bfein\b|\bein\b|tax ?id)([^\p{Nd}]{0,24})\p{Nd}{2}-?\p{Nd}{3}(\p{Nd}{4})`
	patternBorn = `(?i)(\bdob\b|\bd\.o\.b\.|date of birth|birth ?date|\bborn\b)([^\p{Nd}]{0,16})\p{Nd}{1,2}[-/. ]\p{Nd}{1,2}[-/. ](\p{Nd}{4})`
	patternISO  = `(?i)(\bdob\b|\bd\.o\.b\.|date of birth|birth ?date|\bborn\b)([^\p{Nd}]{0,16})(\p{Nd}{4})-\p{Nd}{1,2}-\p{Nd}{1,2}`
	patternAny  = `\p{Nd}{4}` // what all of them need, and the cheapest to look for
)

// shown is what a mask leaves of a value; nothing at all is NULL.
type shown struct {
	part  bool // the last four characters, of a birth date the year
	token bool // that joins
}

// BuiltIn is how the standard profile masks unless a policy says otherwise: by field, what is left of a value.
func BuiltIn() map[string]string {
	return map[string]string{"ssn": "last4+token", "fein": "last4+token", "license_number": "last4+token", "date_of_birth": "year+token"}
}

// ReadMasks tells what masks leave of each class. A class that they don't name is masked as it is built in: none is ever open.
func ReadMasks(masks map[string]string) (map[Class]shown, error) {
	all, out := BuiltIn(), map[Class]shown{}
	for field, mask := range masks {
		if all[field] == "" {
			return nil, fmt.Errorf("there is no mask for %q", field)
		}
		all[field] = mask
	}
	for class, field := range map[Class]string{SSN: "ssn", FEIN: "fein", Licence: "license_number", BirthDate: "date_of_birth"} {
		part := "last4"
		if class == BirthDate {
			part = "year"
		}
		switch all[field] {
		case part + "+token":
			out[class] = shown{part: true, token: true}
		case part:
			out[class] = shown{part: true}
		case "token":
			out[class] = shown{token: true}
		case "null":
			out[class] = shown{}
		default:
			return nil, fmt.Errorf("%s can't be masked as %q", field, all[field])
		}
	}
	return out, nil
}

// macros are those of the standard profile. The key is in the builder's memory only.
func macros(key []byte, masks map[Class]shown) []string {
	inner, outer := make([]byte, 64), make([]byte, 64)
	copy(inner, key)
	copy(outer, key)
	for i := range inner {
		inner[i] ^= 0x36
		outer[i] ^= 0x5c
	}
	all := []string{
		fmt.Sprintf(`CREATE OR REPLACE MACRO token(v) AS left(sha256(%s || unhex(sha256(%s || encode(v)))), 16)`, blob(outer), blob(inner)),
		`CREATE OR REPLACE MACRO bare(v) AS upper(regexp_replace(v, '[^\p{L}\p{N}]', '', 'g'))`,
		`CREATE OR REPLACE MACRO scrub(v) AS CASE WHEN NOT regexp_matches(v, '` + patternAny + `') THEN v ELSE
			regexp_replace(regexp_replace(regexp_replace(regexp_replace(v,
			'` + patternSSN + `', '\1***-**-` + either(masks[SSN].part, `\2`, `****`) + `', 'g'),
			'` + patternID + `', '\1\2*****` + either(masks[SSN].part && masks[FEIN].part, `\3`, `****`) + `', 'g'),
			'` + patternBorn + `', '\1\2**/**/` + either(masks[BirthDate].part, `\3`, `****`) + `', 'g'),
			'` + patternISO + `', '\1\2` + either(masks[BirthDate].part, `\3`, `****`) + `-**-**', 'g') END`,
	}
	for class, name := range map[Class]string{SSN: "mask_ssn", FEIN: "mask_fein", Licence: "mask_licence"} {
		all = append(all, "CREATE OR REPLACE MACRO "+name+"(v) AS "+maskID(masks[class]))
	}
	return append(all, "CREATE OR REPLACE MACRO mask_birth(v) AS "+maskBirth(masks[BirthDate]))
}

func maskID(m shown) string {
	if m == (shown{}) {
		return "NULL::VARCHAR"
	}
	left := "'***'"
	if m.part {
		left += " || CASE WHEN length(bare(v)) >= 8 THEN right(bare(v), 4) ELSE '' END"
	}
	if m.token {
		left += " || '~' || token(bare(v))"
	}
	return "CASE WHEN trim(v) = '' THEN v WHEN bare(v) = '' THEN '***' ELSE " + left + " END"
}

func maskBirth(m shown) string {
	if m == (shown{}) {
		return "NULL::VARCHAR"
	}
	date, other := "'****'", "'****'"
	if m.part {
		date = "strftime(as_date(v), '%Y') || '-**-**'"
	}
	if m.token {
		date += " || '~' || token(strftime(as_date(v), '%Y-%m-%d'))"
		other += " || '~' || token(bare(v))"
	}
	return "CASE WHEN trim(v) = '' THEN v WHEN as_date(v) IS NULL THEN " + other + " ELSE " + date + " END"
}

func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func blob(b []byte) string {
	var s strings.Builder
	s.WriteByte('\'')
	for _, c := range b {
		fmt.Fprintf(&s, `\x%02X`, c)
	}
	s.WriteString("'::BLOB")
	return s.String()
}

// maskFields makes the macro mask_field(name, value) for the field names that occur in what is built.
func (b *build) maskFields(ctx context.Context) error {
	rows, err := b.conn.QueryContext(ctx, `SELECT DISTINCT name FROM (SELECT field_name AS name FROM n_extracted_fields UNION ALL SELECT field_name FROM n_field_edits
		UNION ALL SELECT unnest(map_keys(cells)) FROM n_extracted_rows)`)
	if err != nil {
		return fmt.Errorf("listing field names: %w", err)
	}
	defer rows.Close()
	lists := map[Class][]string{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		c := ClassOf(name)
		lists[c] = append(lists[c], literal(name))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	// Only what is needed goes in: every pattern costs some milliseconds to compile in each statement that has it.
	var cases strings.Builder
	for class, macro := range map[Class]string{SSN: "mask_ssn", FEIN: "mask_fein", Licence: "mask_licence", BirthDate: "mask_birth"} {
		if len(lists[class]) > 0 {
			fmt.Fprintf(&cases, " WHEN name IN (%s) THEN %s(v)", strings.Join(lists[class], ","), macro)
		}
	}
	if err := b.exec(ctx, "CREATE OR REPLACE MACRO mask_field(name, v) AS CASE WHEN v IS NULL THEN NULL"+cases.String()+" ELSE scrub(v) END"); err != nil {
		return err
	}
	return b.exec(ctx, `CREATE OR REPLACE TABLE m_rows AS SELECT row_id, map_from_entries(list_transform(map_entries(cells), lambda e: {'key': e.key, 'value': mask_field(e.key, e.value)})) AS cells
		FROM n_extracted_rows`)
}

// maskedSelect is the query that gives a relation's new rows as the standard profile shows them. What comes from cells is masked
// once, in m_rows: a typed column holds the same text as its cell.
func maskedSelect(r relation, masks map[Class]shown) string {
	parts := make([]string, len(r.columns))
	for i, c := range r.columns {
		q := "n." + ident(c.name)
		switch {
		case c.name == "cells":
			q = "m.cells"
		case c.name == "original_value":
			q = "n.masked"
		case c.name == "value": // most fields were never edited
			q = "CASE WHEN n.value IS NOT DISTINCT FROM n.original_value THEN n.masked ELSE mask_field(n.field_name, n.value) END"
		case c.name == "from_value" || c.name == "to_value":
			q = "mask_field(n.field_name, " + q + ")"
		case c.name == "date_of_birth":
			q = either(masks[BirthDate].part, "date_trunc('year', "+q+")::DATE", "NULL::DATE")
		case r.cells && i >= headColumns && c.typ == "VARCHAR":
			q = "m.cells[" + literal(c.name) + "]"
		case c.free:
			q = "scrub(" + q + ")"
		}
		parts[i] = q
	}
	from := " FROM n_" + r.name + " n"
	switch {
	case r.cells || r.name == "extracted_rows":
		from += " JOIN m_rows m USING (row_id)"
	case r.name == "extracted_fields":
		from = " FROM (SELECT *, mask_field(field_name, original_value) AS masked FROM n_extracted_fields) n"
	}
	return "SELECT " + strings.Join(parts, ", ") + from + inOrder(r)
}

// inOrder keeps the rows in the order of the file where a join might not.
func inOrder(r relation) string {
	if !r.cells && r.name != "extracted_rows" {
		return ""
	}
	parts := strings.Split(r.order, ", ")
	for i, p := range parts {
		parts[i] = "n." + p
	}
	return " ORDER BY " + strings.Join(parts, ", ")
}
