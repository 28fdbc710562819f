package excel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bordereau/reports"
)

func (b *workbook) guideline() error {
	s, err := b.sheet(sheetGuideline, column{"Guideline", 40}, column{"Version", 10}, column{"Effective", 12}, column{"Rule", 10}, column{"Severity", 10}, column{"Action", 10}, column{"Scope", 12},
		column{"Text", 70}, column{"Parameters", 40}, column{"Basis", 30}, column{"SHA-256 of the guideline", 68})
	if err != nil {
		return err
	}
	for _, g := range b.report.Applied() {
		for _, rule := range g.Rules {
			parameters := make([]string, 0, len(rule.Parameters))
			for _, key := range slices.Sorted(maps.Keys(rule.Parameters)) {
				parameters = append(parameters, key+" = "+rule.Parameters[key])
			}
			if err := s.append([]any{
				b.text(g.Name), b.text(g.Version), b.text(g.Effective), b.text(rule.ID), b.text(rule.Severity), b.text(rule.Action), b.text(rule.Scope),
				b.wrapped(rule.Text), b.wrapped(strings.Join(parameters, "\n")), b.wrapped(rule.Basis), b.text(g.SHA256),
			}); err != nil {
				return err
			}
		}
	}
	return s.flush()
}

func (b *workbook) evidence() error {
	s, err := b.sheet(sheetEvidence, column{headFinding, 10}, column{"Kind", 10}, column{"Document", 30}, column{"Type", 17}, column{"Page", 7}, column{"Box", 26}, column{"Field", 18},
		column{"Raw text", 30}, column{"Value", 30}, column{"Confidence", 11}, column{"Edited by", 20}, column{"Source", 40}, column{"Query (audit id)", 30}, column{"Field id", 24}, column{"Document id", 20})
	if err != nil {
		return err
	}
	for _, f := range b.report.Findings {
		for _, e := range f.Evidence {
			if err := s.append([]any{
				b.text(f.ID), b.text(e.Kind), b.text(e.Filename), b.text(e.DocType), b.page(e), b.text(boxText(e)), b.text(e.Field), b.wrapped(e.Raw), b.wrapped(e.Value),
				b.confidence(e), b.text(e.EditedBy), b.wrapped(e.Source), b.text(e.AuditID), b.text(e.FieldID), b.text(e.DocumentID),
			}); err != nil {
				return err
			}
		}
	}
	return s.flush()
}

func (b *workbook) page(e reports.Evidence) any {
	if e.Page == 0 {
		return b.text("")
	}
	return b.number(e.Page)
}

func (b *workbook) confidence(e reports.Evidence) any {
	if e.Confidence == 0 {
		return b.text("")
	}
	return b.percent(e.Confidence)
}

func boxText(e reports.Evidence) string {
	if e.Box == [4]float64{} {
		return ""
	}
	return fmt.Sprintf("%.3f, %.3f – %.3f, %.3f", e.Box[0], e.Box[1], e.Box[2], e.Box[3])
}

func (b *workbook) runLog() error {
	s, err := b.sheet(sheetRunLog, column{"At", 22}, column{"What", 50}, column{"Rows", 10}, column{"Audit id", 34}, column{"SQL", 90})
	if err != nil {
		return err
	}
	for _, entry := range b.report.Log {
		if err := s.append([]any{b.text(entry.At.UTC().Format("2006-01-02 15:04:05.000")), b.wrapped(entry.Message), b.text(""), b.text(""), b.text("")}); err != nil {
			return err
		}
	}
	for _, q := range b.report.Queries {
		if err := s.append([]any{b.text(b.report.Clock.UTC().Format("2006-01-02 15:04:05.000")), b.wrapped(q.Purpose), b.number(q.Rows), b.text(q.AuditID), b.wrapped(q.SQL)}); err != nil {
			return err
		}
	}
	return s.flush()
}
