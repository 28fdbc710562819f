package identity

import (
	"strings"

	"github.com/trustelem/zxcvbn"
)

// guessable says why a password would be among the first that somebody tries, or "": common passwords, words, names, dates, rows of
// the keyboard, and what others know of the person.
func guessable(password string, p Person) string {
	// The estimate takes time with the square of the length, and so many characters are enough for it.
	if r := []rune(password); len(r) > 64 {
		password = string(r[:64])
	}
	known := []string{"bordereau", p.Org, p.Email}
	for _, marks := range []string{" @.", " @.-_+"} {
		for _, text := range []string{p.Name, p.Email, p.Org} {
			known = append(known, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(marks, r) })...)
		}
	}
	const safelyUnguessable = 3 // 10⁸ guesses at least, of 0 to 4
	if zxcvbn.PasswordStrength(password, known).Score < safelyUnguessable {
		return "it is easy to guess: a common password, or little more than words, dates or rows of keys that others try first"
	}
	return ""
}
