package sample

import (
	"fmt"
	"math/rand/v2"

	"bordereau/tools/vin"
)

// template is a real manufacturer's scheme, positions 1 to 8 and the plant, whose VINs decode to the make and model stated. Serials are invented.
type template struct {
	prefix, plant, make, model, body string
	gvw                              int
	from, to                         int // model years
	low, high                        int // stated value of a new and an old one, thousands
}

var tractors = []template{
	{"1XPXD49X", "D", "Peterbilt", "389", "Tractor", 52000, 2014, 2026, 40, 170},
	{"1XPBDP9X", "D", "Peterbilt", "579", "Tractor", 52000, 2014, 2026, 38, 165},
	{"1XPBD49X", "D", "Peterbilt", "579", "Tractor", 52000, 2014, 2026, 38, 165},
	{"1XKYDP9X", "J", "Kenworth", "T680", "Tractor", 52000, 2014, 2026, 38, 168},
	{"1XKYD49X", "J", "Kenworth", "T680", "Tractor", 52000, 2014, 2026, 38, 168},
	{"1XKZD49X", "J", "Kenworth", "T880", "Tractor", 52000, 2014, 2026, 42, 175},
	{"1XKZDP9X", "D", "Kenworth", "T880", "Tractor", 52000, 2014, 2026, 42, 175},
	{"4V4NC9EH", "N", "Volvo", "VNL", "Tractor", 52000, 2014, 2026, 36, 160},
	{"4V4NC9EJ", "N", "Volvo", "VNL", "Tractor", 52000, 2014, 2026, 36, 160},
	{"4V4NC9TH", "N", "Volvo", "VNL", "Tractor", 52000, 2014, 2026, 36, 160},
	{"1FUJGLDR", "S", "Freightliner", "Cascadia", "Tractor", 52000, 2014, 2024, 35, 155},
	{"1FUJGLDV", "L", "Freightliner", "Cascadia", "Tractor", 52000, 2014, 2026, 35, 155},
	{"3AKJGLDR", "S", "Freightliner", "Cascadia", "Tractor", 52000, 2014, 2026, 35, 155},
	{"3AKJHHDR", "S", "Freightliner", "Cascadia", "Tractor", 52000, 2014, 2026, 35, 155},
	{"1FUJHHDR", "L", "Freightliner", "Cascadia", "Tractor", 52000, 2014, 2026, 35, 155},
	{"1M1AN07Y", "M", "Mack", "Anthem", "Tractor", 52000, 2020, 2026, 60, 158},
	{"1M1AN09Y", "M", "Mack", "Anthem", "Tractor", 52000, 2020, 2026, 60, 158},
	{"3HSDZAPR", "N", "International", "LT", "Tractor", 52000, 2017, 2025, 45, 150},
	{"3HSDZTZR", "N", "International", "LT", "Tractor", 52000, 2017, 2025, 45, 150},
	{"3HSDJAPR", "N", "International", "ProStar", "Tractor", 52000, 2014, 2017, 30, 60},
}

var trucks = []template{
	{"3ALACWDT", "D", "Freightliner", "M2", "Straight Truck", 26000, 2014, 2026, 28, 110},
	{"1FVACWDT", "H", "Freightliner", "M2", "Straight Truck", 26000, 2014, 2026, 28, 110},
	{"3ALACWFC", "D", "Freightliner", "M2", "Straight Truck", 26000, 2014, 2026, 28, 110},
	{"3HAEUMML", "L", "International", "MV", "Straight Truck", 25999, 2019, 2026, 40, 105},
	{"1FDUF5HT", "D", "Ford", "F-550", "Straight Truck", 19500, 2014, 2026, 25, 80},
	{"1FT8W3DT", "E", "Ford", "F-350", "Pickup", 11500, 2014, 2026, 15, 65},
	{"1FT8W3BT", "E", "Ford", "F-350", "Pickup", 11500, 2014, 2026, 15, 65},
	{"1FT8W4DT", "E", "Ford", "F-450", "Pickup", 14000, 2014, 2026, 20, 78},
	{"1FT7W2BT", "E", "Ford", "F-250", "Pickup", 10000, 2014, 2026, 14, 60},
	{"1FTFW1E5", "F", "Ford", "F-150", "Pickup", 7050, 2014, 2026, 12, 55},
	{"1FTFW1ET", "F", "Ford", "F-150", "Pickup", 7050, 2014, 2026, 12, 55},
	{"3C63RRGL", "G", "Ram", "3500", "Pickup", 14000, 2014, 2026, 16, 66},
}

var trailers = []template{
	{"1JJV532D", "L", "Wabash", "Dry Van", "Trailer", 68000, 2014, 2026, 9, 45},
	{"1JJV532B", "L", "Wabash", "Reefer", "Trailer", 68000, 2014, 2026, 15, 75},
	{"1UYVS253", "U", "Utility", "3000R", "Trailer", 68000, 2014, 2026, 14, 72},
	{"5V8VC532", "M", "Vanguard", "Dry Van", "Trailer", 68000, 2014, 2026, 9, 46},
	{"3H3V532C", "T", "Hyundai", "Dry Van", "Trailer", 68000, 2014, 2021, 8, 35},
	{"1GRAA062", "B", "Great Dane", "Dry Van", "Trailer", 68000, 2014, 2017, 8, 22},
	{"1GR1P062", "D", "Great Dane", "Reefer", "Trailer", 68000, 2018, 2026, 18, 78},
}

const yearCodes = "EFGHJKLMNPRSTV" // 2014 to 2027

// makeVIN invents a VIN of a template and model year with a right check digit.
func makeVIN(rng *rand.Rand, t template, year int) string {
	v := t.prefix + "0" + string(yearCodes[year-2014]) + t.plant + fmt.Sprintf("%06d", 100000+rng.IntN(899999))
	return v[:8] + string(vin.CheckDigit(v)) + v[9:]
}
