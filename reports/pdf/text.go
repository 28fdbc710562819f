package pdf

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// clean makes text fit to print: composed letters, no control characters, white space as single spaces.
func clean(s string) string {
	s = norm.NFC.String(strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
	return s
}

// visual returns one line as it stands on paper, from left to right: Arabic letters joined, right-to-left parts turned.
func visual(line string) string {
	if !strings.ContainsFunc(line, rightToLeft) {
		return line
	}
	var p bidi.Paragraph
	if _, err := p.SetString(shape(line)); err != nil {
		return line
	}
	order, err := p.Order()
	if err != nil {
		return line
	}
	var b strings.Builder
	for i := range order.NumRuns() {
		run := order.Run(i)
		if run.Direction() == bidi.RightToLeft {
			b.WriteString(bidi.ReverseString(run.String()))
		} else {
			b.WriteString(run.String())
		}
	}
	return b.String()
}

func rightToLeft(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Hebrew)
}

// The forms of an Arabic letter, in the order in which Unicode lists them. A letter that doesn't join forward has two.
const (
	isolated = iota
	final
	initial
	medial
)

// arabicForms maps a letter (or lam with alef) to its presentation forms.
func arabicForms() map[string][]rune {
	forms := map[string][]rune{}
	for r := rune(0xFE80); r <= 0xFEFC; r++ {
		letters := norm.NFKC.String(string(r))
		forms[letters] = append(forms[letters], r)
	}
	return forms
}

// shape joins Arabic letters by replacing each with the form for its place.
func shape(s string) string {
	forms := arabicForms()
	letters := make([]string, 0, len(s))
	for _, r := range s {
		last := len(letters) - 1
		if last >= 0 && letters[last] == "\u0644" && forms["\u0644"+string(r)] != nil {
			letters[last] += string(r)
			continue
		}
		letters = append(letters, string(r))
	}
	joinsForward := func(i int) bool { return i >= 0 && i < len(letters) && len(forms[letters[i]]) == 4 }
	joinsBack := func(i int) bool { return i >= 0 && i < len(letters) && len(forms[letters[i]]) >= 2 }
	var b strings.Builder
	for i, letter := range letters {
		of := forms[letter]
		if len(of) == 0 {
			b.WriteString(letter)
			continue
		}
		form := isolated
		switch before, after := joinsForward(i-1) && len(of) > final, len(of) == 4 && joinsBack(i+1); {
		case before && after:
			form = medial
		case before:
			form = final
		case after:
			form = initial
		}
		b.WriteRune(of[form])
	}
	return b.String()
}
