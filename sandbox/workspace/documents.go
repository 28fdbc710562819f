package workspace

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"bordereau/sandbox"
)

// Document is a file of the conversation.
type Document struct {
	Name string // as its uploader called it
	Size int64
	Open func(ctx context.Context) (io.ReadCloser, error)
}

// PutDocuments makes the documents appear below DocumentsDir as they were uploaded and returns where each one is. A document that is
// there already with the same size is left alone.
func PutDocuments(ctx context.Context, files Files, id string, documents []Document) ([]string, error) {
	have := map[string]int64{}
	entries, err := files.ListFiles(ctx, id, sandbox.DocumentsDir)
	if err == nil {
		for _, f := range entries {
			if f.Mode.IsRegular() {
				have[f.Path] = f.Size
			}
		}
	}
	paths := make([]string, 0, len(documents))
	used := map[string]bool{}
	for _, d := range documents {
		name := CleanName(d.Name)
		for n := 2; used[name]; n++ {
			ext := path.Ext(name)
			name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(CleanName(d.Name), ext), n, ext)
		}
		used[name] = true
		full := sandbox.DocumentsDir + "/" + name
		paths = append(paths, full)
		if size, ok := have[full]; ok && size == d.Size {
			continue
		}
		if err := put(ctx, files, id, full, d); err != nil {
			return paths, err
		}
	}
	return paths, nil
}

func put(ctx context.Context, files Files, id, full string, d Document) error {
	r, err := d.Open(ctx)
	if err != nil {
		return fmt.Errorf("workspace: open document %q: %w", d.Name, err)
	}
	defer r.Close()
	return files.WriteFile(ctx, id, full, r)
}

// CleanName makes a name that is one path element, holds nothing invisible or surprising, and starts with no dot or dash.
func CleanName(name string) string {
	name = strings.ReplaceAll(name, "\\", "/")
	name = path.Base(name)
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs):
		case r == '/' || r == ':' || r == '*' || r == '?' || r == '"' || r == '<' || r == '>' || r == '|':
			b.WriteByte('_')
		default:
			b.WriteRune(r)
		}
	}
	clean := strings.TrimLeft(strings.TrimSpace(b.String()), ".-")
	for len(clean) > 200 {
		_, size := utf8.DecodeLastRuneInString(strings.TrimSuffix(clean, path.Ext(clean)))
		ext := path.Ext(clean)
		stem := strings.TrimSuffix(clean, ext)
		if stem == "" || len(ext) > 20 {
			clean = clean[:200]
			clean = strings.ToValidUTF8(clean, "")
			break
		}
		clean = stem[:len(stem)-size] + ext
	}
	if clean == "" {
		return "document"
	}
	return clean
}
