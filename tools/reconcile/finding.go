package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"bordereau/tools/guideline"
)

// finding turns a verdict into a finding with its proof.
func (e *evaluation) finding(v *guideline.Verdict, label, id string) Finding {
	f := Finding{
		SubmissionID: e.x.ID, RuleID: v.Rule.ID, Guideline: e.g.Key(), Severity: v.Severity, Action: v.Action,
		Outcome: string(v.Outcome), Class: guideline.Conflict, Entity: label, EntityID: id, Field: shortField(v.Field), Message: v.Message, Expected: v.Expected,
	}
	about := v.Facts
	if v.Outcome == guideline.Unknown {
		f.Class = "unresolved"
		f.Missing = v.Missing
		about = append(slices.Clone(v.Facts), v.Missing...)
		e.untold(&f, v)
	}
	slices.Sort(about)
	about = slices.Compact(about)
	f.Evidence = e.evidence(about)
	f.Confidence = 1
	for _, ev := range f.Evidence {
		if ev.Kind == "document" {
			f.Confidence = min(f.Confidence, ev.Confidence)
		}
	}
	if len(f.Evidence) == 1 && f.Evidence[0].Kind == "query" && v.Outcome == guideline.Unknown {
		f.Confidence = 0 // Nothing was read at all.
	}
	e.describe(&f, v, about)
	return f
}

// untold softens severity and action of a rule that can't be told, and says what is missing.
func (e *evaluation) untold(f *Finding, v *guideline.Verdict) {
	if f.Severity == "critical" {
		f.Severity = "major"
	}
	if f.Action == "decline" {
		f.Action = "refer"
	}
	why := make([]string, len(v.Missing))
	for i, m := range v.Missing {
		why[i] = e.sheet.facts.Why(m)
	}
	why = slices.Compact(why)
	f.Message = "Can't be told: " + strings.Join(why, "; ") + "."
	f.Expected = ""
}

// describe adds what the document says, what was expected, and how it was matched.
func (e *evaluation) describe(f *Finding, v *guideline.Verdict, about []string) {
	names := append([]string{v.Field}, about...)
	for _, name := range names {
		n, ok := e.sheet.notes[name]
		if !ok {
			continue
		}
		if f.Explanation == "" {
			f.Explanation = n.explanation
		}
		if n.stated != "" && f.Stated == "" {
			f.Stated = n.stated
			if n.expected != "" && f.Expected == "" {
				f.Expected = n.expected
			}
		}
	}
	if f.Stated == "" {
		f.Stated = e.stated(v.Field)
	}
	if f.Explanation != "" && v.Outcome == guideline.Fail && strings.HasPrefix(v.Field, "match.") {
		f.Message = strings.TrimSuffix(f.Message, ".") + ": " + f.Explanation + "."
	}
	if f.Expected == f.Stated { // such as a VIN that is read as it stands, and can't be
		f.Expected = ""
	}
	f.Stated, f.Expected = readable(f.Field, f.Stated), readable(f.Field, f.Expected)
	if masked(f.Field, "x") != "x" || strings.Contains(f.Field, "fein") {
		f.Stated, f.Expected = masked("fein", f.Stated), masked("fein", f.Expected)
	}
}

// stated is what the documents say of a fact. Yes and no are our answers, unless one field of a document gives them.
func (e *evaluation) stated(fact string) string {
	text, fields := e.sheet.facts.Text(fact), e.sheet.notes[fact].fields
	ours := text == "yes" || text == "no"
	switch {
	case text != "" && !ours:
		return text
	case len(fields) == 0, ours && (len(fields) > 1 || fields[0].Name == "name" || fields[0].Name == "driver"):
		return ""
	}
	return masked(fields[0].Name, fields[0].Value)
}

// supersession notes a declared change: the rule passes, and a person should know why.
func (e *evaluation) supersession(v *guideline.Verdict, label, id string) {
	for i := range v.Rule.Checks {
		name := v.Rule.Checks[i].Field
		if name == "" {
			name = v.Rule.Field
		}
		if !strings.HasPrefix(name, "match.") || e.sheet.facts.Text(name) != guideline.Supersession {
			continue
		}
		n := e.sheet.notes[name]
		n.stated, n.expected = readable(shortField(name), n.stated), readable(shortField(name), n.expected)
		f := Finding{
			SubmissionID: e.x.ID, RuleID: v.Rule.ID, Guideline: e.g.Key(), Severity: "note", Action: "note", Outcome: string(guideline.Pass), Class: guideline.Supersession,
			Entity: label, EntityID: id, Field: shortField(name), Stated: n.stated, Expected: n.expected, Explanation: n.explanation, Confidence: 1,
			Message: fmt.Sprintf("A later document changes %s from %s to %s and says so.", strings.ReplaceAll(shortField(name), "_", " "), n.stated, n.expected),
		}
		f.Evidence = e.evidence([]string{name})
		for _, ev := range f.Evidence {
			if ev.Kind == "document" {
				f.Confidence = min(f.Confidence, ev.Confidence)
			}
		}
		e.add(f, id)
	}
}

func shortField(name string) string {
	_, short, ok := strings.Cut(name, ".")
	if !ok {
		return name
	}
	return short
}

// evidence collects what the facts rest on: documents, the decode, and the query that read them.
func (e *evaluation) evidence(names []string) []Evidence {
	var out []Evidence
	seen := map[string]bool{}
	for _, name := range names {
		n := e.sheet.notes[name]
		for _, f := range n.fields {
			if f == nil || seen[f.ID] {
				continue
			}
			seen[f.ID] = true
			out = append(out, e.documentEvidence(f))
		}
		if n.decode != nil && !seen["decode"] {
			seen["decode"] = true
			out = append(out, decodeEvidence(n))
		}
	}
	slices.SortStableFunc(out, func(a, b Evidence) int {
		return strings.Compare(a.Kind+"\x00"+a.DocType+"\x00"+a.DocumentID+"\x00"+a.FieldID, b.Kind+"\x00"+b.DocType+"\x00"+b.DocumentID+"\x00"+b.FieldID)
	})
	if len(out) == 0 || out[0].Kind == "decode" && len(out) == 1 {
		out = append(out, Evidence{Kind: "query", AuditID: e.x.AuditID, Value: "the documents of submission " + e.x.ID})
	}
	return out
}

func (e *evaluation) documentEvidence(f *Field) Evidence {
	return Evidence{
		Kind: "document", AuditID: e.x.AuditID, DocumentID: f.doc.ID, Filename: f.doc.Filename, DocType: f.doc.Type, FieldID: f.ID, Field: f.Name,
		Page: f.Page, Box: f.Box, Raw: masked(f.Name, f.Original), Value: masked(f.Name, f.Value), Confidence: f.confidence(), EditedBy: f.EditedBy,
	}
}

func decodeEvidence(n note) Evidence {
	r := &n.decode.Result
	source := "NHTSA vPIC " + r.DataDate
	if el, ok := r.Element("Model"); ok && el.Schema != "" {
		source += fmt.Sprintf(", %s, key %s", el.Schema, el.Key)
	} else if r.WMI != "" {
		source += ", WMI " + r.WMI
	}
	return Evidence{Kind: "decode", Field: "vin", Raw: n.decode.VIN, Value: n.expected, Confidence: 1, Source: source}
}

// masked hides all but the end of what not every role may see. Runs are stored and shown to roles with different rights.
func masked(field, value string) string {
	switch alias("", field) {
	case "fein", "ssn", "license_number":
		keep := 0
		out := []rune(value)
		for i := len(out) - 1; i >= 0; i-- {
			if out[i] == '-' || out[i] == ' ' {
				continue
			}
			if keep++; keep > 4 {
				out[i] = '*'
			}
		}
		return string(out)
	case "date_of_birth":
		if t, err := parseDate(value); err == nil {
			return fmt.Sprintf("%d-**-**", t.Year())
		}
		return "****"
	}
	return value
}
