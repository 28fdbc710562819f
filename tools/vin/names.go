package vin

import (
	"strings"
	"sync"

	"bordereau/tools/vin/vpic"
)

// names compares how documents and NHTSA spell makes and models.
type names struct {
	data  *vpic.DataSet
	makes map[string]string // short spelling or code -> plain name
	known func() map[string]bool
}

func newNames(data *vpic.DataSet) *names {
	n := &names{data: data, makes: map[string]string{}}
	for line := range strings.SplitSeq(strings.TrimSpace(makeSpellings), "\n") {
		name, spellings, _ := strings.Cut(line, ":")
		for s := range strings.SplitSeq(spellings, ",") {
			n.makes[plainMake(strings.TrimSpace(s))] = strings.TrimSpace(name)
		}
	}
	// The list of all makes is only wanted when two names differ.
	n.known = sync.OnceValue(func() map[string]bool {
		known := make(map[string]bool, len(data.Makes))
		for _, m := range data.Makes {
			known[n.makeName(m.Text)] = true
		}
		return known
	})
	return n
}

// makeSpellings lists spellings that rules can't find: abbreviations, police and DMV codes, former and parent names. The name before the
// colon is the plain one: without legal form, Truck, Trailer and the like.
const makeSpellings = `
FREIGHTLINER: FRHT, FRTL, FTL, FRT, FTLR, FRGHT, FRTLNR, FREIGHT LINER, FRGHTLNR, FREIGHTLNR, FRTLR, F/L
PETERBILT: PTRB, PETE, PTBL, PB, PETERBUILT, PBLT
KENWORTH: KW, KENW, KEN, KNWTH, KENWRTH
INTERNATIONAL: INTL, INTE, INTER, NAVISTAR, IHC, INTERNATIONAL HARVESTER, INT, INTNL, NAVISTAR INTERNATIONAL
VOLVO: VOLV, VLV, VOL, VLVO
MACK: MAK, MCK
WESTERN STAR: WSTR, WSTAR, WS, WESTERNSTAR, WEST STAR, WST
STERLING: STRG, STLG, STER
FORD: FRD
CHEVROLET: CHEVY, CHEV
GMC: GM, GENERAL MOTORS, GMC GM
RAM: DODGE RAM, RAM DODGE
DODGE: DODG
HINO: HIN
ISUZU: ISU, ISUZ
MITSUBISHI FUSO: FUSO, MITSUBISHI, MIFU
UD: NISSAN UD, UD TRUCKS, UD NISSAN, NISSAN DIESEL
MERCEDES-BENZ: MERCEDES, MB, MERZ, MERCEDES BENZ
VOLKSWAGEN: VW, VOLK
TOYOTA: TOYT
NISSAN: NISS
BLUE BIRD: BLUEBIRD, BLBI
IC BUS: IC, ICBUS, AMTRAN, IC CORPORATION
THOMAS BUILT: THOMAS, THMS, THOMAS BUS, THOMAS BUILT BUSES
WABASH: WABA, WANC, WABN, WABSH, WABASH NATIONAL, WNC, WAB
UTILITY: UTIL, UTLY, UTI, UTILITY TRAILER, UT
GREAT DANE: GDAN, GRDN, GD, GREATDANE, GRTDANE, GTD, GRT DANE
HYUNDAI TRANSLEAD: HYTR, HYUNDAI, HYUN, TRANSLEAD, HYUNDAI STEEL, HTL, HDM, HYUNDAI DE MEXICO, HYNDAI
STOUGHTON: STOU, STGH, STO
VANGUARD NATIONAL: VANGUARD, VANG, VNTC, CIMC VANGUARD, VANGUARD NATIONAL TRAILER VNTC, VANGUARD NATIONAL VNTC
STRICK COMMERCIAL: STRICK, STRI
CIMC: CIMC VEHICLES, CIMC VEHICLES GROUP, CIMC REEFER
FONTAINE: FONT, FONTAINE SPECIALIZED, FNTN
TRAILMOBILE: TRLM, TRMB, TRAILMOB
DORSEY: DORS
MANAC: MANA, MANAC TRAILERS USA
MAC: MAC TRAILER, MACT, MAC TRLR
EAST: EASM
HEIL: HEIL INTERNATIONAL, HEIL INTERNATIONAL
POLAR TANK: POLAR, POLA
WILSON: WILS, WILX
TIMPTE: TIMP
REITNOUER: REIT
TRAIL KING: TRKG, TRAILKING, TRAIL KING INDUSTRIES
KENTUCKY: KENT
TRANSCRAFT: TRCF, TRANSCRAFT WABASH
BENSON: BNSN, BENSON WABASH
COTTRELL: COTT, COTRELL
PIERCE: PIRC
E-ONE: EONE, EMERGENCY ONE
AUTOCAR: AUTC
WORKHORSE: WRKH
AMERICAN LAFRANCE: LAFRANCE
CRANE CARRIER: CCC, CRANE CARRIER CCC
MOTOR COACH INDUSTRIES: MCI
`

// plainMake brings a make into upper case, with one space between words and without what says nothing: legal forms, Truck, Trailer, Mfg.
func plainMake(s string) string {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToUpper(s), func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r <= 127
	}) {
		switch w {
		case "INC", "LLC", "LTD", "CO", "CORP", "CORPORATION", "COMPANY", "LP", "TRUCK", "TRUCKS", "TRUCKING", "TRAILER", "TRAILERS", "TRLR", "TRLRS",
			"MFG", "MANUFACTURING", "MANUFACTURER", "MFR", "VANS", "PLATFORMS", "DOLLIES", "TANKS", "MOTORS", "USA", "THE", "DIVISION", "DIV":
		default:
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return strings.ToUpper(strings.TrimSpace(s))
	}
	return strings.Join(words, " ")
}

// makeName is the plain name of a make, whatever its spelling.
func (n *names) makeName(s string) string {
	plain := plainMake(s)
	if name, ok := n.makes[plain]; ok {
		return plainMake(name)
	}
	return plain
}

// sameMake compares a stated make with a decoded one.
func (n *names) sameMake(stated, decoded, maker string, trailer bool) (Verdict, string) {
	if strings.EqualFold(strings.TrimSpace(stated), decoded) {
		return Agrees, ""
	}
	a, b := plainMake(stated), plainMake(decoded)
	if a == b {
		return Variant, "the same make in another spelling"
	}
	sa, sb := n.makeName(stated), n.makeName(decoded)
	// Hyundai builds cars too: its short name stands for Translead on a trailer only.
	if a == "HYUNDAI" && !trailer {
		sa = a
	}
	switch {
	case sa == sb || sa == b:
		return Variant, "another name of " + decoded
	case sisters(sa, sb) != "":
		return Variant, sisters(sa, sb)
	case n.part(sa, decoded):
		return Variant, "one of the names in " + decoded
	case strings.HasPrefix(a, b+" ") || strings.HasPrefix(a, sb+" "):
		return Variant, "the stated make begins with " + decoded
	case len(a) >= 4 && strings.HasPrefix(b, a):
		return Variant, "an abbreviation of " + decoded
	case strings.ReplaceAll(a, " ", "") == strings.ReplaceAll(b, " ", ""):
		return Variant, "the same make in another spelling"
	case n.known()[sa] || n.known()[a]:
		if a == firstWord(plainMake(maker)) {
			return Variant, "the manufacturer's name"
		}
		return Conflict, ""
	case misspelt(a, b) || misspelt(a, sb):
		return Variant, "a misspelling of " + decoded
	case maker != "" && len(a) >= 4 && strings.Contains(" "+plainMake(maker)+" ", " "+a+" "):
		return Variant, "the manufacturer's name"
	}
	return Conflict, ""
}

// sisters are makes that documents and NHTSA divide differently.
func sisters(a, b string) string {
	if a > b {
		a, b = b, a
	}
	switch a + "/" + b {
	case "DODGE/RAM":
		return "Dodge's trucks are called Ram since 2010"
	case "IC BUS/INTERNATIONAL":
		return "IC is International's name for buses"
	}
	return ""
}

// part is true for one of several makes in a name such as BENSON/WABASH.
func (n *names) part(stated, decoded string) bool {
	if !strings.Contains(decoded, "/") {
		return false
	}
	for part := range strings.SplitSeq(decoded, "/") {
		if n.makeName(part) == stated {
			return true
		}
	}
	return false
}

func firstWord(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return w
}

// misspelt is true if two names differ by so few letters that one is taken for the other.
func misspelt(a, b string) bool {
	n := min(len(a), len(b))
	switch d := distance(a, b); {
	case n >= 7:
		return d <= 2
	case n >= 5:
		return d <= 1
	}
	return false
}

// distance is how many letters must be changed, added, left out or swapped with their neighbour.
func distance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return 40
	}
	var two, one, row [41]int
	for j := range len(b) + 1 {
		one[j] = j //nolint:gosec // j is at most 40, as is each length
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, one[j]+1, one[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1) //nolint:gosec // j is 2 to 40 here
			}
		}
		two, one = one, row
	}
	return one[len(b)]
}
