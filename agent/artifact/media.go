package artifact

import (
	"bytes"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"
)

// sniffBytes is how much of a file tells its type.
const sniffBytes = 512

// kinds maps an extension to its type and to what the content must begin with ("" for text).
// A name alone is never believed: "report.pdf" that holds HTML is not a PDF.
func kinds(ext string) (mediaType, magic string, ok bool) {
	switch ext {
	case ".pdf":
		return "application/pdf", "%PDF-", true
	case ".xlsx":
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "PK\x03\x04", true
	case ".docx":
		return "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "PK\x03\x04", true
	case ".pptx":
		return "application/vnd.openxmlformats-officedocument.presentationml.presentation", "PK\x03\x04", true
	case ".zip":
		return "application/zip", "PK", true
	case ".gz", ".tgz":
		return "application/gzip", "\x1f\x8b", true
	case ".xls", ".doc", ".msg":
		return "application/x-ole-storage", "\xd0\xcf\x11\xe0", true
	case ".parquet":
		return "application/vnd.apache.parquet", "PAR1", true
	case ".png":
		return "image/png", "\x89PNG\r\n\x1a\n", true
	case ".jpg", ".jpeg":
		return "image/jpeg", "\xff\xd8\xff", true
	case ".gif":
		return "image/gif", "GIF8", true
	case ".csv":
		return "text/csv", "", true
	case ".md":
		return "text/markdown", "", true
	case ".json":
		return "application/json", "", true
	case ".eml":
		return "message/rfc822", "", true
	case ".txt", ".log", ".sql", ".py", ".sh", ".tsv":
		return "text/plain", "", true
	case ".svg", ".html", ".htm", ".xml":
		// Active content: kept, and never given a type that a browser would run.
		return "application/octet-stream", "", true
	}
	return "", "", false
}

// MediaType tells a file's type from its name and first bytes, where both agree; else "application/octet-stream".
func MediaType(name string, head []byte) string {
	const unknown = "application/octet-stream"
	mediaType, magic, ok := kinds(strings.ToLower(path.Ext(name)))
	switch {
	case ok && magic != "":
		if bytes.HasPrefix(head, []byte(magic)) {
			return mediaType
		}
		return unknown
	case ok:
		if text(head) {
			return mediaType
		}
		return unknown
	}
	switch sniffed, _, _ := strings.Cut(http.DetectContentType(head), ";"); sniffed {
	case "application/pdf", "image/png", "image/jpeg", "image/gif", "application/zip", "text/plain":
		return sniffed
	}
	return unknown
}

// Inline tells whether a browser may show the type in its own window. Everything else is only ever downloaded.
func Inline(mediaType string) bool {
	switch mediaType {
	case "image/png", "image/jpeg", "image/gif":
		return true
	}
	return false
}

// text tells whether the bytes read as UTF-8 text; a character cut at the end is no fault.
func text(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for len(head) > 0 {
		r, size := utf8.DecodeRune(head)
		if r == utf8.RuneError && size == 1 {
			return len(head) < utf8.UTFMax
		}
		head = head[size:]
	}
	return true
}
