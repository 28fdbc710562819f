package reconcile

import (
	"math"
	"strings"
)

// geography is what rules about places need: states, their borders, and where towns are.
type geography struct {
	byName  map[string]string
	borders map[string][]string
	towns   map[string][2]float64
}

func newGeography() *geography {
	g := &geography{byName: map[string]string{}, borders: map[string][]string{}, towns: map[string][2]float64{}}
	for line := range strings.Lines(stateTable) {
		p := strings.Split(strings.TrimSpace(line), "|")
		if len(p) != 3 {
			continue
		}
		g.byName[strings.ToUpper(p[1])] = p[0]
		g.byName[p[0]] = p[0]
		g.borders[p[0]] = strings.Fields(p[2])
	}
	for _, t := range townTable {
		g.towns[t.place] = [2]float64{t.lat, t.lon}
	}
	return g
}

// state returns the two letters of a state that is named or abbreviated.
func (g *geography) state(s string) (string, bool) {
	code, ok := g.byName[strings.ToUpper(strings.TrimSpace(s))]
	return code, ok
}

// hops is the number of borders between two states, -1 when there is no way by land.
func (g *geography) hops(from, to string) int {
	at := map[string]int{from: 0}
	queue := []string{from}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s == to {
			return at[s]
		}
		for _, n := range g.borders[s] {
			if _, seen := at[n]; !seen {
				at[n] = at[s] + 1
				queue = append(queue, n)
			}
		}
	}
	return -1
}

// miles between two towns as the crow flies; ok is false when one of them isn't known.
func (g *geography) miles(cityA, stateA, cityB, stateB string) (int, bool) {
	ka, kb := townKey(cityA, stateA), townKey(cityB, stateB)
	if ka == kb {
		return 0, true
	}
	a, okA := g.towns[ka]
	b, okB := g.towns[kb]
	if !okA || !okB {
		return 0, false
	}
	const rad = math.Pi / 180
	h := sq(math.Sin((b[0]-a[0])*rad/2)) + math.Cos(a[0]*rad)*math.Cos(b[0]*rad)*sq(math.Sin((b[1]-a[1])*rad/2))
	return int(math.Round(2 * 3958.8 * math.Asin(math.Sqrt(h)))), true
}

func sq(x float64) float64 { return x * x }

func townKey(city, state string) string {
	return strings.ToUpper(strings.TrimSpace(city)) + ", " + strings.ToUpper(strings.TrimSpace(state))
}

const stateTable = `
AL|Alabama|FL GA MS TN
AK|Alaska|
AZ|Arizona|CA CO NM NV UT
AR|Arkansas|LA MO MS OK TN TX
CA|California|AZ NV OR
CO|Colorado|AZ KS NE NM OK UT WY
CT|Connecticut|MA NY RI
DE|Delaware|MD NJ PA
DC|District of Columbia|MD VA
FL|Florida|AL GA
GA|Georgia|AL FL NC SC TN
HI|Hawaii|
ID|Idaho|MT NV OR UT WA WY
IL|Illinois|IA IN KY MO WI
IN|Indiana|IL KY MI OH
IA|Iowa|IL MN MO NE SD WI
KS|Kansas|CO MO NE OK
KY|Kentucky|IL IN MO OH TN VA WV
LA|Louisiana|AR MS TX
ME|Maine|NH
MD|Maryland|DC DE PA VA WV
MA|Massachusetts|CT NH NY RI VT
MI|Michigan|IN OH WI
MN|Minnesota|IA ND SD WI
MS|Mississippi|AL AR LA TN
MO|Missouri|AR IA IL KS KY NE OK TN
MT|Montana|ID ND SD WY
NE|Nebraska|CO IA KS MO SD WY
NV|Nevada|AZ CA ID OR UT
NH|New Hampshire|MA ME VT
NJ|New Jersey|DE NY PA
NM|New Mexico|AZ CO OK TX UT
NY|New York|CT MA NJ PA VT
NC|North Carolina|GA SC TN VA
ND|North Dakota|MN MT SD
OH|Ohio|IN KY MI PA WV
OK|Oklahoma|AR CO KS MO NM TX
OR|Oregon|CA ID NV WA
PA|Pennsylvania|DE MD NJ NY OH WV
RI|Rhode Island|CT MA
SC|South Carolina|GA NC
SD|South Dakota|IA MN MT ND NE WY
TN|Tennessee|AL AR GA KY MO MS NC VA
TX|Texas|AR LA NM OK
UT|Utah|AZ CO ID NM NV WY
VT|Vermont|MA NH NY
VA|Virginia|DC KY MD NC TN WV
WA|Washington|ID OR
WV|West Virginia|KY MD OH PA VA
WI|Wisconsin|IA IL MI MN
WY|Wyoming|CO ID MT NE SD UT
`

type town struct {
	place    string
	lat, lon float64
}

var townTable = []town{
	{"DALLAS, TX", 32.78, -96.80},
	{"FORT WORTH, TX", 32.76, -97.33},
	{"IRVING, TX", 32.81, -96.95},
	{"HOUSTON, TX", 29.76, -95.37},
	{"PASADENA, TX", 29.69, -95.21},
	{"SAN ANTONIO, TX", 29.42, -98.49},
	{"AUSTIN, TX", 30.27, -97.74},
	{"LAREDO, TX", 27.51, -99.51},
	{"EL PASO, TX", 31.76, -106.49},
	{"AMARILLO, TX", 35.22, -101.83},
	{"LUBBOCK, TX", 33.58, -101.86},
	{"OKLAHOMA CITY, OK", 35.47, -97.52},
	{"NORMAN, OK", 35.22, -97.44},
	{"TULSA, OK", 36.15, -95.99},
	{"LITTLE ROCK, AR", 34.75, -92.29},
	{"NORTH LITTLE ROCK, AR", 34.77, -92.27},
	{"SHREVEPORT, LA", 32.53, -93.75},
	{"NEW ORLEANS, LA", 29.95, -90.07},
	{"BATON ROUGE, LA", 30.45, -91.19},
	{"MEMPHIS, TN", 35.15, -90.05},
	{"NASHVILLE, TN", 36.16, -86.78},
	{"MURFREESBORO, TN", 35.85, -86.39},
	{"KNOXVILLE, TN", 35.96, -83.92},
	{"CHATTANOOGA, TN", 35.05, -85.31},
	{"ATLANTA, GA", 33.75, -84.39},
	{"MARIETTA, GA", 33.95, -84.55},
	{"SAVANNAH, GA", 32.08, -81.09},
	{"BIRMINGHAM, AL", 33.52, -86.80},
	{"MOBILE, AL", 30.69, -88.04},
	{"JACKSONVILLE, FL", 30.33, -81.66},
	{"TAMPA, FL", 27.95, -82.46},
	{"MIAMI, FL", 25.76, -80.19},
	{"ORLANDO, FL", 28.54, -81.38},
	{"CHARLOTTE, NC", 35.23, -80.84},
	{"CONCORD, NC", 35.41, -80.58},
	{"RALEIGH, NC", 35.78, -78.64},
	{"GREENSBORO, NC", 36.07, -79.79},
	{"COLUMBIA, SC", 34.00, -81.03},
	{"RICHMOND, VA", 37.54, -77.44},
	{"NORFOLK, VA", 36.85, -76.29},
	{"BALTIMORE, MD", 39.29, -76.61},
	{"PHILADELPHIA, PA", 39.95, -75.17},
	{"PITTSBURGH, PA", 40.44, -80.00},
	{"HARRISBURG, PA", 40.27, -76.88},
	{"NEWARK, NJ", 40.74, -74.17},
	{"NEW YORK, NY", 40.71, -74.01},
	{"BUFFALO, NY", 42.89, -78.88},
	{"ALBANY, NY", 42.65, -73.76},
	{"BOSTON, MA", 42.36, -71.06},
	{"HARTFORD, CT", 41.77, -72.67},
	{"COLUMBUS, OH", 39.96, -83.00},
	{"GROVE CITY, OH", 39.88, -83.09},
	{"CLEVELAND, OH", 41.50, -81.69},
	{"CINCINNATI, OH", 39.10, -84.51},
	{"TOLEDO, OH", 41.65, -83.54},
	{"INDIANAPOLIS, IN", 39.77, -86.16},
	{"PLAINFIELD, IN", 39.70, -86.40},
	{"FORT WAYNE, IN", 41.08, -85.14},
	{"GARY, IN", 41.59, -87.35},
	{"LOUISVILLE, KY", 38.25, -85.76},
	{"LEXINGTON, KY", 38.04, -84.50},
	{"DETROIT, MI", 42.33, -83.05},
	{"GRAND RAPIDS, MI", 42.96, -85.67},
	{"CHICAGO, IL", 41.88, -87.63},
	{"JOLIET, IL", 41.53, -88.08},
	{"MILWAUKEE, WI", 43.04, -87.91},
	{"GREEN BAY, WI", 44.51, -88.02},
	{"MINNEAPOLIS, MN", 44.98, -93.27},
	{"SAINT PAUL, MN", 44.95, -93.09},
	{"DES MOINES, IA", 41.59, -93.62},
	{"ANKENY, IA", 41.73, -93.61},
	{"SAINT LOUIS, MO", 38.63, -90.20},
	{"KANSAS CITY, MO", 39.10, -94.58},
	{"LIBERTY, MO", 39.25, -94.42},
	{"SPRINGFIELD, MO", 37.21, -93.29},
	{"WICHITA, KS", 37.69, -97.34},
	{"TOPEKA, KS", 39.05, -95.68},
	{"OMAHA, NE", 41.26, -95.93},
	{"LINCOLN, NE", 40.81, -96.68},
	{"FARGO, ND", 46.88, -96.79},
	{"SIOUX FALLS, SD", 43.54, -96.73},
	{"DENVER, CO", 39.74, -104.99},
	{"AURORA, CO", 39.73, -104.83},
	{"COLORADO SPRINGS, CO", 38.83, -104.82},
	{"SALT LAKE CITY, UT", 40.76, -111.89},
	{"BOISE, ID", 43.62, -116.20},
	{"BILLINGS, MT", 45.78, -108.50},
	{"ALBUQUERQUE, NM", 35.08, -106.65},
	{"PHOENIX, AZ", 33.45, -112.07},
	{"MESA, AZ", 33.42, -111.83},
	{"TUCSON, AZ", 32.22, -110.97},
	{"LAS VEGAS, NV", 36.17, -115.14},
	{"RENO, NV", 39.53, -119.81},
	{"LOS ANGELES, CA", 34.05, -118.24},
	{"LONG BEACH, CA", 33.77, -118.19},
	{"FRESNO, CA", 36.74, -119.79},
	{"SACRAMENTO, CA", 38.58, -121.49},
	{"OAKLAND, CA", 37.80, -122.27},
	{"STOCKTON, CA", 37.96, -121.29},
	{"PORTLAND, OR", 45.52, -122.68},
	{"SEATTLE, WA", 47.61, -122.33},
	{"TACOMA, WA", 47.25, -122.44},
	{"SPOKANE, WA", 47.66, -117.43},
}
