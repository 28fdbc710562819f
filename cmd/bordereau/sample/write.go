package sample

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

type submissionLine struct {
	Type      string  `json:"type"`
	ID        string  `json:"id"`
	Workflow  string  `json:"workflow"`
	Status    string  `json:"status"`
	Insured   string  `json:"insured_name"`
	Broker    string  `json:"broker_name"`
	Carrier   string  `json:"carrier"`
	Line      string  `json:"line_of_business"`
	Effective string  `json:"effective_date"`
	Expiry    string  `json:"expiry_date"`
	Received  string  `json:"received_at"`
	Completed *string `json:"completed_at"`
}

type documentLine struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Submission string `json:"submission_id"`
	Kind       string `json:"document_type"`
	Name       string `json:"filename"`
	Media      string `json:"media_type"`
	Pages      int    `json:"pages"`
	Received   string `json:"received_at"`
	Path       string `json:"path"`
}

type rowLine struct {
	Type       string     `json:"type"`
	ID         string     `json:"id"`
	Document   string     `json:"document_id"`
	Table      string     `json:"table"`
	Index      int        `json:"index"`
	Page       int        `json:"page"`
	Box        [4]float64 `json:"bbox"`
	Confidence float64    `json:"confidence"`
}

type fieldLine struct {
	Type       string     `json:"type"`
	ID         string     `json:"id"`
	Document   string     `json:"document_id"`
	Row        *string    `json:"row_id"`
	Field      string     `json:"field"`
	Value      string     `json:"value"`
	Unit       *string    `json:"unit"`
	Confidence float64    `json:"confidence"`
	Page       int        `json:"page"`
	Box        [4]float64 `json:"bbox"`
	At         string     `json:"extracted_at"`
}

type editLine struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Field  string `json:"field_id"`
	From   string `json:"from"`
	To     string `json:"to"`
	By     string `json:"by"`
	Source string `json:"source"`
	At     string `json:"at"`
	Reason string `json:"reason"`
}

// Write puts the organisation into a folder: import.ndjson, the documents it names, and key.json.
func (o *Org) Write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	parts := make([][]byte, len(o.Submissions))
	workers := max(2, runtime.GOMAXPROCS(0))
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(o.Submissions) && errs[w] == nil; i += workers {
				parts[i], errs[w] = o.Submissions[i].write(folder)
			}
		})
	}
	wg.Wait()
	if err := errorsOf(errs...); err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	file, err := os.Create(filepath.Join(folder, "import.ndjson"))
	if err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	for _, p := range parts {
		if _, err := out.Write(p); err != nil {
			return fmt.Errorf("sample: %w", err)
		}
	}
	if err := errorsOf(out.Flush(), file.Close()); err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	text, err := json.MarshalIndent(o.Key, "", " ")
	if err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	return os.WriteFile(filepath.Join(folder, "key.json"), append(text, '\n'), 0o644)
}

// write stores the documents and returns the import's lines.
func (s *Submission) write(folder string) ([]byte, error) {
	under := filepath.Join("documents", s.ID)
	if err := os.MkdirAll(filepath.Join(folder, under), 0o755); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	line := submissionLine{
		"submission", s.ID, s.Workflow, s.Status, s.Insured, s.Broker, s.Carrier, "commercial_auto",
		s.Effective.Format(time.DateOnly), s.Expiry.Format(time.DateOnly), stamp(s.Received), nil,
	}
	if !s.Completed.IsZero() {
		at := stamp(s.Completed)
		line.Completed = &at
	}
	if err := enc.Encode(line); err != nil {
		return nil, err
	}
	for _, f := range s.Documents {
		path := filepath.Join(under, f.Name)
		if err := os.WriteFile(filepath.Join(folder, path), f.Bytes, 0o644); err != nil {
			return nil, err
		}
		if err := enc.Encode(documentLine{"document", f.ID, s.ID, f.Kind, f.Name, f.Media, f.Pages, stamp(f.Received), filepath.ToSlash(path)}); err != nil {
			return nil, err
		}
		for _, r := range f.Rows {
			if err := enc.Encode(rowLine{"row", r.ID, f.ID, r.Table, r.Index, r.Page, r.Box, r.Confidence}); err != nil {
				return nil, err
			}
		}
		for _, spot := range f.Spots {
			l := fieldLine{Type: "field", ID: spot.ID, Document: f.ID, Field: spot.Field, Value: spot.Value, Confidence: spot.Confidence, Page: spot.Page, Box: spot.Box, At: stamp(spot.At)}
			if spot.Row != nil {
				l.Row = &spot.Row.ID
			}
			if err := enc.Encode(l); err != nil {
				return nil, err
			}
			for _, e := range spot.Edits {
				if err := enc.Encode(editLine{"edit", e.ID, spot.ID, e.From, e.To, e.By, e.Source, stamp(e.At), e.Reason}); err != nil {
					return nil, err
				}
			}
		}
	}
	return out.Bytes(), nil
}
