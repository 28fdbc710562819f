package playbook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"bordereau/agent/model"
)

// asks lists what the person said, the oldest first.
func asks(r model.Request) []string {
	var all []string
	for _, m := range r.Messages {
		for i, b := range m.Blocks {
			if m.Role == model.User && b.Kind == model.Text && strings.TrimSpace(b.Text) != "" && (i == 0 || model.AttachedIn(b) == nil) {
				all = append(all, b.Text)
			}
		}
	}
	return all
}

// slots are what a request names.
type slots struct {
	spans       []span
	workflow    string // as written; the data knows how it is spelled
	guideline   string
	submissions []string
	vins        []string
	status      string
	insured     string
	text        string   // small letters, one space between words
	files       []string // attached
}

var (
	spaceRE = regexp.MustCompile(`\s+`)
	vinRE   = regexp.MustCompile(`\b[A-Za-z0-9]{17}\b`)
	// An id has a digit and no space; one that merely looks like an id must be called a submission.
	submissionRE = regexp.MustCompile(`(?i)\bsubmissions?\s+(?:ids?\s+|no\.?\s+|number\s+|#\s*)?["'“]?([A-Za-z0-9][A-Za-z0-9._-]*\d[A-Za-z0-9._-]*(?:(?:\s*,\s*|\s+and\s+|\s*,\s*and\s+)[A-Za-z0-9][A-Za-z0-9._-]*\d[A-Za-z0-9._-]*)*)`)
	bareID       = regexp.MustCompile(`\b(?:S|SUB|SUBM)-[A-Za-z0-9][A-Za-z0-9-]*\b`)
	idRE         = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9._-]*`)
	guidelineRE  = regexp.MustCompile(`(?i)\b(?:guidelines?|rule ?set|carrier)\s+["'“]?([A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)+)`)
	guidelineOf  = regexp.MustCompile(`(?i)\b([A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)+)(?:'s|’s)?["'”]?\s+(?:carrier\s+)?guidelines?\b`)
	workflowOf   = regexp.MustCompile(`([A-Z][\w&/-]*(?:\s+[A-Z][\w&/-]*){0,4})["'”]?\s+(?i:workflow)\b`)
	workflowRE   = regexp.MustCompile(`(?i:\bworkflow)\s+["'“]?([A-Z][\w&/-]*(?:\s+[A-Z][\w&/-]*){0,4})`)
	intakeRE     = regexp.MustCompile(`(?i)\b((?:[a-z]+ ){1,3}intake)\b`)
	statusRE     = regexp.MustCompile(`\b(received|in[ _]review|completed|declined|bound)\b\s+submissions?|\bstatus\s+(?:is\s+|=\s*)?["'“]?(received|in[ _]review|completed|declined|bound)\b|\bthat (?:are|were) (received|in[ _]review|completed|declined|bound)\b`)
	insuredRE    = regexp.MustCompile(`(?i)\b(?:insured|for insured|of insured)\s+["“]([^"”]{2,80})["”]`)
)

func slotsOf(ask string, now time.Time) (slots, error) {
	spans, err := periods(ask, now)
	if err != nil {
		return slots{}, err
	}
	flat := strings.TrimSpace(spaceRE.ReplaceAllString(ask, " "))
	s := slots{spans: spans, text: strings.ToLower(flat)}
	for _, m := range submissionRE.FindAllStringSubmatch(flat, -1) {
		for _, id := range idRE.FindAllString(m[1], -1) {
			id = strings.TrimRight(id, ".-_")
			if strings.ContainsAny(id, "0123456789") && dateRE.FindString(id) == "" && !slices.Contains(s.submissions, id) {
				s.submissions = append(s.submissions, id)
			}
		}
	}
	for _, id := range bareID.FindAllString(flat, -1) {
		if !slices.Contains(s.submissions, id) {
			s.submissions = append(s.submissions, id)
		}
	}
	for _, v := range vinRE.FindAllString(flat, -1) {
		if strings.ContainsAny(v, "0123456789") && !slices.Contains(s.vins, strings.ToUpper(v)) {
			s.vins = append(s.vins, strings.ToUpper(v))
		}
	}
	s.guideline = firstGroup(flat, guidelineRE, guidelineOf)
	s.workflow = firstGroup(flat, workflowOf, workflowRE, intakeRE)
	if m := statusRE.FindStringSubmatch(s.text); m != nil {
		s.status = strings.ReplaceAll(m[1]+m[2]+m[3], " ", "_")
	}
	s.insured = firstGroup(flat, insuredRE)
	return s, nil
}

func firstGroup(text string, res ...*regexp.Regexp) string {
	for _, re := range res {
		if m := re.FindStringSubmatch(text); m != nil {
			return strings.TrimSpace(m[1])
		}
	}
	return ""
}

// over returns the slots with those of a later request in place of its own.
func (s slots) over(later slots) slots {
	if later.spans != nil {
		s.spans = later.spans
	}
	if later.workflow != "" {
		s.workflow = later.workflow
	}
	if later.guideline != "" {
		s.guideline = later.guideline
	}
	if later.submissions != nil {
		s.submissions = later.submissions
	}
	return s
}

func (s slots) empty() bool {
	return s.spans == nil && s.workflow == "" && s.guideline == "" && s.submissions == nil
}

var (
	helpRE      = regexp.MustCompile(`^\W*(?:help|hello|hi|hey|good (?:morning|afternoon|evening)|what can you do|what do you do|who are you)\b[^a-z]*(?:there|you|me)?\W*$|\bwhat can you (?:do|help)|\bhow can you help`)
	editWords   = regexp.MustCompile(`\b(?:edit|edited|edits|editing|correct(?:ed|ions?)?|chang(?:ed|es)|modified|overrid(?:den|es?))\b`)
	humanWords  = regexp.MustCompile(`\b(?:humans?|people|persons?|manual(?:ly)?|by hand|users?|reviewers?|underwriters?|staff)\b`)
	rateWords   = regexp.MustCompile(`\b(?:percent(?:age)?|rates?|share|proportion|fraction|how often|how many)\b|%`)
	editRateRE  = regexp.MustCompile(`\b(?:edit|correction|override)[- ]rates?\b`)
	reconcileRE = regexp.MustCompile(`\breconcil|\bdiscrepanc|\b(?:check|compare|test|audit|validate|review|run|evaluate)\b.*\b(?:guidelines?|appetite|rule ?set|carrier rules)\b`)
	vehicleRE   = regexp.MustCompile(`\b(?:check|decode|verify|validate|look up|lookup|inspect|review|audit)\b.*\b(?:vehicles?|schedules?|vins?|trucks?|units?)\b`)
	checkRE     = regexp.MustCompile(`\b(?:check|decode|verify|validate|inspect|review|audit|wrong)\b`)
	chartRE     = regexp.MustCompile(`\b(?:chart|plot|graph|draw|visuali[sz]e|diagram)\b`)
	showRE      = regexp.MustCompile(`\b(?:show|summari[sz]e|summary|describe|open|details?|tell me about|what is in|what's in|look at|overview)\b`)
	listRE      = regexp.MustCompile(`\b(?:list|show|which|what|how many|count|give me|find|see|display)\b.*\bsubmissions\b|\bsubmissions\b.*\b(?:list|were received|came in|arrived)\b`)
)

// recognise finds the play for the newest request. A request that only names a period, a workflow or a submission
// ("and for May?") goes on with the play of the one before.
func recognise(s *scene, all []string) (play, string) {
	now, err := slotsOf(s.ask, s.today)
	if err != nil {
		return nil, fmt.Sprintf("I can't read the period: %s. Dates are written as 2026-06-30.", err)
	}
	if helpRE.MatchString(now.text) {
		return nil, abilities("Hello.")
	}
	now.files = s.files
	if p := playFor(now); p != nil {
		return p, ""
	}
	for i := len(all) - 2; i >= 0 && !now.empty(); i-- {
		before, err := slotsOf(all[i], s.today)
		if err != nil {
			continue
		}
		if p := playFor(before); p != nil {
			merged := before.over(now)
			merged.text = before.text
			return playFor(merged), ""
		}
	}
	return nil, abilities("I don't know how to do that: this installation answers with the playbook, which knows a fixed set of requests.")
}

// ofFiles tells a request that is about attached files only.
func (s slots) ofFiles() bool {
	switch named := attachedRE.MatchString(s.text); {
	case reconcileRE.MatchString(s.text):
		return named && len(s.spans) == 0 && len(s.submissions) == 0
	case named:
		return checkRE.MatchString(s.text)
	}
	return vehicleRE.MatchString(s.text) && len(s.submissions) == 0 && len(s.vins) == 0
}

func playFor(s slots) play {
	switch {
	case editRateRE.MatchString(s.text), editWords.MatchString(s.text) && humanWords.MatchString(s.text) && rateWords.MatchString(s.text):
		return editRate{s}
	case accuracyRE.MatchString(s.text), turnaroundRE.MatchString(s.text):
		return measure{s}
	case chartRE.MatchString(s.text):
		return chart{s}
	case len(s.files) > 0 && s.ofFiles():
		return attached{s}
	case reconcileRE.MatchString(s.text):
		return reconcile{s}
	case len(s.vins) > 0, vehicleRE.MatchString(s.text) && len(s.submissions) > 0:
		return schedule{s}
	case len(s.submissions) == 1 && showRE.MatchString(s.text):
		return submission{s}
	case listRE.MatchString(s.text):
		return listing{s}
	case vehicleRE.MatchString(s.text):
		return schedule{s}
	}
	return nil
}
