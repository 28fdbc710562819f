package turn

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"bordereau/agent/journal"
	"bordereau/agent/model"
)

// reply is the stored result of a model step.
type reply struct {
	Message model.Message    `json:"message"`
	Stop    model.StopReason `json:"stop"`
	Usage   model.Usage      `json:"usage"`
	Request string           `json:"request_sha256"`
}

// asked is the stored request of a model step.
type asked struct {
	Messages int    `json:"messages"`
	Tools    int    `json:"tools"`
	Estimate int    `json:"estimated_tokens"`
	Dropped  int    `json:"compacted,omitempty"` // results that compaction shortened
	Final    string `json:"final,omitempty"`     // why this is the last call, without tools
	Blame    *blame `json:"blame,omitempty"`     // the failure behind that, if one is
}

// called is the stored request of a tool step.
type called struct {
	Call  string          `json:"call"`
	Reply int             `json:"reply"` // the model step that asked for it
	Input json.RawMessage `json:"input"`
}

// answered is the stored result of a tool step: what the model is shown.
type answered struct {
	Text     string   `json:"text"`
	Error    bool     `json:"error,omitempty"`
	Bytes    int      `json:"bytes"`          // of the whole
	Path     string   `json:"path,omitempty"` // where the whole is kept
	AuditIDs []string `json:"audit_ids,omitempty"`
}

// transcript is what a turn has so far: the conversation before it and its own steps.
type transcript struct {
	turn    journal.Turn
	history []journal.Message
	steps   []journal.Step
}

// replies of this turn, and the calls of the last one that no finished step answers.
func (t *transcript) open() (last *reply, lastN int, calls []model.Block, err error) {
	done := map[string]bool{}
	for _, st := range t.steps {
		if st.State != journal.Finished {
			continue
		}
		switch st.Kind {
		case journal.ModelStep:
			var r reply
			if err := json.Unmarshal(st.Result, &r); err != nil {
				return nil, 0, nil, fmt.Errorf("step %d: %w", st.N, err)
			}
			last, lastN = &r, st.N
			clear(done)
		case journal.ToolStep:
			var c called
			if err := json.Unmarshal(st.Request, &c); err != nil {
				return nil, 0, nil, fmt.Errorf("step %d: %w", st.N, err)
			}
			done[c.Call] = true
		}
	}
	if last == nil {
		return nil, 0, nil, nil
	}
	for _, b := range last.Message.Blocks {
		if b.Kind == model.ToolUse && !done[b.ID] {
			calls = append(calls, b)
		}
	}
	return last, lastN, calls, nil
}

// messages builds what the model reads: earlier turns as question and answer, this turn with its calls and results.
// Every call is followed by its result, and users and assistants alternate.
func (t *transcript) messages() ([]model.Message, error) {
	var out []model.Message
	var mine []journal.Message
	for _, m := range t.history {
		if m.Turn == t.turn.ID {
			if m.Content.Role == model.User {
				mine = append(mine, m)
			}
			continue
		}
		out = add(out, m.Content.Role, m.Content.Blocks...)
	}
	next := 0
	take := func(after int) {
		for next < len(mine) && mine[next].AfterStep <= after {
			out = add(out, model.User, mine[next].Content.Blocks...)
			next++
		}
	}
	take(0)
	names := map[string]string{}
	for _, st := range t.steps {
		if st.State != journal.Finished {
			continue
		}
		if st.Kind == journal.ModelStep {
			take(st.N - 1)
			var r reply
			if err := json.Unmarshal(st.Result, &r); err != nil {
				return nil, fmt.Errorf("step %d: %w", st.N, err)
			}
			out = add(out, model.Assistant, r.Message.Blocks...)
			for _, b := range r.Message.Blocks {
				names[b.ID] = b.Name
			}
			continue
		}
		var c called
		var a answered
		if err := json.Unmarshal(st.Request, &c); err != nil {
			return nil, fmt.Errorf("step %d: %w", st.N, err)
		}
		if err := json.Unmarshal(st.Result, &a); err != nil {
			return nil, fmt.Errorf("step %d: %w", st.N, err)
		}
		out = add(out, model.User, model.Block{Kind: model.ToolResult, ID: c.Call, Name: names[c.Call], Text: a.Text, Error: a.Error})
	}
	take(1 << 30)
	return out, nil
}

// add appends blocks to the last message when it is the same speaker's.
func add(all []model.Message, role model.Role, blocks ...model.Block) []model.Message {
	if len(blocks) == 0 {
		return all
	}
	if n := len(all); n > 0 && all[n-1].Role == role {
		all[n-1].Blocks = append(slices.Clip(all[n-1].Blocks), blocks...)
		return all
	}
	return append(all, model.Message{Role: role, Blocks: blocks})
}

// keepWhole is how many of the newest results compaction leaves alone at first.
const keepWhole = 4

// compact shortens messages until they fit: old tool results first, then old reasoning, then the oldest talk. It tells how many blocks it
// changed. What it takes away is named, so that the model can fetch it again.
func compact(messages []model.Message, budget int) (out []model.Message, changed int) {
	size := sizeOf(messages)
	if tokens(size) <= budget {
		return messages, 0
	}
	out = make([]model.Message, len(messages))
	var results [][2]int
	for i, m := range messages {
		out[i] = model.Message{Role: m.Role, Blocks: append([]model.Block(nil), m.Blocks...)}
		for j, b := range m.Blocks {
			if b.Kind == model.ToolResult {
				results = append(results, [2]int{i, j})
			}
		}
	}
	for keep := keepWhole; keep >= 0; keep -= keepWhole {
		for _, at := range results[:max(0, len(results)-keep)] {
			b := &out[at[0]].Blocks[at[1]]
			if len(b.Text) <= 400 {
				continue
			}
			size -= len(b.Text)
			b.Text = fmt.Sprintf("%s\n[shortened: %d bytes were here; call the tool again if you need them]", head(b.Text, 200), len(b.Text))
			size += len(b.Text)
			changed++
			if tokens(size) <= budget {
				return out, changed
			}
		}
	}
	// The talk of earlier turns goes next; the last question and what follows it stays.
	for len(out) > 2 && tokens(sizeOf(out)) > budget && out[0].Role == model.User && !hasResult(out[2]) && plain(out[0]) && plain(out[1]) {
		out = out[2:]
		changed++
	}
	if changed > 0 && len(out) > 0 && len(out) < len(messages) {
		out[0].Blocks = append([]model.Block{{Kind: model.Text, Text: "[Earlier messages of this conversation were left out for length.]"}}, out[0].Blocks...)
	}
	return out, changed
}

func hasResult(m model.Message) bool {
	for _, b := range m.Blocks {
		if b.Kind == model.ToolResult {
			return true
		}
	}
	return false
}

func plain(m model.Message) bool {
	for _, b := range m.Blocks {
		if b.Kind != model.Text {
			return false
		}
	}
	return true
}

func sizeOf(messages []model.Message) (n int) {
	for _, m := range messages {
		n += 8
		for _, b := range m.Blocks {
			n += len(b.Text) + len(b.Input) + len(b.Name) + len(b.ID) + 16
		}
	}
	return n
}

func toolSize(tools []model.Tool) (n int) {
	for _, t := range tools {
		n += len(t.Name) + len(t.Description) + len(t.InputSchema) + 16
	}
	return n
}

// head cuts s to at most n bytes at a rune's border.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// tail is the end of s, at most n bytes.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	at := len(s) - n
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}

// excerpt shows both ends of a long text and says where the whole is.
func excerpt(s string, limit int, path string) string {
	if len(s) <= limit {
		return s
	}
	where := "the middle could not be kept"
	if path != "" {
		where = "whole in " + path
	}
	return fmt.Sprintf("%s\n[… %d of %d bytes left out; %s …]\n%s", head(s, limit*3/4), len(s)-limit, len(s), where, tail(s, limit/4))
}

// fingerprint names a request.
func fingerprint(r model.Request) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	if err := enc.Encode(r); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// answerOf is the text that a turn leaves in the conversation.
func answerOf(steps []journal.Step, files []journal.Artifact, outcome journal.Outcome) (model.Message, error) {
	var b strings.Builder
	for _, st := range steps {
		if st.Kind != journal.ModelStep || st.State != journal.Finished {
			continue
		}
		var r reply
		if err := json.Unmarshal(st.Result, &r); err != nil {
			return model.Message{}, err
		}
		for _, block := range r.Message.Blocks {
			if block.Kind == model.Text && strings.TrimSpace(block.Text) != "" {
				b.WriteString(strings.TrimSpace(block.Text))
				b.WriteString("\n\n")
			}
		}
	}
	if len(files) > 0 {
		b.WriteString("[Delivered files:")
		for _, f := range files {
			b.WriteString(" " + f.Name)
		}
		b.WriteString("]\n\n")
	}
	if outcome.Status != journal.Completed {
		fmt.Fprintf(&b, "[This answer ended as %s: %s]", outcome.Status, outcome.Message)
	}
	text := strings.TrimSpace(b.String())
	if text == "" {
		text = "[No answer.]"
	}
	return model.Message{Role: model.Assistant, Blocks: []model.Block{{Kind: model.Text, Text: text}}}, nil
}
