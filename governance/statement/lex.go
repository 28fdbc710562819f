package statement

import "strings"

// span is a literal or comment of a text.
type span struct {
	start, end int
	comment    bool
}

// literals finds the strings, numbers and comments of SQL text, whether it parses or not. A literal that never ends goes to the end.
func literals(text string) []span {
	var out []span
	for i := 0; i < len(text); {
		c := text[i]
		end := i + 1
		switch {
		case c == '\'':
			end = quoted(text, i, '\'', i > 0 && (text[i-1] == 'e' || text[i-1] == 'E') && !wordBefore(text, i-1))
			out = append(out, span{start: i, end: end})
		case c == '"':
			end = quoted(text, i, '"', false)
		case strings.HasPrefix(text[i:], "--"):
			if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
				end = i + n
			} else {
				end = len(text)
			}
			out = append(out, span{start: i, end: end, comment: true})
		case strings.HasPrefix(text[i:], "/*"):
			end = blockComment(text, i)
			out = append(out, span{start: i, end: end, comment: true})
		case c == '$':
			if n := dollar(text, i); n > 0 {
				end = n
				out = append(out, span{start: i, end: end})
			}
		case c >= '0' && c <= '9' || c == '.' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9':
			end = number(text, i)
			out = append(out, span{start: i, end: end})
		case letter(c):
			for end < len(text) && (letter(text[end]) || text[end] >= '0' && text[end] <= '9' || text[end] == '$') {
				end++
			}
		}
		i = end
	}
	return out
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

func wordBefore(text string, i int) bool {
	return i > 0 && (letter(text[i-1]) || text[i-1] >= '0' && text[i-1] <= '9')
}

func quoted(text string, i int, q byte, escapes bool) int {
	for j := i + 1; j < len(text); j++ {
		switch {
		case escapes && text[j] == '\\':
			j++
		case text[j] == q && j+1 < len(text) && text[j+1] == q:
			j++
		case text[j] == q:
			return j + 1
		}
	}
	return len(text)
}

func blockComment(text string, i int) int {
	depth := 0
	for j := i; j < len(text); j++ {
		switch {
		case strings.HasPrefix(text[j:], "/*"):
			depth++
			j++
		case strings.HasPrefix(text[j:], "*/"):
			depth--
			j++
			if depth == 0 {
				return j + 1
			}
		}
	}
	return len(text)
}

// dollar returns the end of a dollar-quoted string that begins at i, 0 if none does.
func dollar(text string, i int) int {
	n := strings.IndexByte(text[i+1:], '$')
	if n < 0 {
		return 0
	}
	tag := text[i : i+n+2]
	for _, c := range []byte(tag[1 : len(tag)-1]) {
		if !letter(c) && (c < '0' || c > '9') {
			return 0
		}
	}
	rest := text[i+len(tag):]
	if end := strings.Index(rest, tag); end >= 0 {
		return i + len(tag) + end + len(tag)
	}
	return len(text)
}

func number(text string, i int) int {
	j := i
	for j < len(text) {
		c := text[j]
		if c >= '0' && c <= '9' || c == '.' || c == '_' || letter(c) && c < 0x80 ||
			(c == '+' || c == '-') && (text[j-1] == 'e' || text[j-1] == 'E') {
			j++
			continue
		}
		break
	}
	return j
}
