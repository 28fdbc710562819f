package schedule

import "time"

// State is where a run is.
type State string

// The states of a run. Queued and Running are live.
const (
	Queued    State = "queued"    // waits for the run before it
	Running   State = "running"   // its turn waits or runs
	Completed State = "completed" // these four are how its turn ended
	CutShort  State = "cut_short"
	Cancelled State = "cancelled"
	Failed    State = "failed"
	Skipped   State = "skipped" // the run before it was still under way, or the schedule was paused
	Unrun     State = "missed"  // its time went by while nobody could run it
)

// Cause is what started a run.
type Cause string

// The causes.
const (
	ByClock  Cause = "clock"
	ByPerson Cause = "person"
)

// Unknown is Run.Found while nothing is known.
const Unknown = -1

// Run is one tick of a schedule and what came of it.
type Run struct {
	ID           string
	Schedule     string
	Org          string
	Tick         time.Time
	Cause        Cause
	State        State
	Note         string // why it was skipped, or how it ended, as a sentence
	Missed       int    // earlier ticks that this one stands for
	Conversation string
	Turn         string
	Found        int    // findings, or files where nothing was reconciled; Unknown
	Alert        string // why somebody was alerted, "" if nobody was
	Created      time.Time
	Ended        time.Time
	Deliveries   []Delivery
}

// Parcel says which kind of delivery one is.
type Parcel string

// The kinds of parcel.
const (
	Report Parcel = "report"
	Alert  Parcel = "alert"
)

// DeliveryState is where a delivery is.
type DeliveryState string

// The states of a delivery.
const (
	Due     DeliveryState = "due"     // waits for its next attempt
	Sending DeliveryState = "sending" // an attempt is under way, or was when its process ended
	Sent    DeliveryState = "sent"
	GivenUp DeliveryState = "failed"
)

// Delivery brings a run's report or alert to one destination.
type Delivery struct {
	ID          string
	Org         string
	Run         string
	Parcel      Parcel
	Position    int
	Destination Destination
	State       DeliveryState
	Tries       int
	NextTry     time.Time
	Created     time.Time
	Ended       time.Time
	Attempts    []Attempt
}

// Outcome is how an attempt ended.
type Outcome string

// The outcomes of an attempt.
const (
	Started  Outcome = "started"
	Accepted Outcome = "accepted"
	Refused  Outcome = "refused" // for good
	Failing  Outcome = "failed"  // it is tried again
	Lost     Outcome = "unknown" // the process ended in the middle: it may have arrived
)

// Attempt is one try of a delivery.
type Attempt struct {
	N       int
	Outcome Outcome
	Message string // what was answered, as a sentence
	Hint    string
	Started time.Time
	Ended   time.Time
}
