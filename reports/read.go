package reports

import (
	"encoding/json"
	"fmt"
	"io"
)

// Read reads the JSON form of a report as it comes, a submission and a finding at a time, so that the text of a long run is never held
// as a whole. It reads no further than the report's end.
func Read(from io.Reader) (*Report, error) {
	var r Report
	words := shared{}
	rest := map[string]json.RawMessage{}
	err := members(from, func(dec *json.Decoder, key string) (err error) {
		switch key {
		case "submissions":
			r.Submissions, err = list(dec, words.submission)
		case "findings":
			r.Findings, err = list(dec, words.finding)
		default:
			var value json.RawMessage
			err = dec.Decode(&value)
			rest[key] = value
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(rest)
	if err == nil {
		err = json.Unmarshal(head, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a report: %w", err)
	}
	return &r, nil
}

// Sentences reads what each finding of a report in JSON says, by its id, and keeps nothing else of it.
func Sentences(from io.Reader) (map[string]string, error) {
	says := map[string]string{}
	err := members(from, func(dec *json.Decoder, key string) (err error) {
		switch key {
		case "submissions":
			_, err = list(dec, func(*struct{}) {})
		case "findings":
			_, err = list(dec, func(f *struct{ ID, Message string }) { says[f.ID] = f.Message })
		default:
			var value json.RawMessage
			err = dec.Decode(&value)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return says, nil
}

// members calls take for each member of an object, which it must read.
func members(from io.Reader, take func(dec *json.Decoder, key string) error) error {
	dec := json.NewDecoder(from)
	if err := delimiter(dec, '{'); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fmt.Errorf("reading a report: %w", err)
		}
		if err := take(dec, fmt.Sprint(key)); err != nil {
			return fmt.Errorf("reading a report, %v: %w", key, err)
		}
	}
	return delimiter(dec, '}')
}

func delimiter(dec *json.Decoder, want json.Delim) error {
	switch got, err := dec.Token(); {
	case err != nil:
		return fmt.Errorf("reading a report: %w", err)
	case got != want:
		return fmt.Errorf("reading a report: %v where %v was wanted", got, want)
	}
	return nil
}

// list reads the elements of an array, or null. Each goes through share, which bounds what many alike take.
func list[T any](dec *json.Decoder, share func(*T)) ([]T, error) {
	start, err := dec.Token()
	if err != nil || start == nil {
		return nil, err
	}
	if start != json.Delim('[') {
		return nil, fmt.Errorf("%v where a list was wanted", start)
	}
	all := []T{}
	for dec.More() {
		var x T
		if err := dec.Decode(&x); err != nil {
			return nil, err
		}
		share(&x)
		all = append(all, x)
	}
	_, err = dec.Token()
	return all, err
}

// shared keeps one copy of words that stand in every row of a long run, such as names of fields and verdicts.
type shared map[string]string

func (s shared) one(words ...*string) {
	for _, w := range words {
		known, ok := s[*w]
		if !ok {
			s[*w], known = *w, *w
		}
		*w = known
	}
}

func (s shared) submission(x *Submission) {
	s.one(&x.Workflow, &x.Guideline, &x.Decision, &x.Broker)
	for _, items := range [][]Item{x.Vehicles, x.Drivers, x.Losses, x.Coverages} {
		for i := range items {
			items[i].DocumentID = x.document(items[i].DocumentID)
			for k := range items[i].Cells {
				s.one(&items[i].Cells[k].Field, &items[i].Cells[k].Verdict)
			}
		}
	}
}

// document is the submission's own copy of a document's id.
func (x *Submission) document(id string) string {
	for i := range x.Documents {
		if x.Documents[i].ID == id {
			return x.Documents[i].ID
		}
	}
	return id
}

func (s shared) finding(f *Finding) {
	s.one(&f.RuleID, &f.Guideline, &f.Severity, &f.Action, &f.Outcome, &f.Class, &f.Field)
	for i := range f.Evidence {
		e := &f.Evidence[i]
		s.one(&e.Kind, &e.AuditID, &e.DocType, &e.Field, &e.Source)
	}
}
