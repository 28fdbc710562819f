package vin

import "strings"

// kinds are what a vehicle can be, as a set.
type kinds uint16

const (
	kindTractor kinds = 1 << iota
	kindTruck         // straight truck
	kindTrailer
	kindPickup
	kindVan // cargo or step van
	kindCar
	kindSUV
	kindBus
	kindMotorcycle
	kindMotorhome
	kindMinivan
	kindOffRoad
)

// kindOf is what the decode says the vehicle is, 0 if it doesn't.
func kindOf(r *Result) kinds {
	body := strings.ToUpper(r.BodyClass())
	switch {
	case strings.Contains(body, "GLIDER"):
		return kindTractor | kindTruck
	case strings.Contains(body, "TRUCK-TRACTOR"):
		return kindTractor
	case strings.Contains(body, "TRAILER"):
		return kindTrailer
	case strings.HasPrefix(body, "INCOMPLETE"):
		return incompleteKind(body)
	case strings.Contains(body, "PICKUP"), strings.Contains(body, "SPORT UTILITY TRUCK"):
		return kindPickup
	case strings.Contains(body, "MOTORHOME"):
		return kindMotorhome
	case strings.Contains(body, "OFF-ROAD"):
		return kindOffRoad
	case strings.Contains(body, "MOTORCYCLE"):
		return kindMotorcycle
	case strings.Contains(body, "BUS"), strings.Contains(body, "STREETCAR"):
		return kindBus
	case strings.Contains(body, "STEP VAN"):
		return kindVan | kindTruck
	case body == "MINIVAN":
		return kindMinivan | kindVan
	case strings.Contains(body, "VAN"):
		return kindVan | kindMinivan
	case strings.Contains(body, "SPORT UTILITY VEHICLE"), strings.Contains(body, "CROSSOVER"):
		return kindSUV
	case body == "TRUCK", strings.Contains(body, "FIRE APPARATUS"), strings.Contains(body, "STREET SWEEPER"), strings.Contains(body, "AMBULANCE"):
		return kindTruck
	case body != "":
		return kindCar
	}
	switch r.VehicleType() {
	case "TRAILER":
		return kindTrailer
	case "BUS":
		return kindBus
	case "PASSENGER CAR":
		return kindCar
	case "MOTORCYCLE":
		return kindMotorcycle
	case "TRUCK":
		return kindTractor | kindTruck | kindPickup | kindVan
	case "INCOMPLETE VEHICLE":
		return kindTruck | kindTractor | kindVan | kindBus | kindMotorhome | kindPickup
	}
	return 0
}

// incompleteKind is what a chassis may have become.
func incompleteKind(body string) kinds {
	switch {
	case strings.Contains(body, "BUS"), strings.Contains(body, "COACH"):
		return kindBus | kindMotorhome
	case strings.Contains(body, "MOTOR HOME"):
		return kindMotorhome
	case strings.Contains(body, "TRAILER"):
		return kindTrailer
	case strings.Contains(body, "CUTAWAY"), strings.Contains(body, "STRIPPED"):
		return kindTruck | kindVan | kindBus | kindMotorhome
	case strings.Contains(body, "COMMERCIAL CHASSIS"):
		return kindTruck | kindTractor | kindVan
	}
	return kindTruck | kindTractor | kindVan | kindBus | kindPickup
}

// statedKind reads a body type as documents word it, 0 if it isn't understood.
func statedKind(s string) kinds {
	w := " " + strings.Join(strings.FieldsFunc(strings.ToUpper(s), func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }), " ") + " "
	has := func(words ...string) bool {
		for _, x := range words {
			if strings.Contains(w, " "+x+" ") {
				return true
			}
		}
		return false
	}
	switch {
	case has("TRAILER", "TRAILERS", "TRLR", "TRL", "SEMITRAILER", "SEMI TRAILER", "REEFER TRAILER", "PUP", "DOLLY", "LOWBOY", "LOW BOY", "STEP DECK", "STEPDECK",
		"DROP DECK", "DOUBLE DROP", "RGN", "CONESTOGA", "CURTAIN SIDE", "CURTAINSIDE", "HOPPER", "HOPPER BOTTOM", "CHASSIS TRAILER", "CONTAINER CHASSIS", "DRY VAN",
		"GOOSENECK", "END DUMP", "BELLY DUMP", "BOTTOM DUMP", "PNEUMATIC", "LIVESTOCK", "ROADRAILER"):
		return kindTrailer
	case has("TRACTOR", "TRACTORS", "TRUCK TRACTOR", "SLEEPER", "DAY CAB", "DAYCAB", "ROAD TRACTOR", "POWER UNIT", "TT", "TRK TRACTOR", "SEMI", "SEMI TRUCK", "SEMI TRACTOR"):
		return kindTractor
	case has("PICKUP", "PICK UP", "PU", "P U"):
		return kindPickup
	case has("MOTORHOME", "MOTOR HOME", "RV"):
		return kindMotorhome
	case has("BUS", "COACH", "SHUTTLE", "SCHOOL BUS"):
		return kindBus
	case has("STEP VAN", "WALK IN VAN", "BOX TRUCK", "BOX TRK", "STRAIGHT TRUCK", "STRAIGHT", "STR TRUCK", "CUBE VAN", "CUTAWAY", "DUMP TRUCK", "TOW TRUCK", "WRECKER",
		"ROLLBACK", "ROLL BACK", "ROLL OFF", "GARBAGE", "REFUSE", "MIXER", "CONCRETE MIXER", "CRANE", "BUCKET TRUCK", "STAKE", "STAKE BODY", "SERVICE TRUCK", "UTILITY TRUCK", "FIRE TRUCK"):
		if has("STEP VAN", "WALK IN VAN", "CUBE VAN", "CUTAWAY") {
			return kindTruck | kindVan
		}
		return kindTruck
	case has("REEFER", "REFRIGERATED", "REFRIG", "FLATBED", "FLAT BED", "FLAT", "PLATFORM", "TANK", "TANKER", "DUMP", "BOX", "CAR HAULER", "CARHAULER", "AUTO HAULER", "AUTO TRANSPORT"):
		return kindTrailer | kindTruck
	case has("CARGO VAN", "PASSENGER VAN", "SPRINTER", "TRANSIT"):
		return kindVan
	case has("MINIVAN", "MINI VAN"):
		return kindMinivan
	case has("VAN"):
		return kindVan | kindMinivan | kindTrailer
	case has("SUV", "SPORT UTILITY", "UTILITY VEHICLE", "CROSSOVER", "MPV"):
		return kindSUV
	case has("SEDAN", "COUPE", "CAR", "PASSENGER CAR", "PRIVATE PASSENGER", "PPT", "HATCHBACK", "WAGON", "CONVERTIBLE", "AUTO"):
		return kindCar | kindSUV
	case has("MOTORCYCLE"):
		return kindMotorcycle
	case has("TRUCK", "TRUCKS", "TRK"):
		return kindTruck | kindTractor | kindPickup | kindVan
	case has("CHASSIS", "CAB CHASSIS", "CAB AND CHASSIS"):
		return kindTruck | kindTrailer | kindVan
	}
	return 0
}

// trailerBody sorts what is said of a trailer: dry van, reefer, flatbed, tank, …; "" if it isn't told.
func trailerBody(s string) string {
	w := strings.ToUpper(s)
	has := func(words ...string) bool {
		for _, x := range words {
			if strings.Contains(w, x) {
				return true
			}
		}
		return false
	}
	switch {
	case has("REEFER", "REFRIG", "ARCTIC LITE"):
		return "reefer"
	case has("DRY VAN", "DURAPLATE", "SHEET & POST", "ENCLOSED CARGO", "DRYVAN"):
		return "dry van"
	case has("FLATBED", "FLAT BED", "PLATFORM", "STEP DECK", "STEPDECK", "DROP DECK", "LOWBOY", "LOW BOY", "DOUBLE DROP"):
		return "flatbed"
	case has("TANK", "PNEUMATIC"):
		return "tank"
	case has("DUMP"):
		return "dump"
	case has("HOPPER", "GRAIN"):
		return "hopper"
	case has("CAR HAUL", "AUTO HAUL", "AUTO TRANSPORT", "CARHAUL", "AUTOMOBILE TRANSPORT"):
		return "car hauler"
	case has("LIVESTOCK", "LIVE ANIMAL"):
		return "livestock"
	case has("CONTAINER", "INTERMODAL"):
		return "container chassis"
	}
	return ""
}

// sameBody compares a stated body type with the decode.
func sameBody(stated string, r *Result) (Verdict, string, string) {
	decoded := r.BodyClass()
	if decoded == "" {
		decoded = r.VehicleType()
	}
	if strings.EqualFold(strings.TrimSpace(stated), decoded) && decoded != "" {
		return Agrees, decoded, ""
	}
	is, said := kindOf(r), statedKind(stated)
	switch {
	case is == 0 || decoded == "":
		return Unresolved, decoded, "the data tells no type for this VIN"
	case said == 0:
		return Unresolved, decoded, "the stated body type isn't one that is known here"
	case is&said == 0:
		return Conflict, decoded, ""
	}
	if is == kindTrailer {
		told := r.Value("TrailerBodyType")
		if told == "" || told == notApplicable {
			told = r.Model()
		}
		if a, b := trailerBody(stated), trailerBody(told); a != "" && b != "" && a != b {
			return Conflict, told, ""
		} else if a != "" && b == "" {
			return Agrees, decoded, "the VIN says trailer; which body it has isn't in the data set"
		}
	}
	if is&^said != 0 || said&^is != 0 {
		return Variant, decoded, "compatible wording"
	}
	return Agrees, decoded, ""
}
