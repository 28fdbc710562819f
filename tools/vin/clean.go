package vin

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	vinLength = 17
	// maxInput bounds what is looked at: nothing longer, however it is spaced, is a VIN.
	maxInput = 128
)

// cleaned is an input brought into the form of a VIN.
type cleaned struct {
	vin   string
	notes []string
	// refused is true if the input isn't decoded, and codes tells why.
	refused bool
	codes   codeSet
}

// clean trims an input, puts it into upper case and takes spaces and dashes out. It never replaces a character by another.
func clean(input string) cleaned {
	if len(input) > maxInput {
		return refuse("", codeCharacters, fmt.Sprintf("Not decoded: the text is %d bytes long; a VIN has 17 characters.", len(input)))
	}
	var b strings.Builder
	dropped := false
	var odd []string
	for _, c := range input {
		switch {
		case c < utf8.RuneSelf && (c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c == '*'):
			b.WriteRune(c)
		case c >= 'a' && c <= 'z':
			b.WriteRune(c - 'a' + 'A')
		case c == '-' || unicode.IsSpace(c) || c == '\u200b' || c == '\ufeff' || c >= '\u2010' && c <= '\u2015':
			dropped = true
		default:
			b.WriteRune(unicode.ToUpper(c))
			odd = append(odd, describe(utf8.RuneCountInString(b.String()), c))
		}
	}
	out := cleaned{vin: b.String()}
	n := utf8.RuneCountInString(out.vin)
	switch {
	case n == 0:
		return refuse("", codeIncomplete, "Not decoded: there is no VIN.")
	case len(odd) > 0:
		return refuse(out.vin, codeCharacters, "Not decoded: "+strings.Join(odd[:min(3, len(odd))], "; ")+".")
	case n > vinLength:
		return refuse(out.vin, codeCharacters, fmt.Sprintf("Not decoded: %d characters; a VIN has 17.", n))
	case n < vinLength && strings.Trim(out.vin, "0123456789") == "":
		return refuse(out.vin, codeIncomplete, fmt.Sprintf("Not decoded: %d digits and nothing else are no part of a VIN that can be told from any other number.", n))
	}
	if dropped && strings.TrimSpace(input) != out.vin {
		out.notes = append(out.notes, "Spaces or dashes were taken out.")
	}
	return out
}

func refuse(vin string, code int, why string) cleaned {
	out := cleaned{vin: vin, refused: true, notes: []string{why}}
	out.codes.add(code)
	if n := utf8.RuneCountInString(vin); n < vinLength {
		out.codes.add(codeIncomplete)
	}
	return out
}

// describe names a character that no VIN holds. A Cyrillic or Greek letter is called what it looks like, since nobody can see the difference.
func describe(position int, c rune) string {
	if twin := lookAlike(c); twin != 0 {
		return fmt.Sprintf("position %d holds %U, which only looks like %c", position, c, twin)
	}
	if c == utf8.RuneError {
		return fmt.Sprintf("position %d holds no readable character", position)
	}
	if unicode.IsPrint(c) {
		return fmt.Sprintf("position %d holds %q, which no VIN has", position, c)
	}
	return fmt.Sprintf("position %d holds %U, which no VIN has", position, c)
}

// lookAlike returns the Latin letter that a Cyrillic, Greek or full-width letter is mistaken for, 0 if none.
func lookAlike(c rune) rune {
	if c >= '\uff10' && c <= '\uff19' {
		return c - '\uff10' + '0'
	}
	if c >= '\uff21' && c <= '\uff3a' {
		return c - '\uff21' + 'A'
	}
	const others = "АВЕЅІЈКМНОРСТУХԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
	const latin = "ABESIJKMHOPCTYXQWABEZHIKMNOPTYX"
	upper := unicode.ToUpper(c)
	i := 0
	for _, o := range others {
		if o == upper {
			return rune(latin[i])
		}
		i++
	}
	return 0
}

// Fold reads I as 1, O and Q as 0: no VIN holds these letters, so the reading is certain. Other look-alikes (5/S, 8/B, 2/Z, 6/G, 0/D)
// are both legal and never folded.
func Fold(vin string) string {
	if !strings.ContainsAny(vin, "IOQ") {
		return vin
	}
	return strings.NewReplacer("I", "1", "O", "0", "Q", "0").Replace(vin)
}
