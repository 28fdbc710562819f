// Command benchmarks runs the project's benchmarks and writes docs/BENCHMARKS.md: each figure to reach beside what was
// measured here and now. A timing never fails anything.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1) //nolint:gocritic // the signal handler dies with the process
	}
}

// result is one benchmark's figures by unit.
type result struct {
	pkg, name string
	figures   map[string]float64
}

func run(ctx context.Context, args []string, log io.Writer) error {
	flags := flag.NewFlagSet("benchmarks", flag.ContinueOnError)
	out := flags.String("o", "docs/BENCHMARKS.md", "`FILE` to write")
	only := flags.String("only", "", "run the benchmarks that match this `REGEXP` and leave the figures of the others as they are")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	packages, err := list(ctx, wanted)
	if err != nil {
		return err
	}
	var results []result
	for _, pkg := range packages {
		fmt.Fprintln(log, "benchmarks of", pkg)
		cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", cmp.Or(*only, "."), "-benchmem", "-timeout", "30m", pkg)
		cmd.Stderr = log
		cmd.Env = append(os.Environ(), "BORDEREAU_BENCH_10M=1", "BORDEREAU_BENCH_FIELDS=10000000")
		raw, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", pkg, err, raw)
		}
		results = append(results, parse(pkg, raw)...)
	}
	before, err := os.ReadFile(*out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if *only != "" {
		results = with(results, earlier(before))
	}
	return os.WriteFile(*out, append(page(results), sandboxes(before)...), 0o644)
}

// sandboxes is the section that make bench-sandbox writes, which stays as it is; it is the page's last.
func sandboxes(page []byte) []byte {
	if n := bytes.Index(page, []byte("\n## Sandboxes\n")); n >= 0 {
		return page[n:]
	}
	return nil
}

// list finds the packages that have benchmarks of wanted names.
func list(ctx context.Context, wanted *regexp.Regexp) ([]string, error) {
	raw, err := exec.CommandContext(ctx, "git", "grep", "-E", `^func Benchmark`, "--", "*_test.go").Output()
	if err != nil {
		return nil, fmt.Errorf("looking for benchmarks: %w", err)
	}
	var packages []string
	for line := range strings.Lines(string(raw)) {
		file, declared, _ := strings.Cut(line, ":func Benchmark")
		name, _, _ := strings.Cut(declared, "(")
		if pkg := "./" + path.Dir(file); wanted.MatchString(name) && !slices.Contains(packages, pkg) {
			packages = append(packages, pkg)
		}
	}
	return packages, nil
}

var benchmarkLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.+)$`)

// parse reads the lines of go test -bench: a name, a count, then pairs of figure and unit.
func parse(pkg string, raw []byte) []result {
	var all []result
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		m := benchmarkLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		r := result{pkg: strings.TrimPrefix(pkg, "./"), name: m[1], figures: map[string]float64{}}
		fields := strings.Fields(m[2])
		for i := 0; i+1 < len(fields); i += 2 {
			if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
				r.figures[fields[i+1]] = v
			}
		}
		all = append(all, r)
	}
	return all
}

func page(results []result) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Benchmarks\n\nWritten by `make bench` on %s: %s, %d cores, %s/%s, %s. Figures of a shared machine, of one run or, where a few were measured again, of several; ratios against a peer come from one run.\n\n%s\n",
		time.Now().UTC().Format("2 January 2006"), processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), basics())
	fmt.Fprint(&b, "\n## Figures to reach\n\n| what | reach | measured | by |\n| --- | --- | --- | --- |\n")
	for _, g := range goals {
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", g.what, g.reach, g.measure(results), g.by)
	}
	fmt.Fprint(&b, "\n## All benchmarks\n\n| package | benchmark | figures |\n| --- | --- | --- |\n")
	for _, r := range results {
		units := make([]string, 0, len(r.figures))
		for unit := range r.figures {
			units = append(units, unit)
		}
		slices.Sort(units)
		for i, unit := range units {
			units[i] = figure(r.figures[unit], unit)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.pkg, r.name, strings.Join(units, ", "))
	}
	return b.Bytes()
}

// figure prints a figure with three digits and times in the unit that reads best.
func figure(v float64, unit string) string {
	if unit == "ns/op" {
		switch {
		case v >= 1e9:
			return fmt.Sprintf("%.3g s/op", v/1e9)
		case v >= 1e6:
			return fmt.Sprintf("%.3g ms/op", v/1e6)
		case v >= 1e3:
			return fmt.Sprintf("%.3g µs/op", v/1e3)
		}
	}
	if v >= 1000 {
		return fmt.Sprintf("%.0f %s", v, unit)
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}

// processor names the machine's processor.
func processor() string {
	raw, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(raw)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown processor"
}
