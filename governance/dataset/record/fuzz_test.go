package record

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

// collect keeps what a reader finds.
type collect struct {
	records  []Record
	problems []Problem
}

func (c *collect) Record(r Record) error {
	r.Values = append([]any(nil), r.Values...)
	c.records = append(c.records, r)
	return nil
}

var errEnough = errors.New("enough")

func (c *collect) Problem(p Problem) error {
	c.problems = append(c.problems, p)
	if len(c.problems) > 50 {
		return errEnough
	}
	return nil
}

// valid fails if a record holds what the builder can't take.
func (c *collect) valid(t *testing.T) {
	t.Helper()
	for _, p := range c.problems {
		if p.File == "" || p.Message == "" || !utf8.ValidString(p.String()) {
			t.Fatalf("problem %+v", p)
		}
	}
	for _, r := range c.records {
		i := 0
		for _, col := range r.Kind.Columns() {
			for range col.Type.width() {
				v := r.Values[i]
				i++
				ok := v == nil && !col.Required
				switch v := v.(type) {
				case string:
					ok = col.Type == Text && utf8.ValidString(v) && strings.IndexByte(v, 0) < 0 && len(v) <= col.MaxBytes
				case int32:
					ok = col.Type == Int && v >= col.Least
				case float64:
					ok = (col.Type == Float || col.Type == Box) && v >= 0 && v <= 1
				case time.Time:
					ok = (col.Type == Date || col.Type == Time) && v.Location() == time.UTC
				}
				if !ok {
					t.Fatalf("%s %s: %T %v", r.Kind, col.Name, v, v)
				}
			}
		}
		if i != len(r.Values) {
			t.Fatalf("%s has %d values, want %d", r.Kind, len(r.Values), i)
		}
	}
}

func seeds(f *testing.F) {
	for _, s := range []string{
		`{"type":"submission","id":"S-1","workflow":"W","status":"received","effective_date":"2026-12-15","received_at":"2026-11-29T09:12:00Z","completed_at":null}`,
		`{"type":"row","id":"R-1","document_id":"D-1","table":"vehicles","index":1,"page":1,"bbox":[0.05,0.20,0.95,2e-1],"confidence":0.97}`,
		`{"type":"edit","id":"E\u00e9\ud83d\ude00\n","field_id":"F","from":"\"","to":"\\","by":"b","source":"rule","at":"2026-11-29T09:12:00+02:00"}`,
		"\xef\xbb\xbf{}\r\n\n{\"type\":\"field\",\"id\":\"\xff\"}", `{"a":[],"b":[1,]}`, `{"type":"row","index":1e400}`, `{"type":"\ud800"}`, `{"x":{}}`, `[`, `{"type":true}`,
	} {
		f.Add([]byte(s))
	}
}

// What is read as a record is a JSON object with the same values, by the standard library's word.
func FuzzNDJSON(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var c collect
		if err := ReadNDJSON("f", bytes.NewReader(data), &c); err != nil && !errors.Is(err, errEnough) {
			t.Fatal(err)
		}
		c.valid(t)
		lines := bytes.Split(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), []byte("\n"))
		for _, r := range c.records {
			var m map[string]any
			if err := json.Unmarshal(lines[r.Row-1], &m); err != nil {
				t.Fatalf("%q was read, but %v", lines[r.Row-1], err)
			}
			for _, col := range r.Kind.Columns() {
				switch v := m[col.Name].(type) {
				case nil:
					if r.Values[col.at] != nil {
						t.Fatalf("%s: %v, want null", col.Name, r.Values[col.at])
					}
				case string:
					if col.Type == Text && r.Values[col.at] != v {
						t.Fatalf("%s: %q, want %q", col.Name, r.Values[col.at], v)
					}
				case float64:
					if col.Type == Float && r.Values[col.at] != v {
						t.Fatalf("%s: %v, want %v", col.Name, r.Values[col.at], v)
					}
				}
			}
		}
	})
}

// A line that is a flat JSON object is never called a syntax error.
func FuzzScanner(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := scanner{data: data}
		why := s.object()
		if why == "" && !json.Valid(data) {
			t.Fatalf("%q was read", data)
		}
		var m map[string]any
		if why == "" || !utf8.Valid(data) || json.Unmarshal(data, &m) != nil || m == nil || len(m) > 60 {
			return
		}
		if strings.Contains(why, "keys") || bytes.Contains(data, []byte(`\u`)) {
			return
		}
		for _, v := range m {
			switch v := v.(type) {
			case map[string]any:
				return
			case []any:
				for _, x := range v {
					if _, ok := x.(float64); !ok {
						return
					}
				}
			}
		}
		if bytes.Contains(data, []byte("{")) && bytes.Count(data, []byte("{"))+bytes.Count(data, []byte("["))+bytes.Count(data, []byte(`"`)) > 0 && strings.Contains(why, "inside") {
			return // an object given twice, the last of which is flat
		}
		if strings.Contains(why, "want a value") {
			return // the same with an array
		}
		t.Fatalf("%q: %s", data, why)
	})
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"id,field_id,from,to,by,source,at\nE,F,\"\",,p,human,2026-11-29T09:12:00Z\n", "type,id\r\n\"row\",\"a\"\"b\n\"\r\n", "type\n\"", "type,type\n", "id,x0,y0,x1,y1\n1,0,0,1,1", "\xef\xbb\xbftype\n\n\n,\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c collect
		if err := ReadCSV("edits.csv", bytes.NewReader(data), &c); err != nil && !errors.Is(err, errEnough) {
			t.Fatal(err)
		}
		c.valid(t)
		// Cells are cut as the standard library cuts them.
		mine := &csvReader{lines: lines{in: bufio.NewReader(bytes.NewReader(data))}}
		std := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
		std.FieldsPerRecord = -1
		for {
			cells, _, why, err := mine.next()
			want, stdErr := std.Read()
			if why != "" || err != nil || stdErr != nil {
				if why == "" && errors.Is(err, io.EOF) != errors.Is(stdErr, io.EOF) && stdErr == nil {
					t.Fatalf("ended with %v, want %q", err, want)
				}
				return
			}
			var got []string
			for _, c := range cells {
				got = append(got, strings.ReplaceAll(c.Value.(string), "\r\n", "\n"))
			}
			for i := range want {
				want[i] = strings.ReplaceAll(want[i], "\r\n", "\n")
			}
			if !bytes.Contains(data, []byte("\r")) {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("(-std +ours)\n%s", diff)
				}
			}
		}
	})
}

func FuzzXLSX(f *testing.F) {
	book := excelize.NewFile()
	for i, row := range [][]any{{"type", "id", "workflow", "status", "received_at"}, {"submission", "S-1", "W", "received", 46355.5}, {"submission", 7, "W", "lost", "x"}} {
		if err := book.SetSheetRow("Sheet1", []string{"A1", "A2", "A3"}[i], &row); err != nil {
			f.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := book.Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var c collect
		if err := ReadXLSX("book.xlsx", bytes.NewReader(data), &c); err != nil && !errors.Is(err, errEnough) {
			t.Fatal(err)
		}
		c.valid(t)
	})
}

func BenchmarkNDJSON(b *testing.B) {
	line := `{"type":"field","id":"F-1","document_id":"D-1","row_id":"R-1","field":"vin","value":"1XPWD40X1ED215307","unit":null,"confidence":0.98,"page":1,"bbox":[0.1,0.2,0.3,0.22],"extracted_at":"2026-11-29T09:12:00Z"}` + "\n"
	data := []byte(strings.Repeat(line, 1000))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := ReadNDJSON("f", bytes.NewReader(data), discard{}); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (discard) Record(Record) error   { return nil }
func (discard) Problem(Problem) error { return errEnough }
