package artifact

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the longest name in bytes; common file systems stop at 255.
const maxName = 180

// CleanName makes any text a plain file name: no folder, no control or direction-changing character, no leading dot, no name
// that Windows keeps for a device, at most maxName bytes with its extension kept. It never fails.
func CleanName(name string) string {
	name = strings.ToValidUTF8(name, "")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1 // Cf holds the bidirectional overrides that make "fdp.exe" of "exe.pdf"
		case unicode.IsSpace(r):
			return ' '
		case strings.ContainsRune(`<>:"|?*`, r):
			return '_'
		}
		return r
	}, name)
	name = strings.TrimLeft(strings.TrimSpace(name), ".")
	name = strings.TrimRight(name, ". ")
	if name == "" {
		return "file"
	}
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if len(ext) > 16 {
		stem, ext = name, ""
	}
	if device(stem) {
		stem = "_" + stem
	}
	for len(stem)+len(ext) > maxName {
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
	}
	return stem + ext
}

// CheckName refuses a name that CleanName would change: whoever uploads should learn that, not find another name.
func CheckName(name string) error {
	if name == "" {
		return fmt.Errorf("%w: empty", ErrName)
	}
	if clean := CleanName(name); clean != name {
		return fmt.Errorf("%w: a plain file name without folders is wanted, such as %q", ErrName, clean)
	}
	return nil
}

func device(stem string) bool {
	s := strings.ToUpper(stem)
	if i := strings.IndexByte(s, '.'); i >= 0 {
		s = s[:i]
	}
	switch s {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(s) == 4 && (strings.HasPrefix(s, "COM") || strings.HasPrefix(s, "LPT")) && s[3] >= '1' && s[3] <= '9'
}
