package vin

import (
	"slices"
	"strconv"
	"strings"
)

// NHTSA's error codes.
const (
	codeClean      = 0
	codeCheckDigit = 1
	codeCorrected  = 2
	codeByCheck    = 3
	codeOneWrong   = 4
	codeSomeWrong  = 5
	codeIncomplete = 6
	codeWMI        = 7
	codeNoData     = 8
	codeGlider     = 9
	codeOffRoad    = 10
	codeYear       = 11
	codeHint       = 12
	codeUnused     = 14
	codeCharacters = 400
)

// codeSet collects codes: bit n for code n, bit 15 for 400.
type codeSet uint16

func codeBit(code int) codeSet {
	if code == codeCharacters {
		return 1 << 15
	}
	return 1 << code
}

func (s *codeSet) add(code int)     { *s |= codeBit(code) }
func (s codeSet) has(code int) bool { return s&codeBit(code) != 0 }

func (s codeSet) list() []int {
	out := make([]int, 0, 4)
	for i := range 15 {
		if s&(1<<i) != 0 {
			out = append(out, i)
		}
	}
	if s&(1<<15) != 0 {
		out = append(out, codeCharacters)
	}
	return out
}

// weight is the sum by which NHTSA compares the passes of two years.
func (s codeSet) weight() int {
	sum := 0
	for _, c := range [...]struct{ code, weight int }{
		{codeCheckDigit, -5},
		{codeCorrected, -100},
		{codeByCheck, -100},
		{codeOneWrong, -200},
		{codeSomeWrong, -300},
		{codeIncomplete, -10},
		{codeWMI, -10000},
		{codeNoData, -1000},
		{codeYear, -20},
		{codeHint, -20},
		{codeUnused, -30},
		{codeCharacters, -40},
	} {
		if s.has(c.code) {
			sum += c.weight
		}
	}
	return sum
}

// errorText is NHTSA's wording of a code. It stands here and not in the data, since it must be there when the data says nothing.
func errorText(codes []int) string {
	texts := make([]string, 0, len(codes))
	for _, c := range codes {
		texts = append(texts, codeText(c))
	}
	return strings.Join(texts, "; ")
}

func codeText(code int) string {
	switch code {
	case codeClean:
		return "0 - VIN decoded clean. Check Digit (9th position) is correct"
	case codeCheckDigit:
		return "1 - Check Digit (9th position) does not calculate properly"
	case codeCorrected:
		return "2 - VIN corrected, error in one position"
	case codeByCheck:
		return "3 - VIN corrected, error in one position (assuming Check Digit is correct)"
	case codeOneWrong:
		return "4 - VIN corrected, error in one position only (indicated by ! in Suggested VIN), multiple matches found"
	case codeSomeWrong:
		return "5 - VIN has errors in few positions"
	case codeIncomplete:
		return "6 - Incomplete VIN"
	case codeWMI:
		return "7 - Manufacturer is not registered with NHTSA for sale or importation in the U.S. for use on U.S roads; Please contact the manufacturer directly for more information"
	case codeNoData:
		return "8 - No detailed data available currently"
	case codeGlider:
		return `9 - Glider Warning - A "Glider" is not a "motor vehicle", as defined in 49 U.S.C. 30102(a)(6), and cannot be assigned a VIN that meets 49 CFR Part 565 requirements`
	case codeOffRoad:
		return "10 - Off-Road Vehicle Warning – This is not a Vehicle Identification Number (VIN) for a motor vehicle. This indicates that the manufacturer did not certify this product as complying with the Federal Motor Vehicle Safety Standards that are applicable to motor vehicles as defined in 49 U.S.C. 30102."
	case codeYear:
		return "11 - Incorrect Model Year - Position 10 does not match valid model year codes (I, O, Q, U, Z, 0). Decoded data may not be accurate."
	case codeHint:
		return "12 - Model Year Warning - Model Year entered for decoding with VIN does not match the model year based on the 10th position in VIN."
	case codeUnused:
		return "14 - Unable to provide information for some of the characters in the VIN, based on the manufacturer submission."
	case codeCharacters:
		return "400 - Invalid Characters Present"
	}
	return strconv.Itoa(code)
}

// The further explanations that NHTSA adds to codes 4 and 5.
const (
	additionalOneWrong = "In the Possible values section, the Numeric value before the : indicates the position in error and the values after the : " +
		"indicate the possible values that are allowed in this position."
	additionalSomeWrong = "The error positions are indicated by ! in Suggested VIN. In the Possible values section, each pair of parenthesis indicate " +
		"information about each error position in VIN . The Numeric value before the : indicates the position in error and the values after the : " +
		"indicate the possible values that are allowed in this position"
	additionalIncomplete = "Incomplete Vehicle Warning - Please be advised that the vehicle may have been altered and may not be an accurate " +
		"representation of the vehicle in its current condition."
	additionalYear = "The Model Year decoded for this VIN may be incorrect. If you know the Model year, please enter it and decode again to get " +
		"more accurate information."
)

// offRoadBodies and incompleteBodies are ids of body classes with a meaning for codes.
func offRoadBody(id int32) bool {
	return slices.Contains([]int32{69, 84, 86, 88, 97, 105, 113, 124, 126, 127}, id)
}

func incompleteBody(id int32) bool {
	return slices.Contains([]int32{65, 107, 70, 74, 63, 72, 112, 62, 64, 76, 78, 71, 77, 67, 116, 75}, id)
}

const bodyGlider = 64
