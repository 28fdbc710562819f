package excel

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"
)

// zipEpoch is the earliest time that a zip can hold; every part gets it.
var zipEpoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// contentTypes is the one part that excelize writes in an order of chance.
const contentTypes = "[Content_Types].xml"

// settle writes the workbook so that equal reports give equal bytes: parts by name, fixed times, content types sorted.
func settle(file *excelize.File, w io.Writer) error {
	raw, err := file.WriteToBuffer()
	if err != nil {
		return fmt.Errorf("writing the workbook: %w", err)
	}
	in, err := zip.NewReader(bytes.NewReader(raw.Bytes()), int64(raw.Len()))
	if err != nil {
		return fmt.Errorf("reading the workbook back: %w", err)
	}
	parts := slices.Clone(in.File)
	slices.SortFunc(parts, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	out := zip.NewWriter(w)
	for _, part := range parts {
		if err := settlePart(out, part); err != nil {
			return fmt.Errorf("settling %s: %w", part.Name, err)
		}
	}
	return out.Close()
}

func settlePart(out *zip.Writer, part *zip.File) error {
	header := zip.FileHeader{Name: part.Name, Method: zip.Deflate, Modified: zipEpoch}
	if part.Name != contentTypes {
		// The compressed bytes are taken as they are: compressing a large sheet twice would double the time.
		header.Method, header.CRC32 = part.Method, part.CRC32
		header.CompressedSize64, header.UncompressedSize64 = part.CompressedSize64, part.UncompressedSize64
		to, err := out.CreateRaw(&header)
		if err != nil {
			return err
		}
		from, err := part.OpenRaw()
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from)
		return err
	}
	from, err := part.Open()
	if err != nil {
		return err
	}
	text, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	to, err := out.CreateHeader(&header)
	if err != nil {
		return err
	}
	_, err = to.Write(sortElements(text))
	return err
}

// typeElement is one child of the content types, which hold no text.
var typeElement = regexp.MustCompile(`<(?:Default|Override)\b[^>]*(?:/>|></(?:Default|Override)>)`)

// sortElements sorts the children of the content types' root.
func sortElements(text []byte) []byte {
	open := bytes.Index(text, []byte("<Types"))
	end := bytes.LastIndex(text, []byte("</Types>"))
	if open < 0 || end < open {
		return text
	}
	start := open + bytes.IndexByte(text[open:], '>') + 1
	children := typeElement.FindAllString(string(text[start:end]), -1)
	slices.Sort(children)
	return slices.Concat(text[:start], []byte(strings.Join(children, "")), text[end:])
}
