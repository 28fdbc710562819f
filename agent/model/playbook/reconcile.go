package playbook

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// reconcile compares submissions with their guidelines and publishes the report.
type reconcile struct{ slots }

type reconcileInput struct {
	From        string   `json:"from,omitempty"`
	To          string   `json:"to,omitempty"`
	Workflow    string   `json:"workflow,omitempty"`
	Submissions []string `json:"submission_ids,omitempty"`
	Guideline   string   `json:"guideline,omitempty"`
}

func (p reconcile) next(s *scene) reply {
	if len(p.spans) == 0 && len(p.submissions) == 0 {
		return say("Which submissions shall I reconcile? Name a period, such as today, this week or 2026-06-01 to 2026-06-30, or submissions by id.")
	}
	if len(p.spans) > 1 {
		return say("I reconcile one period at a time; you named %d that don't touch. Ask for each of them.", len(p.spans))
	}
	workflow, wait := s.workflow(p.slots)
	if wait != nil {
		return *wait
	}
	d, ok := s.last("reconcile")
	if !ok {
		in := reconcileInput{Workflow: workflow, Submissions: p.submissions, Guideline: p.guideline}
		if len(p.spans) == 1 {
			in.From, in.To = p.spans[0].from.Format(iso), p.spans[0].to.Format(iso)
		}
		return s.planned(s.do("reconcile", in), p.plan(0))
	}
	run, ok := readRun(d.text)
	if !ok {
		return say("The reconciliation ran, but its answer can't be read, so there is no report. The answer began:\n\n%s", quote(d.text[:min(len(d.text), 400)]))
	}
	if run.Submissions == 0 {
		return say("There is nothing to reconcile: no submission matches %s.", p.scope(workflow))
	}
	pub, ok := s.last("publish_report")
	if !ok {
		r := s.do("publish_report", map[string]string{"run_id": run.RunID, "title": p.title(workflow)})
		if len(r.calls) == 0 {
			r.text = run.text(p.scope(workflow), nil) + "\n\n" + r.text
		}
		return s.planned(r, p.plan(1))
	}
	if all := p.plan(2); s.plans() && !s.planShown(all) {
		return s.do(planTool, all)
	}
	published := readPublished(pub.text)
	if len(published.First) > 0 {
		run.Findings = published.First // the gravest of all, where reconcile shows the first by submission
	}
	text := run.text(p.scope(workflow), published.names())
	if files := tables(s.files); s.fresh && len(files) > 0 {
		checked, wait := s.checkFiles(files)
		if wait != nil {
			return *wait
		}
		text += "\n\nAttached files belong to no submission: they are checked against their VINs, not against a guideline.\n\n" + checked
	}
	return say("%s", text)
}

// plan is what a reconciliation consists of, with so many steps done.
func (reconcile) plan(done int) plan {
	return newPlan(done, "Read the submissions, decode their VINs, compare and judge them", "Write the workbook and the PDF")
}

func (p reconcile) scope(workflow string) string {
	var parts []string
	if len(p.submissions) > 0 {
		parts = append(parts, "submissions "+strings.Join(p.submissions, ", "))
	}
	if len(p.spans) == 1 {
		parts = append(parts, "received "+p.spans[0].words())
	}
	if workflow != "" {
		parts = append(parts, "workflow "+plain(workflow))
	}
	if p.guideline != "" {
		parts = append(parts, "guideline "+p.guideline)
	}
	return strings.Join(parts, ", ")
}

func (p reconcile) title(workflow string) string {
	title := "Discrepancies"
	switch {
	case len(p.spans) == 1:
		title += ", submissions of " + p.spans[0].words()
	case len(p.submissions) > 3:
		title += fmt.Sprintf(", %d submissions", len(p.submissions))
	default:
		title += ", " + strings.Join(p.submissions, ", ")
	}
	if workflow != "" {
		title += ", " + workflow
	}
	return title
}

// run is the answer of the reconcile tool.
type run struct {
	RunID       string          `json:"run_id"`
	Guideline   json.RawMessage `json:"guideline"`
	Submissions int             `json:"submissions"`
	Decisions   map[string]int  `json:"decisions"`
	Severities  map[string]int  `json:"severities"`
	Rules       map[string]int  `json:"rules"`
	Findings    []finding       `json:"findings"`
	Note        string          `json:"note"`
	partial     bool
}

type finding struct {
	ID           string `json:"id"`
	SubmissionID string `json:"submission_id"`
	RuleID       string `json:"rule_id"`
	Severity     string `json:"severity"`
	Outcome      string `json:"outcome"`
	Entity       string `json:"entity"`
	Message      string `json:"message"`
}

var (
	runIDRE       = regexp.MustCompile(`"run_id"\s*:\s*"([^"\\]+)"`)
	submissionsRE = regexp.MustCompile(`"submissions"\s*:\s*(\d+)`)
	severitiesRE  = regexp.MustCompile(`"severities"\s*:\s*(\{[^{}]*\})`)
	decisionsRE   = regexp.MustCompile(`"decisions"\s*:\s*(\{[^{}]*\})`)
)

// readRun reads the answer. One that was cut to fit a context still gives its counts, which stand before the findings.
func readRun(text string) (run, bool) {
	var r run
	if err := json.Unmarshal([]byte(text), &r); err == nil {
		return r, r.RunID != ""
	}
	r = run{partial: true}
	if m := runIDRE.FindStringSubmatch(text); m != nil {
		r.RunID = m[1]
	}
	if m := submissionsRE.FindStringSubmatch(text); m != nil {
		r.Submissions = number(m[1])
	}
	for re, into := range map[*regexp.Regexp]*map[string]int{severitiesRE: &r.Severities, decisionsRE: &r.Decisions} {
		if m := re.FindStringSubmatch(text); m != nil {
			_ = json.Unmarshal([]byte(m[1]), into) // counts that can't be read are left out
		}
	}
	return r, r.RunID != "" && r.Submissions > 0
}

// severities and decisions in the order to show them.
func severities() []string { return []string{"critical", "major", "minor", "note"} }
func decisions() []string  { return []string{"decline", "refer", "clear"} }

func (r run) total() int {
	n := 0
	for _, c := range r.Severities {
		n += c
	}
	return n
}

func (r run) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** in **%s**.", count(r.total(), "finding", "findings"), count(r.Submissions, "submission", "submissions"))
	var parts []string
	for _, d := range ordered(r.Decisions, decisions()) {
		parts = append(parts, fmt.Sprintf("%s %d", plain(d), r.Decisions[d]))
	}
	if parts != nil {
		b.WriteString(" Decisions: " + strings.Join(parts, ", ") + ".")
	}
	var rows [][]string
	for _, s := range ordered(r.Severities, severities()) {
		rows = append(rows, []string{s, fmt.Sprint(r.Severities[s])})
	}
	if rows != nil {
		b.WriteString("\n\n" + table([]string{"severity", "findings"}, rows))
	}
	return b.String()
}

func (r run) text(scope string, files []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Reconciliation: %s\n\n", scope)
	if g := guidelineName(r.Guideline); g != "" {
		fmt.Fprintf(&b, "Guideline: %s. ", g)
	}
	b.WriteString(r.summary())
	if top := ranked(r.Rules, 8); top != nil {
		b.WriteString("\nMost frequent rules: " + strings.Join(top, ", ") + ".\n")
	}
	for _, sev := range severities() {
		var lines []string
		for _, f := range r.Findings {
			if f.Severity == sev {
				lines = append(lines, f.line())
			}
		}
		if lines != nil {
			fmt.Fprintf(&b, "\n### %s\n\n%s\n", strings.ToUpper(sev[:1])+sev[1:], strings.Join(lines, "\n"))
		}
	}
	if n := len(r.Findings); n > 0 && n < r.total() {
		fmt.Fprintf(&b, "\n%d of %d findings stand above; the report has all of them, each with its evidence.\n", n, r.total())
	}
	if r.partial {
		b.WriteString("\nThe list of findings was too long to read here; the report has all of them.\n")
	}
	if r.Note != "" && !strings.HasPrefix(r.Note, "Showing ") { // how many are shown is said above
		b.WriteString("\n" + plain(r.Note) + "\n")
	}
	if files != nil {
		fmt.Fprintf(&b, "\nReports: %s.", strings.Join(files, ", "))
	}
	fmt.Fprintf(&b, " Run: `%s`.", plain(r.RunID))
	return b.String()
}

func (f finding) line() string {
	text := "- **" + plain(f.SubmissionID) + "**"
	if f.Entity != "" && f.Entity != "submission" {
		text += ", " + plain(f.Entity)
	}
	text += ": " + plain(f.Message)
	if f.Outcome == "unknown" && !strings.HasPrefix(f.Message, "Can't be told") {
		text += " (can't be told)"
	}
	return text + " `" + plain(f.RuleID) + "`"
}

func guidelineName(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return plain(text)
	}
	type named struct{ ID, Name, Version string }
	var one named
	if json.Unmarshal(raw, &one) == nil && one.ID != "" {
		return strings.TrimSpace(plain(one.Name) + " `" + plain(one.ID) + "` " + plain(one.Version))
	}
	var many []json.RawMessage
	if json.Unmarshal(raw, &many) != nil {
		return ""
	}
	var names []string
	for _, m := range many {
		if n := guidelineName(m); n != "" {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// ordered returns the keys that count something, known ones first.
func ordered(counts map[string]int, known []string) []string {
	var keys []string
	for _, k := range known {
		if counts[k] > 0 {
			keys = append(keys, k)
		}
	}
	var rest []string
	for k, n := range counts {
		if n > 0 && !slices.Contains(known, k) {
			rest = append(rest, k)
		}
	}
	slices.Sort(rest)
	return append(keys, rest...)
}

// ranked names the n keys with the highest counts.
func ranked(counts map[string]int, n int) []string {
	keys := ordered(counts, nil)
	slices.SortStableFunc(keys, func(a, b string) int { return counts[b] - counts[a] })
	var out []string
	for _, k := range keys[:min(n, len(keys))] {
		out = append(out, fmt.Sprintf("`%s` %d", plain(k), counts[k]))
	}
	return out
}

// published is an answer of publish_report.
type published struct {
	Artifacts []struct{ Name string } `json:"artifacts"`
	First     []finding               `json:"first"`
}

func readPublished(text string) published {
	var p published
	if json.Unmarshal([]byte(text), &p) != nil {
		return published{}
	}
	return p
}

func (p published) names() []string {
	var names []string
	for _, f := range p.Artifacts {
		names = append(names, "`"+plain(f.Name)+"`")
	}
	return names
}
