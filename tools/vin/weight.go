package vin

import "fmt"

// WeightRange is a gross vehicle weight rating in pounds, from From to To, both inclusive.
type WeightRange struct {
	// Class is the FHWA class: 1 to 8, or NHTSA's finer 1A to 2H.
	Class string `json:"class"`
	From  int    `json:"from"`
	// To is 0 for class 8, which has no upper end.
	To int `json:"to,omitempty"`
}

// String words the range.
func (w WeightRange) String() string {
	if w.To == 0 {
		return fmt.Sprintf("class %s: %d lb and above", w.Class, w.From)
	}
	return fmt.Sprintf("class %s: %d to %d lb", w.Class, w.From, w.To)
}

// joined is the range from the class of w to that of upper.
func (w WeightRange) joined(upper WeightRange) WeightRange {
	if w.To == 0 || upper.Class == "" || upper.Class == w.Class || upper.To != 0 && upper.To <= w.To {
		return w
	}
	return WeightRange{Class: w.Class + "-" + upper.Class, From: w.From, To: upper.To}
}

// Contains is true if pounds lies in the range.
func (w WeightRange) Contains(pounds int) bool {
	return w.Class != "" && pounds >= w.From && (w.To == 0 || pounds <= w.To)
}

// weightRange maps NHTSA's ids to pounds. NHTSA's own bounds aren't used: the row of class 2H ends at 1000.
func weightRange(id int32) WeightRange {
	switch id {
	case 1:
		return WeightRange{"1", 0, 6000}
	case 10:
		return WeightRange{"1A", 0, 3000}
	case 11:
		return WeightRange{"1B", 3001, 4000}
	case 12:
		return WeightRange{"1C", 4001, 5000}
	case 13:
		return WeightRange{"1D", 5001, 6000}
	case 14:
		return WeightRange{"2E", 6001, 7000}
	case 15:
		return WeightRange{"2F", 7001, 8000}
	case 16:
		return WeightRange{"2G", 8001, 9000}
	case 17:
		return WeightRange{"2H", 9001, 10000}
	case 2:
		return WeightRange{"2", 6001, 10000}
	case 4:
		return WeightRange{"3", 10001, 14000}
	case 5:
		return WeightRange{"4", 14001, 16000}
	case 6:
		return WeightRange{"5", 16001, 19500}
	case 7:
		return WeightRange{"6", 19501, 26000}
	case 8:
		return WeightRange{"7", 26001, 33000}
	case 9:
		return WeightRange{"8", 33001, 0}
	}
	return WeightRange{}
}
