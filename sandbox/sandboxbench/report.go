package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// figure is one row of the table.
type figure struct {
	Name   string
	Times  []time.Duration
	Wrong  int
	Reach  time.Duration // p50 to reach; 0 none
	Hosted string        // what hosted services show
}

func (f figure) at(q float64) time.Duration {
	if len(f.Times) == 0 {
		return 0
	}
	s := slices.Clone(f.Times)
	slices.Sort(s)
	return s[min(int(q*float64(len(s))), len(s)-1)]
}

// results are the figures of one run, kept after each step.
type results struct {
	file string

	Driver  string
	Image   string
	Begun   time.Time
	Figures []figure
}

// keptFor is how long an interrupted run can be gone on with.
const keptFor = 2 * time.Hour

// openResults goes on with the figures of an interrupted run of the same driver and image, unless fresh.
func openResults(file, driver, image string, fresh bool) (*results, error) {
	begin := &results{file: file, Driver: driver, Image: image, Begun: time.Now().UTC().Truncate(time.Second)}
	text, err := os.ReadFile(file) // #nosec G304 -- from the command line
	if errors.Is(err, fs.ErrNotExist) || fresh {
		return begin, nil
	}
	if err != nil {
		return nil, err
	}
	r := &results{file: file}
	if json.Unmarshal(text, r) != nil || r.Driver != driver || r.Image != image || time.Since(r.Begun) > keptFor {
		return begin, nil //nolint:nilerr // what can't be read is measured anew
	}
	return r, nil
}

// has tells whether a figure was measured often enough.
func (r *results) has(name string, n int) bool {
	return slices.ContainsFunc(r.Figures, func(f figure) bool { return f.Name == name && len(f.Times)+f.Wrong >= n })
}

func (r *results) keep(f figure) error {
	r.Figures = append(slices.DeleteFunc(r.Figures, func(have figure) bool { return have.Name == f.Name }), f)
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.file, text, 0o644) // #nosec G306 -- results
}

// report prints the table, draws the picture, and replaces the section of a document.
func (r *results) report(out io.Writer, o options) error {
	table := r.table()
	if _, err := io.WriteString(out, table); err != nil {
		return err
	}
	if err := draw(filepath.Join(o.out, "distribution.png"), r.Figures); err != nil {
		return err
	}
	if o.doc == "" {
		return nil
	}
	picture := filepath.Join(filepath.Dir(o.doc), "sandboxes.png")
	if err := draw(picture, r.Figures); err != nil {
		return err
	}
	text, err := os.ReadFile(o.doc)
	if err != nil {
		return err
	}
	section := sectionTitle + "\n\n" + table + "\n![how long until the first verified result](" + filepath.Base(picture) + ")\n"
	return os.WriteFile(o.doc, []byte(withSection(string(text), section)), 0o644) // #nosec G306 -- a document
}

// sectionTitle begins the section of the document that is ours.
const sectionTitle = "## Sandboxes"

// withSection replaces our section, or adds it at the end.
func withSection(text, section string) string {
	before, rest, found := strings.Cut(text, sectionTitle+"\n")
	if !found {
		return strings.TrimRight(text, "\n") + "\n\n" + section
	}
	after := ""
	if n := strings.Index(rest, "\n## "); n >= 0 {
		after = rest[n:]
	}
	return before + section + after
}

func (r *results) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Written by `make bench-sandbox` on %s: %s, image %s, %d cores, %s/%s.\n\n", r.Begun.Format("2 January 2006 15:04 UTC"), r.Driver, r.Image,
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	b.WriteString("| what | n | p50 | p95 | worst | wrong | reach (p50) | reached | hosted services, as published, or peer |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, f := range r.Figures {
		reach, reached := "-", "-"
		if f.Reach > 0 {
			reach, reached = "<= "+f.Reach.String(), "no"
			if len(f.Times) > 0 && f.at(.5) <= f.Reach && f.Wrong == 0 {
				reached = "yes"
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %d | %s | %s | %s |\n", f.Name, len(f.Times), ms(f.at(.5)), ms(f.at(.95)), ms(f.at(1)), f.Wrong, reach, reached, f.Hosted)
	}
	b.WriteString("\n")
	b.WriteString(r.ratios())
	b.WriteString("\nCold: the sandbox is stopped, no process of it is left, and a new kernel starts over its workspace. Warm: it is paused, frozen in memory,\n" +
		"or waits in the pool. Each recovery is verified by code inside: SHA-256 of a random 5 MiB file and of a canary.\n\n" +
		"What differs from the hosted figures: these sandboxes are on the machine that asks, so no network lies between, and the one who\n" +
		"measures shares its cores with them. The hosted figures are others' publications (a public leaderboard, April 2026), over their networks and on their machines.\n")
	return b.String()
}

// ratios compares with the bare runtime, measured in the same run: how fast a machine starts processes and faults pages decides both.
func (r *results) ratios() string {
	p50 := map[string]time.Duration{}
	for _, f := range r.Figures {
		p50[f.Name] = f.at(.5)
	}
	ratio := func(ours, theirs string) string {
		return fmt.Sprintf("%.2f", float64(p50[ours])/float64(max(p50[theirs], 1)))
	}
	return "Against the bare runtime in the same run: create to first result " +
		ratio("create to first result, cold", "peer: bare runsc, create to first result") + "x, exec " + ratio("exec", "peer: bare runsc, exec") + "x.\n"
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
