package identity

import (
	"strings"
	"unicode/utf8"
)

// guessable says why a password would be among the first that somebody tries, or "".
func guessable(password string, p Person) string {
	plain := strings.ToLower(password)
	local, domain, _ := strings.Cut(p.Email, "@")
	for _, own := range []string{local, strings.SplitN(domain, ".", 2)[0], strings.ToLower(p.Name), p.Org, "bordereau", "password"} {
		if own = strings.TrimSpace(own); len(own) >= 4 && strings.Contains(plain, own) && utf8.RuneCountInString(plain)-utf8.RuneCountInString(own) < 8 {
			return "it is little more than a word that others know of you: " + own
		}
	}
	if distinct(plain) < 5 {
		return "it repeats a few characters"
	}
	return ""
}

func distinct(s string) int {
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
	}
	return len(seen)
}
