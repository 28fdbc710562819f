package record

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner takes a flat JSON object apart without copying. It accepts what encoding/json accepts, but only
// strings, numbers, literals and arrays of numbers as values, and no invalid UTF-8.
type scanner struct {
	data    []byte
	at      int
	members []member
}

func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) take(c byte) bool {
	s.space()
	if s.at < len(s.data) && s.data[s.at] == c {
		s.at++
		return true
	}
	return false
}

// object reads the object that fills the line and returns why it can't, or "".
func (s *scanner) object() string {
	if !s.take('{') {
		return "want {"
	}
	if !s.take('}') {
		for {
			if why := s.pair(); why != "" {
				return why
			}
			if s.take(',') {
				continue
			}
			if s.take('}') {
				break
			}
			return "want , or }"
		}
	}
	s.space()
	if s.at < len(s.data) {
		return "text after the object"
	}
	return ""
}

func (s *scanner) pair() string {
	const most = 64
	if len(s.members) == most {
		return "more than 64 keys"
	}
	if !s.take('"') {
		return "want a key in quotes"
	}
	raw, escaped, why := s.str()
	if why != "" {
		return why
	}
	key := string(raw)
	if escaped {
		plain, why := unescape(nil, raw)
		if why != "" {
			return why
		}
		key = string(plain)
	}
	if !s.take(':') {
		return "want : after the key"
	}
	s.space()
	m := member{key: key, at: s.at}
	if why := s.value(&m); why != "" {
		return why
	}
	s.members = append(s.members, m)
	return ""
}

func (s *scanner) value(m *member) string {
	if s.at == len(s.data) {
		return "the value is missing"
	}
	start := s.at
	switch c := s.data[s.at]; {
	case c == '"':
		s.at++
		raw, escaped, why := s.str()
		m.raw, m.form = raw, '"'
		if escaped {
			m.form = '\\'
		}
		return why
	case c == '[':
		s.at++
		if !s.take(']') {
			for {
				s.space()
				if why := s.number(); why != "" {
					return why
				}
				if s.take(',') {
					continue
				}
				if s.take(']') {
					break
				}
				return "want , or ]"
			}
		}
		m.form = '['
	case c == 'n' && s.word("null"):
		m.form = 'n'
	case c == 't' && s.word("true"), c == 'f' && s.word("false"):
		m.form = 't'
	case c == '{':
		return "an object inside the object"
	default:
		if why := s.number(); why != "" {
			return why
		}
		m.form = '0'
	}
	m.raw = s.data[start:s.at]
	return ""
}

func (s *scanner) word(w string) bool {
	if len(s.data)-s.at >= len(w) && string(s.data[s.at:s.at+len(w)]) == w {
		s.at += len(w)
		return true
	}
	return false
}

// str reads the rest of a string whose opening quote was taken.
func (s *scanner) str() (raw []byte, escaped bool, why string) {
	start, ascii := s.at, true
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case c == '"':
			raw = s.data[start:s.at]
			s.at++
			if !ascii && !utf8.Valid(raw) {
				return nil, false, "invalid UTF-8"
			}
			return raw, escaped, ""
		case c == '\\':
			escaped = true
			s.at += 2
		case c < 0x20:
			return nil, false, "a control character in a string"
		default:
			ascii = ascii && c < 0x80
			s.at++
		}
	}
	s.at = len(s.data)
	return nil, false, "the string has no end"
}

func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}

func (s *scanner) is(c byte) bool { return s.at < len(s.data) && s.data[s.at] == c }

func (s *scanner) number() string {
	if s.is('-') {
		s.at++
	}
	if s.is('0') {
		s.at++
	} else if !s.digits() {
		return "want a value"
	}
	if s.is('.') {
		s.at++
		if !s.digits() {
			return "want digits after the point"
		}
	}
	if s.is('e') || s.is('E') {
		s.at++
		if s.is('+') || s.is('-') {
			s.at++
		}
		if !s.digits() {
			return "want digits of an exponent"
		}
	}
	return ""
}

// unescape appends the text of a string's raw bytes to buf. Half of a surrogate pair is refused, since nobody could have meant it.
func unescape(buf, raw []byte) ([]byte, string) {
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			buf = append(buf, raw[i])
			i++
			continue
		}
		if i+1 >= len(raw) {
			return nil, "an escape has no end"
		}
		i += 2
		switch c := raw[i-1]; c {
		case '"', '\\', '/':
			buf = append(buf, c)
		case 'b':
			buf = append(buf, '\b')
		case 'f':
			buf = append(buf, '\f')
		case 'n':
			buf = append(buf, '\n')
		case 'r':
			buf = append(buf, '\r')
		case 't':
			buf = append(buf, '\t')
		case 'u':
			r, ok := hex4(raw, i)
			i += 4
			if ok && utf16.IsSurrogate(r) {
				low, lowOK := rune(0), false
				if i+1 < len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
					low, lowOK = hex4(raw, i+2)
				}
				r = utf16.DecodeRune(r, low)
				ok = lowOK && r != utf8.RuneError
				i += 6
			}
			if !ok {
				return nil, "a \\u escape is broken"
			}
			buf = utf8.AppendRune(buf, r)
		default:
			return nil, "an unknown escape"
		}
	}
	return buf, ""
}

func hex4(raw []byte, at int) (rune, bool) {
	if at+4 > len(raw) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[at:at+4]), 16, 16)
	return rune(n), err == nil
}
