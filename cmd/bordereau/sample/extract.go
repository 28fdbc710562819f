package sample

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// rates is how often extraction misreads a field, in percent, and a person corrects it.
var rates = map[string]int{"vin": 9, "named_insured": 7, "fein": 6, "license_number": 6, "incurred": 6, "stated_value": 5, "date_of_birth": 4, "mailing_address": 8, "date_of_loss": 5, "csl_limit": 4, "model": 4}

// extract invents what an extraction service read from a document, and what people and rules changed since.
// After the edits a value is what stands on the page, so edits plant no discrepancies.
func extract(f *File, b *bundle, s *Submission, rng *rand.Rand, today time.Time) {
	for i, r := range f.Rows {
		r.ID = fmt.Sprintf("R-%s-%d", strings.TrimPrefix(f.ID, "D-"), i+1)
		r.Confidence = 1
	}
	at := b.received.Add(time.Duration(2+rng.IntN(8)) * time.Minute)
	for i, spot := range f.Spots {
		spot.ID = fmt.Sprintf("F-%s-%d", strings.TrimPrefix(f.ID, "D-"), i+1)
		spot.At = at
		spot.Value = spot.Text
		spot.Confidence = float64(880+rng.IntN(117)) / 1000
		edit := func(from, to, by, source, reason string, after time.Duration) {
			spot.Value = from
			spot.Edits = append(spot.Edits, Edit{ID: fmt.Sprintf("E-%s-%d", strings.TrimPrefix(spot.ID, "F-"), len(spot.Edits)+1), From: from, To: to, By: by, Source: source, Reason: reason, At: at.Add(after)})
		}
		rate, ok := rates[spot.Field]
		if !ok {
			rate = 2
		}
		if s.Workflow == "Claims Intake" {
			rate += 2
		}
		after := time.Duration(20+rng.IntN(900)) * time.Minute
		if b.received.After(today) {
			after = time.Duration(10+rng.IntN(40)) * time.Minute
		}
		switch {
		case b.weak[f.Kind+"/"+spot.Field]:
			spot.Confidence = 0.31
		case rng.IntN(100) < rate:
			if wrong := misread(spot.Text, rng); wrong != spot.Text {
				spot.Confidence = float64(560+rng.IntN(280)) / 1000
				edit(wrong, spot.Text, reviewers[rng.IntN(len(reviewers))], "human", "misread", after)
			}
		case strings.HasSuffix(spot.Field, "_date") && strings.Count(spot.Text, "/") == 2 && rng.IntN(12) == 0:
			if t, err := time.Parse("01/02/2006", spot.Text); err == nil {
				edit(spot.Text, t.Format(time.DateOnly), "normalise-dates", "rule", "dates as ISO 8601", time.Minute)
			}
		}
		if spot.Row != nil {
			spot.Row.Confidence = min(spot.Row.Confidence, spot.Confidence)
		}
	}
}

var lookAlikes = map[byte]byte{'0': 'O', '1': 'I', '5': 'S', '8': 'B', '2': 'Z', 'S': '5', 'B': '8', 'O': '0', 'I': '1', 'e': 'c', 'l': '1', 'a': 'o', 'n': 'h', 'A': 'R', '6': '8', '3': '8', '9': '4', '7': '1', '4': '9'}

// misread changes one character for one that looks like it.
func misread(s string, rng *rand.Rand) string {
	at := []int{}
	for i := range len(s) {
		if _, ok := lookAlikes[s[i]]; ok {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return s
	}
	i := at[rng.IntN(len(at))]
	return s[:i] + string(lookAlikes[s[i]]) + s[i+1:]
}
