package reconcile

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"bordereau/tools/guideline"
)

var dateForms = []string{time.DateOnly, "01/02/2006", "1/2/2006", "01/02/06", "1/2/06", "January 2, 2006", "Jan 2, 2006", "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05", "02-Jan-2006"}

// parseDate reads a date as American forms write it.
func parseDate(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	for _, form := range dateForms {
		if t, err := time.Parse(form, s); err == nil {
			return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q can't be read as a date", s)
}

var (
	number    = regexp.MustCompile(`^\(?-?\$?\s*\d[\d,]*(\.\d+)?\)?\s*(%|lbs?|miles|mi|years?|yrs?|CSL|M|K)?\.?$`)
	ambiguous = regexp.MustCompile(`(?i)^[a-z -]+\((\d+)\)$`)
	wordValue = map[string]float64{
		"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
		"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "none": 0, "zero": 0,
	}
)

// parseNumber reads an amount, a count or a percentage. "twelve (13)" contradicts itself and is no number.
func parseNumber(s string) (float64, error) {
	s = strings.TrimSpace(s)
	if m := ambiguous.FindStringSubmatch(s); m != nil {
		word := strings.ToLower(strings.TrimSpace(s[:strings.IndexByte(s, '(')]))
		n, _ := strconv.ParseFloat(m[1], 64)
		if v, ok := wordValue[word]; ok && v == n {
			return n, nil
		}
		return 0, fmt.Errorf("%q says two different numbers", s)
	}
	if v, ok := wordValue[strings.ToLower(s)]; ok {
		return v, nil
	}
	if !number.MatchString(s) {
		return 0, fmt.Errorf("%q can't be read as a number", s)
	}
	negative := strings.HasPrefix(s, "-") || strings.HasPrefix(s, "(")
	times := 1.0
	if strings.HasSuffix(s, "M") {
		times = 1e6
	} else if strings.HasSuffix(s, "K") {
		times = 1e3
	}
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return -1
	}, s)
	n, err := strconv.ParseFloat(strings.TrimSuffix(digits, "."), 64)
	if err != nil {
		return 0, fmt.Errorf("%q can't be read as a number", s)
	}
	if negative {
		n = -n
	}
	return n * times, nil
}

// units of the fields that hold amounts.
var units = map[string]guideline.Unit{
	"csl_limit": guideline.Dollars, "csl": guideline.Dollars, "limit_amount": guideline.Dollars, "deductible": guideline.Dollars, "premium": guideline.Dollars,
	"stated_value": guideline.Dollars, "total_insured_value": guideline.Dollars, "total_incurred": guideline.Dollars, "paid": guideline.Dollars,
	"reserve": guideline.Dollars, "recovered": guideline.Dollars, "incurred": guideline.Dollars, "gvw": guideline.Pounds, "annual_mileage": "", "total_miles": "",
}

// readable writes an amount the way that sentences do; other text stays as it is.
func readable(field, value string) string {
	unit, amount := units[field]
	if !amount {
		return value
	}
	n, err := parseNumber(value)
	if err != nil {
		return value
	}
	return guideline.Quantity(n, unit)
}

func parseInt(s string) (int, error) {
	n, err := parseNumber(s)
	if err != nil {
		return 0, err
	}
	if n != math.Trunc(n) {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	return int(n), nil
}

func parseBool(s string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "y", "yes", "true", "x", "1", "checked":
		return true, nil
	case "n", "no", "false", "0", "none", "unchecked":
		return false, nil
	}
	return false, fmt.Errorf("%q can't be read as yes or no", s)
}

// parseList reads "A, B; C" into its parts.
func parseList(s string) []string {
	var out []string
	for _, p := range strings.FieldsFunc(s, func(r rune) bool { return r == ';' || r == ',' || r == '\n' || r == '/' }) {
		if p = strings.TrimSpace(p); p != "" && !strings.EqualFold(p, "none") {
			out = append(out, p)
		}
	}
	return out
}

var share = regexp.MustCompile(`\s*\(?\d+(\.\d+)?\s*%\)?`)

// parseCommodities reads "General freight 60%; Lumber 40%" into names in lower case.
func parseCommodities(s string) []string {
	var out []string
	for _, p := range strings.FieldsFunc(s, func(r rune) bool { return r == ';' || r == ',' }) {
		if p = strings.ToLower(strings.TrimSpace(share.ReplaceAllString(p, ""))); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func days(from, to time.Time) int { return int(math.Round(to.Sub(from).Hours() / 24)) }

// ageOn is a person's age on a day.
func ageOn(born, day time.Time) int {
	age := day.Year() - born.Year()
	if day.Month() < born.Month() || day.Month() == born.Month() && day.Day() < born.Day() {
		age--
	}
	return age
}

func monthsBetween(from, to time.Time) int {
	m := (to.Year()-from.Year())*12 + int(to.Month()) - int(from.Month())
	if to.Day() < from.Day() {
		m--
	}
	return m
}

// vehicleType reads the kind of vehicle from a body description; "" when it doesn't tell.
func vehicleType(body string) string {
	b := strings.ToUpper(body)
	for _, t := range []struct{ name, marks string }{
		{"tractor", "TRACTOR TRUCK-TRACTOR TKTR ROADTRACTOR"},
		{"trailer", "TRAILER SEMITRAILER SEMI-TRAILER REEFER FLATBED TRL"},
		{"pickup", "PICKUP PICK-UP"},
		{"bus", "BUS COACH"},
		{"car", "SEDAN COUPE CAR PASSENGER SUV WAGON"},
		{"truck", "TRUCK STRAIGHT BOX DUMP STAKE CAB INCOMPLETE CHASSIS"},
		{"van", "VAN"},
	} {
		for _, w := range strings.FieldsFunc(b, func(r rune) bool { return r == ' ' || r == '/' || r == ',' || r == '(' || r == ')' }) {
			if containsWord(t.marks, w) {
				return t.name
			}
		}
	}
	if b == "" {
		return ""
	}
	return "other"
}

func containsWord(marks, w string) bool {
	for m := range strings.SplitSeq(marks, " ") {
		if m == w {
			return true
		}
	}
	return false
}
