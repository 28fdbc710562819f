package sample

import (
	"cmp"
	"slices"
	"time"
)

// Accuracy is how many fields of one name a workflow extracted, and how many of them a person edited.
type Accuracy struct {
	Workflow   string  `json:"workflow"`
	Field      string  `json:"field_name"`
	Fields     int     `json:"fields"`
	Edited     int     `json:"edited"`
	Confidence float64 `json:"confidence"` // the mean
}

// Volume is how many submissions of a workflow came in a month, and how long they took.
type Volume struct {
	Workflow    string  `json:"workflow"`
	Month       string  `json:"month"` // its first day
	Submissions int     `json:"submissions"`
	Completed   int     `json:"completed"`
	MeanHours   float64 `json:"mean_hours"`
	MedianHours float64 `json:"median_hours"`
}

// accuracy counts the fields that were extracted in a period.
func accuracy(org *Org, from, until time.Time) []Accuracy {
	type cell struct{ workflow, field string }
	all := map[cell]*Accuracy{}
	for _, s := range org.Submissions {
		for _, f := range s.Documents {
			for _, spot := range f.Spots {
				if spot.At.Before(from) || !spot.At.Before(until) {
					continue
				}
				c := cell{s.Workflow, spot.Field}
				if all[c] == nil {
					all[c] = &Accuracy{Workflow: c.workflow, Field: c.field}
				}
				a := all[c]
				a.Fields++
				a.Confidence += spot.Confidence
				if slices.ContainsFunc(spot.Edits, func(e Edit) bool { return e.Source == "human" }) {
					a.Edited++
				}
			}
		}
	}
	out := make([]Accuracy, 0, len(all))
	for _, a := range all {
		a.Confidence /= float64(a.Fields)
		out = append(out, *a)
	}
	slices.SortFunc(out, func(a, b Accuracy) int {
		return cmp.Or(cmp.Compare(a.Workflow, b.Workflow), cmp.Compare(a.Field, b.Field))
	})
	return out
}

// volumes counts the submissions that were received in a period.
func volumes(org *Org, from, until time.Time) []Volume {
	type cell struct{ workflow, month string }
	all, hours := map[cell]*Volume{}, map[cell][]float64{}
	for _, s := range org.Submissions {
		if s.Received.Before(from) || !s.Received.Before(until) {
			continue
		}
		c := cell{s.Workflow, s.Received.UTC().Format("2006-01") + "-01"}
		if all[c] == nil {
			all[c] = &Volume{Workflow: c.workflow, Month: c.month}
		}
		all[c].Submissions++
		if !s.Completed.IsZero() {
			// The import holds whole seconds.
			hours[c] = append(hours[c], s.Completed.Truncate(time.Second).Sub(s.Received.Truncate(time.Second)).Hours())
		}
	}
	out := make([]Volume, 0, len(all))
	for c, v := range all {
		took := hours[c]
		slices.Sort(took)
		if v.Completed = len(took); v.Completed > 0 {
			for _, h := range took {
				v.MeanHours += h / float64(len(took))
			}
			v.MedianHours = (took[(len(took)-1)/2] + took[len(took)/2]) / 2
		}
		out = append(out, *v)
	}
	slices.SortFunc(out, func(a, b Volume) int {
		return cmp.Or(cmp.Compare(a.Workflow, b.Workflow), cmp.Compare(a.Month, b.Month))
	})
	return out
}
