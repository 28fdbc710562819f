package sample

import (
	"archive/zip"
	"bytes"
	"io"
	"sort"
	"strings"
)

// settle rewrites a workbook so that the same content gives the same bytes: its list of content types comes in an order of chance.
func settle(book []byte) ([]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(book), int64(len(book)))
	if err != nil {
		return nil, err
	}
	sort.Slice(r.File, func(i, j int) bool { return r.File[i].Name < r.File[j].Name })
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range r.File {
		if f.Name != "[Content_Types].xml" {
			if err := w.Copy(f); err != nil {
				return nil, err
			}
			continue
		}
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(in)
		in.Close()
		if err != nil {
			return nil, err
		}
		part, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Deflate})
		if err != nil {
			return nil, err
		}
		if _, err := part.Write([]byte(sortedTypes(string(text)))); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}

func sortedTypes(s string) string {
	from, to := strings.Index(s, "<Default"), strings.LastIndex(s, "</Types>")
	if o := strings.Index(s, "<Override"); o >= 0 && (from < 0 || o < from) {
		from = o
	}
	if from < 0 || to < 0 {
		return s
	}
	parts := strings.SplitAfter(s[from:to], ">")
	sort.Strings(parts)
	return s[:from] + strings.Join(parts, "") + s[to:]
}
