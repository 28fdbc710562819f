package guideline

import (
	"strings"

	"github.com/google/cel-go/cel"
)

// Kind is the type of a fact.
type Kind string

// The kinds of facts. A class is a string: how well documents agree, see Classes.
const (
	String Kind = "string"
	Int    Kind = "int"
	Double Kind = "double"
	Bool   Kind = "bool"
	List   Kind = "list(string)"
	Class  Kind = "class"
)

// The classes of a comparison between documents. A comparison that can't be told is a missing fact, so no class stands for it.
const (
	Consistent    = "consistent"     // they say the same
	BenignVariant = "benign_variant" // they say the same in another spelling
	Supersession  = "supersession"   // a later document says that it changes the earlier
	Conflict      = "conflict"       // they contradict each other
	Single        = "single"         // only one document speaks of it
	Silent        = "silent"         // no document speaks of it
)

// Classes lists the values of a fact of kind Class.
func Classes() []string {
	return []string{Consistent, BenignVariant, Supersession, Conflict, Single, Silent}
}

// Name is one fact that a condition may use.
type Name struct {
	Name    string
	Kind    Kind
	Scope   Scope // the facts of a submission are known in every scope
	Meaning string
	Unit    Unit
}

// Unit is what a fact is counted in, where a number alone could be misread.
type Unit string

// The units that sentences write with the number. Miles, days and percent stand in the sentences themselves.
const (
	Dollars Unit = "dollars"
	Pounds  Unit = "pounds"
	Year    Unit = "year"
)

// unitOf reads the unit from the meaning of a fact.
func unitOf(meaning string) Unit {
	switch {
	case strings.Contains(meaning, ", dollars"):
		return Dollars
	case strings.Contains(meaning, ", pounds"):
		return Pounds
	case strings.HasPrefix(meaning, "model year stated") && !strings.Contains(meaning, "against"):
		return Year
	}
	return ""
}

// write adds the unit to a number as it is displayed.
func (u Unit) write(number string) string {
	switch u {
	case Dollars:
		if rest, negative := strings.CutPrefix(number, "-"); negative {
			return "-$" + rest
		}
		return "$" + number
	case Pounds:
		return number + " lb"
	case Year:
		return strings.ReplaceAll(number, ",", "")
	}
	return number
}

// Quantity writes a number of that unit as every sentence does.
func Quantity(value float64, u Unit) string { return u.write(display(value)) }

// Vocabulary is the closed list of facts. It never changes once made.
type Vocabulary struct {
	names []Name
	index map[string]int
}

// NewVocabulary returns the facts that reconciliation provides.
func NewVocabulary() *Vocabulary {
	v := &Vocabulary{index: map[string]int{}}
	for _, block := range []struct {
		scope Scope
		text  string
	}{{Submission, submissionNames}, {Vehicle, vehicleNames}, {Driver, driverNames}, {Loss, lossNames}, {Coverage, coverageNames}} {
		for line := range strings.Lines(block.text) {
			part := strings.SplitN(strings.TrimSpace(line), " ", 3)
			if len(part) != 3 {
				continue
			}
			kind := Kind(part[1])
			if kind == "list" {
				kind = List
			}
			v.index[part[0]] = len(v.names)
			v.names = append(v.names, Name{Name: part[0], Kind: kind, Scope: block.scope, Meaning: strings.TrimSpace(part[2]), Unit: unitOf(part[2])})
		}
	}
	return v
}

// Names returns all facts, in the order of the documentation.
func (v *Vocabulary) Names() []Name { return append([]Name(nil), v.names...) }

// Lookup returns the fact of that name.
func (v *Vocabulary) Lookup(name string) (Name, bool) {
	i, ok := v.index[name]
	if !ok {
		return Name{}, false
	}
	return v.names[i], true
}

// visible returns the facts that a rule of scope s may use.
func (v *Vocabulary) visible(s Scope) []Name {
	var out []Name
	for _, n := range v.names {
		if n.Scope == Submission || n.Scope == s {
			out = append(out, n)
		}
	}
	return out
}

func (k Kind) cel() *cel.Type {
	switch k {
	case Int:
		return cel.IntType
	case Double:
		return cel.DoubleType
	case Bool:
		return cel.BoolType
	case List:
		return cel.ListType(cel.StringType)
	default:
		return cel.StringType
	}
}

// The tables: name, kind, meaning. docs/GUIDELINES.md is printed from them.
const submissionNames = `
submission.workflow string extraction workflow, such as "New Business Intake"
submission.line_of_business string line of business as registered
policy.days_to_effective int days from the run's clock to the effective date; negative when it has passed
policy.term_days int days from effective to expiry date
carrier.usdot string USDOT number on the application
carrier.fmcsa_found bool finding the USDOT number at FMCSA (a snapshot that says "not found" is false)
carrier.status_code string FMCSA status: A active, I inactive
carrier.allowed_to_operate bool permission to operate as FMCSA knows it
carrier.safety_rating string FMCSA safety rating: Satisfactory, Conditional, Unsatisfactory or Not Rated
carrier.common_authority string FMCSA common authority: A active, I inactive, N none
carrier.contract_authority string FMCSA contract authority: A active, I inactive, N none
carrier.bipd_on_file int BIPD insurance on file with FMCSA, dollars
carrier.mcs150_age_months int whole months since the MCS-150 date, at the run's clock
carrier.driver_oos_rate double driver out-of-service rate, percent
carrier.inspections int roadside inspections behind the out-of-service rate
carrier.power_units int power units that FMCSA knows
carrier.drivers int drivers that FMCSA knows
applicant.years_in_business double years in business as stated
applicant.naics string NAICS code, digits only
fleet.rows int vehicle rows on the schedule
fleet.power_units int tractors, trucks, pickups and cars on the schedule
fleet.tractors int tractors on the schedule
fleet.power_units_stated int power units stated on the application
fleet.vehicles_stated int vehicles stated on the application or on the schedule's own totals
fleet.tiv_summed double sum of the stated values on the schedule, dollars
fleet.tiv_stated double total insured value as stated, dollars
fleet.physical_damage bool whether physical damage cover is asked for
fleet.drivers int drivers on the driver list
fleet.drivers_stated int drivers stated on the application
fleet.radius_miles int largest radius stated on the schedule or the application, miles
loss_run.valuation_age_days int days from the oldest loss run's valuation date to the effective date
loss_run.years double years that the loss runs' terms cover
loss_run.gap_days int longest gap between consecutive terms, days; 0 for none
loss_run.unmatched_carriers list carriers of loss runs that the application doesn't name as prior carriers, and the reverse
loss_run.claims int claims on the loss runs
loss_run.incurred_3y double incurred in terms that began in the last three years and a half, dollars
loss_run.premium_3y double premium of those terms, dollars
loss_run.loss_ratio double incurred_3y in percent of premium_3y
loss_run.frequency double claims in those terms for each power unit and year
loss_run.total_stated double total incurred that the loss runs state, dollars
loss_run.total_summed double sum of incurred over the claims, dollars
loss_run.no_losses_stated bool whether the application says that there were no losses
operations.radius_stated int radius of operation stated on the application, miles
operations.ifta_border_hops int borders crossed from the terminal's state to the farthest IFTA state; 0 within it
operations.ifta_states list states with IFTA miles
operations.states list states of operation stated on the application
operations.states_outside list IFTA states that the application doesn't state
operations.annual_miles_stated int yearly miles stated on the application
operations.annual_miles_ifta int yearly miles on the IFTA returns
operations.commodities list commodities stated, lower case
operations.hazmat_declared bool answer to the hazardous materials question
operations.hazmat_commodities list stated commodities that are hazardous materials
operations.hazmat_class string 49 CFR 387.9 class of the commodities: none, listed or bulk
operations.for_hire bool whether the applicant hauls for hire
operations.interstate bool whether the applicant crosses state lines
operations.filings list filings asked for, such as "BMC-91X" and "MCS-90"
operations.heavy bool whether any power unit weighs 10,001 pounds or more
liability.csl int combined single limit asked for, dollars
liability.csl_basis string basis of that limit as written, such as "CSL"; "" when none is written
match.legal_name class legal name on application, FMCSA and loss runs
match.dba class DBA name across documents
match.usdot class USDOT number across documents
match.mc_number class MC number across documents
match.fein class FEIN across documents
match.mailing_address class mailing address across documents
match.effective_date class effective date across application, coverages and e-mail
match.expiry_date class expiry date across application, coverages and e-mail
match.csl class liability limit across application, coverages and e-mail
match.symbol class liability symbol across application and coverages
match.ifta_units class IFTA units against the schedule
`

const vehicleNames = `
vehicle.unit_no string unit number
vehicle.vin string VIN as it stands on the schedule, upper case
vehicle.vin_length int characters of the VIN
vehicle.vin_legal bool whether all characters are legal in a VIN
vehicle.vin_check_digit bool whether the check digit is right
vehicle.vin_match class the VIN against NHTSA's data: conflict when no scheme of its manufacturer allows it
vehicle.vin_rows int rows of the schedule with this VIN
vehicle.year int model year stated
vehicle.make string make stated
vehicle.model string model stated
vehicle.type string type read from the stated body: tractor, truck, pickup, car, van, bus, trailer or other
vehicle.decoded_type string the same, decoded from the VIN
vehicle.decoded_model string model decoded from the VIN
vehicle.year_match class model year stated against the decode's candidate years
vehicle.make_match class make stated against the decode
vehicle.model_match class model stated against the decode; single when the decode gives none
vehicle.type_match class type stated against the decode
vehicle.gvw_match class gross weight stated against the decoded class range; single when the decode gives none
vehicle.gvw int gross vehicle weight stated, pounds
vehicle.age int years from the model year to the effective date's year
vehicle.stated_value double stated value, dollars
vehicle.garaging_state string state of garaging
vehicle.garaging_po_box bool whether the garaging address is a post office box
vehicle.garaging_miles int miles from garaging to terminal, straight line between towns
vehicle.registration_match class year and weight on the registration; silent when none is in the packet
vehicle.application_match class whether the application lists the vehicle as the schedule does; silent when it lists none
`

const driverNames = `
driver.name string name
driver.age int age on the effective date
driver.years_experience double years of commercial driving
driver.license_class string licence class
driver.license_state_valid bool whether the licence's state exists
driver.license_status string licence status: Valid, Suspended, Revoked, Expired
driver.on_list bool whether the driver list has the driver
driver.on_mvr bool whether an MVR is in the packet
driver.in_losses bool whether a loss names the driver
driver.mvr_age_days int days from the MVR's run date to the effective date
driver.moving_violations int moving violations in 36 months
driver.accidents int accidents in 36 months
driver.major_violations int major violations in 5 years
driver.identity_match class licence number, state and birth date on list and MVR; single when only one has the driver
`

const lossNames = `
loss.claim_number string claim number
loss.incurred double incurred as stated, dollars
loss.paid double paid, dollars
loss.reserve double reserve, dollars
loss.recovered double recovered, dollars
loss.narrative bool whether the claim has a description
loss.in_term bool whether the date of loss is inside the term
loss.reported_in_order bool whether the claim was reported on or after the date of loss
loss.vehicle_match class unit and VIN of the claim against the schedule; silent when the claim names none
`

const coverageNames = `
coverage.name string coverage, such as "Auto Liability"
coverage.limit int limit, dollars
coverage.limit_basis string basis of the limit as written
coverage.deductible int deductible, dollars
coverage.symbol string covered auto symbols as written
coverage.premium double premium, dollars
`
