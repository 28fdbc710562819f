package guideline

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

//go:embed library/*.yaml
var embedded embed.FS

// ErrNone is the kind of error of a guideline that isn't there.
var ErrNone = errors.New("no such guideline")

// Library holds guidelines of several carriers in several versions. It is immutable and safe for use by many goroutines.
type Library struct {
	all []*Guideline
}

// Embedded returns the guidelines that come with the program: the starter and three carriers that extend it.
func Embedded() (*Library, error) {
	sub, err := fs.Sub(embedded, "library")
	if err != nil {
		return nil, err
	}
	return Open(sub)
}

// Open loads every .yaml file of a folder. A guideline may extend another of the same folder.
func Open(folder fs.FS) (*Library, error) {
	files, err := fs.Glob(folder, "*.yaml")
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, f := range files {
		if texts[f], err = fs.ReadFile(folder, f); err != nil {
			return nil, err
		}
	}
	l := &Library{}
	// What extends something is loaded once that is there; a circle leaves files over.
	for len(texts) > 0 {
		before := len(texts)
		var last error
		for _, f := range files {
			text, waiting := texts[f]
			if !waiting {
				continue
			}
			base := extended(text)
			if base != "" && l.byKey(base) == nil && len(texts) > 1 && before != 0 {
				last = fmt.Errorf("%s: extends %s: %w", f, base, ErrNone)
				continue
			}
			g, err := Load(path.Base(f), text, l.ByKey)
			if err != nil {
				return nil, err
			}
			delete(texts, f)
			if err := l.add(g); err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
		}
		if len(texts) == before {
			return nil, last
		}
	}
	slices.SortFunc(l.all, func(a, b *Guideline) int {
		return strings.Compare(a.ID, b.ID)*2 + a.Effective.Compare(b.Effective)
	})
	return l, nil
}

// With returns a library that also holds g.
func (l *Library) With(g *Guideline) (*Library, error) {
	c := &Library{all: slices.Clone(l.all)}
	return c, c.add(g)
}

func (l *Library) add(g *Guideline) error {
	if l.byKey(g.Key()) != nil {
		return fmt.Errorf("guideline %s is there twice", g.Key())
	}
	l.all = append(l.all, g)
	return nil
}

// All returns the guidelines, by id and effective date.
func (l *Library) All() []*Guideline { return slices.Clone(l.all) }

func (l *Library) byKey(key string) *Guideline {
	for _, g := range l.all {
		if g.Key() == key {
			return g
		}
	}
	return nil
}

// ByKey returns one version, such as "alder@2026.2".
func (l *Library) ByKey(key string) (*Guideline, error) {
	if g := l.byKey(key); g != nil {
		return g, nil
	}
	return nil, fmt.Errorf("%w: %s; there are %s", ErrNone, key, strings.Join(l.keys(), ", "))
}

// Named returns the version of a guideline that is in force on that day, or the version that the name gives after an @.
func (l *Library) Named(name string, on time.Time) (*Guideline, error) {
	if strings.Contains(name, "@") {
		return l.ByKey(name)
	}
	return l.latest(on, func(g *Guideline) bool { return g.ID == name }, "guideline "+name)
}

// For returns the guideline of a carrier that is in force on that day: the one that became effective last.
func (l *Library) For(carrier string, on time.Time) (*Guideline, error) {
	return l.latest(on, func(g *Guideline) bool { return g.Carrier == carrier }, "guideline of carrier "+carrier)
}

func (l *Library) latest(on time.Time, is func(*Guideline) bool, what string) (*Guideline, error) {
	var best *Guideline
	found := false
	for _, g := range l.all {
		if !is(g) {
			continue
		}
		found = true
		if g.InForce(on) && (best == nil || !g.Effective.Before(best.Effective)) {
			best = g
		}
	}
	switch {
	case best != nil:
		return best, nil
	case found:
		return nil, fmt.Errorf("%w: no version of the %s is in force on %s", ErrNone, what, on.Format(time.DateOnly))
	default:
		return nil, fmt.Errorf("%w: %s; there are %s", ErrNone, what, strings.Join(l.keys(), ", "))
	}
}

func (l *Library) keys() []string {
	var out []string
	for _, g := range l.all {
		out = append(out, g.Key())
	}
	return out
}

// extended reads which guideline a document extends, without reading the rest.
func extended(text []byte) string {
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "extends:"); ok {
			return strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	return ""
}
