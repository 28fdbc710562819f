package vpic

import "strings"

// Keys are the patterns, compiled: for each position of the key a set of characters.
type Keys struct {
	Text []string
	// Masks holds the sets of all keys one after the other; key k has Masks[Start[k]:Start[k+1]].
	Masks []uint64
	Start []uint32
	// Plain is the length of each key without its stars: NHTSA prefers the shorter.
	Plain []uint8
	// Formula marks keys with a #, whose value is cut out of the VIN.
	Formula []bool
}

// Any is the set of a wildcard.
const Any = ^uint64(0)

const (
	bitBar  = 36
	bitStar = 37
	// bitOther stands for every other character: it is in no set but the wildcard's.
	bitOther = 63
	// bitLiteral stands for characters that a key may name but a VIN never holds, such as _ inside a class.
	bitLiteral = 62
)

// Bit returns the set that holds one character of a VIN.
func Bit(c byte) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return 1 << (c - '0')
	case c >= 'A' && c <= 'Z':
		return 1 << (c - 'A' + 10)
	case c == '|':
		return 1 << bitBar
	case c == '*':
		return 1 << bitStar
	}
	return 1 << bitOther
}

// Chars lists the characters of a set in NHTSA's order, digits before letters.
func Chars(set uint64) string {
	var b strings.Builder
	for i := range byte(10) {
		if set&(1<<i) != 0 {
			b.WriteByte('0' + i)
		}
	}
	for i := range byte(26) {
		if set&(1<<(i+10)) != 0 {
			b.WriteByte('A' + i)
		}
	}
	return b.String()
}

// literal is Bit for a character in a key.
func literal(c byte) uint64 {
	if b := Bit(c); b != 1<<bitOther && c != '*' {
		return b
	}
	return 1 << bitLiteral
}

// compile appends the sets of a key to masks and returns them with whether it is a formula.
// A key without a class is matched with SQL's LIKE, where _ is a wildcard too; one with a class is a regular expression.
func compile(masks []uint64, key string) ([]uint64, bool) {
	like := strings.IndexByte(key, '[') < 0
	formula := false
	for i := 0; i < len(key); i++ {
		switch c := key[i]; {
		case c == '*' || c == '_' && like:
			masks = append(masks, Any)
		case c == '#':
			formula = true
			masks = append(masks, 1<<bitLiteral)
		case c == '[':
			end := strings.IndexByte(key[i:], ']')
			if end < 0 {
				// An unclosed class matches nothing; NHTSA's engine refuses it.
				return append(masks, 0), formula
			}
			masks = append(masks, class(key[i+1:i+end]))
			i += end
		default:
			masks = append(masks, literal(c))
		}
	}
	return masks, formula
}

// class returns the set of a character class. NHTSA's data has one malformed range, 1-A, that its service reads as 1 and A.
func class(s string) uint64 {
	s = strings.ReplaceAll(s, "1-A", "1A")
	var set uint64
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i+1] == '-' && s[i] <= s[i+2] {
			for c := int(s[i]); c <= int(s[i+2]); c++ {
				set |= literal(byte(c))
			}
			i += 2
			continue
		}
		set |= literal(s[i])
	}
	return set
}

// grow makes room for n keys.
func (k *Keys) grow(n int) {
	k.Text, k.Plain, k.Formula = make([]string, 0, n), make([]uint8, 0, n), make([]bool, 0, n)
	k.Start, k.Masks = make([]uint32, 0, n+1), make([]uint64, 0, 8*n)
}

// add compiles one more key.
func (k *Keys) add(text string) {
	if len(k.Start) == 0 {
		k.Start = append(k.Start, 0)
	}
	var formula bool
	k.Masks, formula = compile(k.Masks, text)
	k.Start = append(k.Start, uint32(len(k.Masks)))
	k.Text = append(k.Text, text)
	k.Formula = append(k.Formula, formula)
	k.Plain = append(k.Plain, uint8(min(255, len(text)-strings.Count(text, "*"))))
}

// Of returns the sets of key k.
func (k *Keys) Of(i uint32) []uint64 { return k.Masks[k.Start[i]:k.Start[i+1]] }

// Less tells whether key a outranks key b when priority and time are equal: shorter without its stars, then first without its brackets.
func (k *Keys) Less(a, b uint32) bool {
	if a == b {
		return false
	}
	if k.Plain[a] != k.Plain[b] {
		return k.Plain[a] < k.Plain[b]
	}
	return bracketless(k.Text[a]) < bracketless(k.Text[b])
}

func bracketless(s string) string {
	if strings.IndexByte(s, '[') < 0 {
		return s
	}
	return strings.NewReplacer("[", "", "]", "").Replace(s)
}
