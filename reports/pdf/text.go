package pdf

import (
	"slices"
	"strings"
	"unicode"

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

// visual returns one line as it stands on paper, which is read from left to right: Arabic letters joined, right-to-left parts turned. It knows of
// the Unicode Bidirectional Algorithm what names and sentences need; golang.org/x/text's runs don't tell a number in a turned part from what follows it.
func visual(line string) string {
	if !strings.ContainsFunc(line, rightToLeft) {
		return line
	}
	letters := []rune(shape(line))
	var b strings.Builder
	for len(letters) > 0 {
		n := stretch(letters)
		if n == 0 {
			b.WriteRune(letters[0])
			letters = letters[1:]
			continue
		}
		turn(&b, letters[:n])
		letters = letters[n:]
	}
	return b.String()
}

// brackets stand in pairs; turned, one stands for the other.
const brackets = "()[]{}<>«»"

// stretch is how many runes, from the first on, are turned: those from right to left, with numbers between and after them, and with the brackets that they open.
func stretch(letters []rune) int {
	end, open := 0, 0
	if !rightToLeft(letters[0]) {
		return 0
	}
	for i, r := range letters {
		switch {
		case rightToLeft(r), unicode.IsMark(r), unicode.IsDigit(r):
			end = i + 1
		case unicode.IsLetter(r):
			return end
		case bracket(r)%2 == 0:
			open++
		case bracket(r) > 0 && open > 0:
			open--
			end = i + 1
		}
	}
	return end
}

func bracket(r rune) int { return slices.Index([]rune(brackets), r) }

// turn writes runes the last first, but numbers as they are.
func turn(b *strings.Builder, letters []rune) {
	number := func(i int) bool {
		return unicode.IsDigit(letters[i]) || i > 0 && i+1 < len(letters) && strings.ContainsRune(".,:/-", letters[i]) && unicode.IsDigit(letters[i-1]) && unicode.IsDigit(letters[i+1])
	}
	for i := len(letters) - 1; i >= 0; i-- {
		if number(i) {
			end := i + 1
			for i > 0 && number(i-1) {
				i--
			}
			b.WriteString(string(letters[i:end]))
			continue
		}
		r := letters[i]
		if at := bracket(r); at >= 0 {
			r = []rune(brackets)[at^1]
		}
		b.WriteRune(r)
	}
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
