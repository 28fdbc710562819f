package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"

	"bordereau/reports"
)

// finish adds bookmarks, attaches files, checks the document strictly against the standard and settles what differs from run to run.
func finish(w io.Writer, laidOut []byte, marks []mark, r *reports.Report, attachments []Attachment) error {
	conf := configuration()
	ctx, err := api.ReadValidateAndOptimize(bytes.NewReader(laidOut), conf)
	if err != nil {
		return fmt.Errorf("checking the PDF: %w", err)
	}
	if err := pdfcpu.AddBookmarks(ctx, bookmarks(marks), true); err != nil {
		return fmt.Errorf("adding bookmarks to the PDF: %w", err)
	}
	if err := balance(ctx); err != nil {
		return fmt.Errorf("naming the places of the PDF: %w", err)
	}
	for _, a := range attachments {
		at := r.Clock.UTC()
		if err := ctx.AddAttachment(model.Attachment{Reader: bytes.NewReader(a.Content), ID: a.Name, FileName: a.Name, Desc: a.Description, ModTime: &at}, false); err != nil {
			return fmt.Errorf("attaching %s: %w", a.Name, err)
		}
	}
	var out bytes.Buffer
	if err := api.WriteContext(ctx, &out); err != nil {
		return fmt.Errorf("writing the PDF: %w", err)
	}
	sorted, err := ordered(out.Bytes())
	if err != nil {
		return err
	}
	settled := settle(sorted, r.Clock)
	if err := api.Validate(bytes.NewReader(settled), configuration()); err != nil {
		return fmt.Errorf("checking the finished PDF: %w", err)
	}
	_, err = w.Write(settled)
	return err
}

// namesInNode is how many names or kids a node of the tree of names gets.
const namesInNode = 64

// balance rebuilds the tree of the bookmarks' names. pdfcpu hangs each few sorted names one level below the last, so that hundreds are
// deeper than its own check, and some readers, follow.
func balance(ctx *model.Context) error {
	root := ctx.Names["Dests"]
	if root == nil {
		return nil
	}
	var level []*model.Node
	if err := root.Process(ctx.XRefTable, func(_ *model.XRefTable, name string, place *types.Object) error {
		if n := len(level); n == 0 || len(level[n-1].Names) == namesInNode {
			level = append(level, &model.Node{Kmin: name})
		}
		leaf := level[len(level)-1]
		leaf.AppendToNames(name, *place)
		leaf.Kmax = name
		return nil
	}); err != nil {
		return err
	}
	for len(level) > namesInNode {
		var above []*model.Node
		for kids := range slices.Chunk(level, namesInNode) {
			above = append(above, &model.Node{Kids: kids, Kmin: kids[0].Kmin, Kmax: kids[len(kids)-1].Kmax})
		}
		level = above
	}
	if len(level) > 0 {
		root.Kids, root.Names, root.Kmin, root.Kmax = level, nil, level[0].Kmin, level[len(level)-1].Kmax
	}
	return nil
}

// ErrPassword is returned for a password that not every program types alike.
var ErrPassword = errors.New("PDF: a password has 8 to 127 letters, digits and signs of ASCII, without spaces")

// encrypt locks a finished file: it opens with the password, and then allows everything.
func encrypt(w io.Writer, finished []byte, password string) error {
	if len(password) < 8 || len(password) > 127 || strings.ContainsFunc(password, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ErrPassword
	}
	api.DisableConfigDir()
	conf := model.NewAESConfiguration(password, password, 256)
	conf.Permissions = model.PermissionsAll
	if err := api.Encrypt(bytes.NewReader(finished), w, conf); err != nil {
		return fmt.Errorf("encrypting the PDF: %w", err)
	}
	return nil
}

// Decrypt opens an encrypted report. Equal reports give equal bytes, whatever was random about their encryption.
func Decrypt(raw []byte, password string) ([]byte, error) {
	conf := configuration()
	conf.UserPW, conf.OwnerPW = password, password
	conf.ValidationMode = model.ValidationRelaxed // a changed file is to be read, too
	var open bytes.Buffer
	if err := api.Decrypt(bytes.NewReader(raw), &open, conf); err != nil {
		return nil, fmt.Errorf("opening the encrypted PDF: %w", err)
	}
	sorted, err := ordered(open.Bytes())
	if err != nil {
		return nil, err
	}
	return settle(sorted, time.Unix(0, 0)), nil
}

// bookmarks nests marks by level.
func bookmarks(marks []mark) []pdfcpu.Bookmark {
	var all []pdfcpu.Bookmark
	for _, m := range marks {
		b := pdfcpu.Bookmark{Title: m.title, PageFrom: m.page}
		if m.level > 0 && len(all) > 0 {
			section := &all[len(all)-1]
			section.Kids = append(section.Kids, b)
			continue
		}
		all = append(all, b)
	}
	return all
}

// configuration is pdfcpu's, without its folder in the user's home and with everything but streams in the clear, so that
// settle finds dates and the file's id.
func configuration() *model.Configuration {
	api.DisableConfigDir()
	conf := model.NewDefaultConfiguration()
	conf.ValidationMode = model.ValidationStrict
	conf.WriteObjectStream = false
	conf.WriteXRefStream = false
	return conf
}

var (
	fileID   = regexp.MustCompile(`/ID\s*\[\s*<[0-9A-Fa-f]*>\s*<[0-9A-Fa-f]*>\s*\]`)
	fileDate = regexp.MustCompile(`/(?:CreationDate|ModDate)\s*\(D:[0-9]{14}[^)]*\)`)
	hexDigit = regexp.MustCompile(`[0-9A-Fa-f]`)
)

// settle overwrites dates and the random file id in place, byte for byte of the same length, so that offsets stay right.
func settle(raw []byte, clock time.Time) []byte {
	stamp := []byte(clock.UTC().Format("20060102150405"))
	raw = fileDate.ReplaceAllFunc(raw, func(date []byte) []byte {
		at := bytes.Index(date, []byte("D:")) + 2
		fixed := append([]byte{}, date...)
		copy(fixed[at:], stamp)
		copy(fixed[at+14:], bytes.Map(func(c rune) rune {
			switch {
			case c >= '0' && c <= '9':
				return '0'
			case c == '-':
				return '+'
			}
			return c
		}, date[at+14:]))
		return fixed
	})
	return fileID.ReplaceAllFunc(raw, func(id []byte) []byte {
		open := bytes.IndexByte(id, '[')
		return append(append([]byte{}, id[:open]...), hexDigit.ReplaceAll(id[open:], []byte("0"))...)
	})
}
