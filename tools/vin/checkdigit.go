package vin

// checkState says whether position 9 holds what the others require.
type checkState uint8

const (
	checkUnknown checkState = iota
	checkRight
	checkWrong
)

// CheckDigit computes what position 9 of a 17-character VIN should hold by 49 CFR 565.15(c); 0 if it can't be computed.
func CheckDigit(vin string) byte {
	if len(vin) != vinLength {
		return 0
	}
	const weights = "\x08\x07\x06\x05\x04\x03\x02\x0a\x00\x09\x08\x07\x06\x05\x04\x03\x02"
	sum := 0
	for i := range vinLength {
		if i == 8 {
			continue
		}
		v := transliterate(vin[i])
		if v < 0 {
			return 0
		}
		sum += v * int(weights[i])
	}
	if sum %= 11; sum == 10 {
		return 'X'
	}
	return byte('0' + sum)
}

// transliterate gives a character its value in the check digit, -1 for what no VIN holds.
func transliterate(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'A' && c <= 'H':
		return int(c-'A') + 1
	case c >= 'J' && c <= 'N':
		return int(c-'J') + 1
	case c == 'P':
		return 7
	case c == 'R':
		return 9
	case c >= 'S' && c <= 'Z':
		return int(c-'S') + 2
	}
	return -1
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// legalYear is true for the characters that stand for a model year.
func legalYear(c byte) bool { return yearIndex(c) >= 0 }

// legal tells whether a character may stand at a position (from 1) of a VIN whose last digits begin at digits.
func legal(position int, c byte, digits int) bool {
	switch {
	case position == 10:
		return legalYear(c)
	case position == 9:
		return digit(c) || c == 'X' || c == '*'
	case position >= digits:
		return digit(c) || c == '*'
	}
	return transliterate(c) >= 0 || c == '*'
}

// digitsFrom is the first position from which on only digits are legal. Small manufacturers have letters of their code at 12 to 14.
func digitsFrom(vin string, light bool) int {
	switch {
	case len(vin) > 2 && vin[2] == '9':
		return 15
	case light:
		return 13
	}
	return 14
}

// checkable is true if every position holds what the check digit needs, by NHTSA's second function.
func checkable(vin string, light bool) bool {
	if len(vin) != vinLength {
		return false
	}
	small := vin[2] == '9'
	for i := range vinLength {
		c := vin[i]
		switch p := i + 1; {
		case p == 10:
			if !legalYear(c) {
				return false
			}
		case p == 13 && !small && light, p == 14 && !small, p >= 15:
			if !digit(c) {
				return false
			}
		default:
			if transliterate(c) < 0 {
				return false
			}
		}
	}
	return true
}
