package vin

import (
	"strings"

	"bordereau/tools/vin/vpic"
)

// firstModelYear is the first year of the 17-character VIN.
const firstModelYear = 1980

// yearIndex is the place of a character in the cycle of 30 years that began in 1980 and in 2010, -1 if it stands for no year.
func yearIndex(c byte) int {
	return strings.IndexByte("ABCDEFGHJKLMNPRSTVWXY123456789", c)
}

// wmiOf is the manufacturer's code: 3 characters, and positions 12 to 14 too if the third is a 9.
func wmiOf(vin string) string {
	if len(vin) <= 3 {
		return vin
	}
	if vin[2] == '9' && len(vin) >= 14 {
		return vin[:3] + vin[11:14]
	}
	return vin[:3]
}

// descriptorOf is positions 1 to 11 with a star for the check digit, to 14 for small manufacturers.
func descriptorOf(vin string) string {
	n := 11
	if len(vin) > 2 && vin[2] == '9' {
		n = 14
	}
	b := []byte("*****************")
	copy(b, vin)
	b[8] = '*'
	return string(b[:n])
}

// years are the model years that a VIN can stand for. 0 means none.
type years struct {
	first, second int
	conclusive    bool
	// described is true if NHTSA's list of descriptors sets the year.
	described bool
}

// yearsOf finds the years. Position 7 tells the cycle for cars, multipurpose vehicles and light trucks only; for heavy trucks, buses, trailers
// and incomplete vehicles it means something else, and both years are tried.
func (d *Decoder) yearsOf(vin string, wmi *vpic.WMI) years {
	if y, ok := d.data.Descriptors[descriptorOf(vin)]; ok && int(y) >= firstModelYear && int(y) <= d.lastYear {
		return years{first: int(y), conclusive: true, described: true}
	}
	if len(vin) < 10 {
		return years{conclusive: true}
	}
	i := yearIndex(vin[9])
	if i < 0 {
		return years{conclusive: true}
	}
	y := years{first: 2010 + i}
	if wmi != nil && wmi.Light() {
		switch c := vin[6]; {
		case digit(c):
			y.first -= 30
			y.conclusive = true
		case c >= 'A' && c <= 'Z':
			y.conclusive = true
		}
	}
	if y.first > d.lastYear {
		y.first -= 30
		y.conclusive = true
	}
	if !y.conclusive {
		y.second = y.first - 30
		return y
	}
	// A manufacturer that has schemes for the other cycle only can't mean this one.
	if other := d.otherCycle(y.first); wmi != nil && other != 0 && !d.covers(wmi, y.first) && d.covers(wmi, other) {
		y.first = other
	}
	return y
}

func (d *Decoder) otherCycle(year int) int {
	switch {
	case year >= firstModelYear && year <= d.lastYear-30:
		return year + 30
	case year >= firstModelYear+30 && year <= d.lastYear:
		return year - 30
	}
	return 0
}

func (d *Decoder) covers(wmi *vpic.WMI, year int) bool {
	for _, l := range d.data.LinksOf(wmi) {
		if year >= int(l.From) && year <= int(l.To) {
			return true
		}
	}
	return false
}
