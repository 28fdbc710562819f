package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"bordereau/tools/guideline"
)

// likeness is how two statements relate, and why.
type likeness struct {
	class string // consistent, benign_variant, conflict; "" when it can't be told
	why   string
}

// words splits into upper-case words of letters and digits; & is AND.
func words(s string) []string {
	s = strings.ReplaceAll(strings.ToUpper(s), "&", " AND ")
	s = strings.NewReplacer(".", "", "'", "", "’", "").Replace(s)
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// legalForms are spellings of the same legal form. Different families are different companies.
var legalForms = map[string]string{
	"LLC": "LLC", "INC": "INC", "INCORPORATED": "INC", "CORP": "CORP", "CORPORATION": "CORP", "CO": "CO", "COMPANY": "CO",
	"LTD": "LTD", "LIMITED": "LTD", "LP": "LP", "LLP": "LLP", "PLLC": "PLLC",
}

func splitForm(s string) (name, form string) {
	w := words(s)
	// "L L C" and "LIMITED LIABILITY COMPANY" are LLC.
	joined := " " + strings.Join(w, " ")
	for _, long := range []string{" LIMITED LIABILITY COMPANY", " L L C"} {
		if rest, ok := strings.CutSuffix(joined, long); ok {
			joined = rest + " LLC"
		}
	}
	w = strings.Fields(joined)
	if len(w) > 1 {
		if f, ok := legalForms[w[len(w)-1]]; ok {
			return strings.Join(w[:len(w)-1], " "), f
		}
	}
	return strings.Join(w, " "), ""
}

// companies compares two names of companies.
func companies(a, b string) likeness {
	if strings.TrimSpace(a) == strings.TrimSpace(b) {
		return likeness{guideline.Consistent, ""}
	}
	an, af := splitForm(a)
	bn, bf := splitForm(b)
	switch {
	case an == bn && af == bf:
		return likeness{guideline.BenignVariant, fmt.Sprintf("%q and %q differ only in case, punctuation or the spelling of the legal form", a, b)}
	case an == bn && (af == "" || bf == ""):
		return likeness{guideline.BenignVariant, fmt.Sprintf("%q and %q differ only in that one leaves out the legal form", a, b)}
	case an == bn:
		return likeness{guideline.Conflict, fmt.Sprintf("%q and %q have different legal forms (%s, %s)", a, b, af, bf)}
	case oneApart(an, bn):
		return likeness{"", fmt.Sprintf("%q and %q differ in one character: a misreading or another company", a, b)}
	}
	return likeness{guideline.Conflict, fmt.Sprintf("%q and %q are different names", a, b)}
}

// oneApart reports whether one changed, added or dropped character makes a into b.
func oneApart(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || len(a) < 6 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i < len(a) && a[i+1:] == b[i+1:]
	}
	return a[i:] == b[i+1:]
}

// Spellings fold only inside a family, and a compass point is never dropped.
var streetWords = map[string]string{
	"STREET": "ST", "AVENUE": "AVE", "AV": "AVE", "ROAD": "RD", "HIGHWAY": "HWY", "BOULEVARD": "BLVD", "DRIVE": "DR", "LANE": "LN",
	"COURT": "CT", "PARKWAY": "PKWY", "PLACE": "PL", "CIRCLE": "CIR", "TERRACE": "TER", "SUITE": "STE", "UNIT": "STE", "BUILDING": "BLDG",
	"NORTH": "N", "SOUTH": "S", "EAST": "E", "WEST": "W", "NORTHEAST": "NE", "NORTHWEST": "NW", "SOUTHEAST": "SE", "SOUTHWEST": "SW",
}

func foldAddress(s string) string {
	w := words(s)
	for i, one := range w {
		if short, ok := streetWords[one]; ok {
			w[i] = short
		}
		if i == len(w)-1 && len(one) == 9 && strings.Trim(one, "0123456789") == "" {
			w[i] = one[:5] // ZIP+4 without its hyphen
		}
	}
	if n := len(w); n >= 2 && len(w[n-1]) == 4 && len(w[n-2]) == 5 && strings.Trim(w[n-1]+w[n-2], "0123456789") == "" {
		w = w[:n-1]
	}
	return strings.Join(w, " ")
}

// addresses compares two postal addresses.
func addresses(a, b string) likeness {
	if strings.TrimSpace(a) == strings.TrimSpace(b) {
		return likeness{guideline.Consistent, ""}
	}
	if foldAddress(a) == foldAddress(b) {
		return likeness{guideline.BenignVariant, fmt.Sprintf("%q and %q differ only in abbreviations, punctuation or ZIP+4", a, b)}
	}
	return likeness{guideline.Conflict, fmt.Sprintf("%q and %q are different addresses", a, b)}
}

func poBox(s string) bool {
	joined := strings.Join(words(s), " ")
	return strings.HasPrefix(joined, "PO BOX") || strings.HasPrefix(joined, "P O BOX") || strings.HasPrefix(joined, "POST OFFICE BOX")
}

// person is a name in parts, folded.
type person struct{ first, middle, last string }

func parsePerson(s string) person {
	if last, first, ok := strings.Cut(s, ","); ok {
		s = first + " " + last
	}
	w := words(s)
	if n := len(w); n > 2 && slices.Contains([]string{"JR", "SR", "II", "III", "IV"}, w[n-1]) {
		w = w[:n-1]
	}
	switch len(w) {
	case 0:
		return person{}
	case 1:
		return person{last: w[0]}
	}
	return person{w[0], strings.Join(w[1:len(w)-1], " "), w[len(w)-1]}
}

// key is the same for names that can be one person's.
func (p person) key() string { return p.first + " " + p.last }

// people says how two names of persons with the same key differ.
func people(a, b string) likeness {
	if strings.TrimSpace(a) == strings.TrimSpace(b) {
		return likeness{guideline.Consistent, ""}
	}
	pa, pb := parsePerson(a), parsePerson(b)
	if pa.key() != pb.key() {
		return likeness{guideline.Conflict, fmt.Sprintf("%q and %q are different names", a, b)}
	}
	if pa.middle == "" || pb.middle == "" || pa.middle[0] == pb.middle[0] && (len(pa.middle) == 1 || len(pb.middle) == 1 || pa.middle == pb.middle) {
		return likeness{guideline.BenignVariant, fmt.Sprintf("%q and %q differ only in order, case or a middle name", a, b)}
	}
	return likeness{guideline.Conflict, fmt.Sprintf("%q and %q have different middle names", a, b)}
}

// digitsOf compares identifiers by their digits, such as FEIN, USDOT and MC numbers.
func digitsOf(what string) func(a, b string) likeness {
	return func(a, b string) likeness {
		if a == b {
			return likeness{guideline.Consistent, ""}
		}
		if onlyDigits(a) == onlyDigits(b) && onlyDigits(a) != "" {
			return likeness{guideline.BenignVariant, "the same digits, written otherwise"}
		}
		return likeness{guideline.Conflict, "different digits in the " + what}
	}
}

func onlyDigits(s string) string {
	return strings.TrimLeft(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s), "0")
}

// licence folds a licence number: letters and digits, without the state in front.
func licence(number, state string) string {
	w := strings.Join(words(number), "")
	if state = strings.ToUpper(strings.TrimSpace(state)); len(state) == 2 && len(w) > 6 {
		w = strings.TrimPrefix(w, state)
	}
	return w
}

func dates(a, b string) likeness {
	if a == b {
		return likeness{guideline.Consistent, ""}
	}
	ta, errA := parseDate(a)
	tb, errB := parseDate(b)
	switch {
	case errA != nil:
		return likeness{"", errA.Error()}
	case errB != nil:
		return likeness{"", errB.Error()}
	case ta.Equal(tb):
		return likeness{guideline.BenignVariant, "the same date, written otherwise"}
	}
	return likeness{guideline.Conflict, fmt.Sprintf("%s and %s are %d days apart", a, b, max(days(ta, tb), days(tb, ta)))}
}

func limits(a, b string) likeness {
	if a == b {
		return likeness{guideline.Consistent, ""}
	}
	na, errA := parseNumber(a)
	nb, errB := parseNumber(b)
	switch {
	case errA != nil:
		return likeness{"", errA.Error()}
	case errB != nil:
		return likeness{"", errB.Error()}
	case na == nb:
		return likeness{guideline.BenignVariant, "the same amount, written otherwise"}
	}
	return likeness{guideline.Conflict, fmt.Sprintf("%s and %s are different amounts", guideline.Quantity(na, guideline.Dollars), guideline.Quantity(nb, guideline.Dollars))}
}

func symbols(a, b string) likeness {
	pa, pb := words(a), words(b)
	slices.Sort(pa)
	slices.Sort(pb)
	switch {
	case a == b:
		return likeness{guideline.Consistent, ""}
	case slices.Equal(pa, pb):
		return likeness{guideline.BenignVariant, "the same symbols in another order"}
	}
	return likeness{guideline.Conflict, fmt.Sprintf("symbols %s and %s differ", a, b)}
}
