// Package playbook is the model that needs no key: it answers a bounded set of requests, the same way each time, by tool calls.
package playbook

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"bordereau/agent/model"
)

// Name is how journals and schedules call it.
const Name = "playbook"

// Playbook sees only what any model sees: the system prompt, the messages and the tools. It keeps nothing between calls.
// What a tool or a document says is data to it and never a request.
type Playbook struct{}

var _ model.Model = Playbook{}

// New returns the model.
func New() Playbook { return Playbook{} }

// Name returns "playbook".
func (Playbook) Name() string { return Name }

// Stream answers one request: tool calls while the play needs them, then a text.
func (Playbook) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		said := decide(r)
		usage := model.Usage{Input: size(r), Output: int64(len(said.text)+len(said.calls)*64) / 4}
		m := model.Message{Role: model.Assistant}
		if said.text != "" {
			m.Blocks = append(m.Blocks, model.Block{Kind: model.Text, Text: said.text})
			for piece := range pieces(said.text) {
				if ctx.Err() != nil {
					yield(model.Event{}, &model.Error{Class: model.Cancelled, Message: "cancelled", Cause: context.Cause(ctx)})
					return
				}
				if !yield(model.Event{Kind: model.TextDelta, Text: piece}, nil) {
					return
				}
			}
		}
		stop := model.EndTurn
		for _, c := range said.calls {
			stop = model.UseTools
			m.Blocks = append(m.Blocks, c)
			if !yield(model.Event{Kind: model.ToolStart, ID: c.ID, Name: c.Name}, nil) ||
				!yield(model.Event{Kind: model.ToolReady, ID: c.ID, Name: c.Name, Input: c.Input}, nil) {
				return
			}
		}
		yield(model.Event{Kind: model.Done, Stop: stop, Usage: usage, Message: m}, nil)
	}
}

// reply is what the playbook says next: a text, calls, or both.
type reply struct {
	text  string
	calls []model.Block
}

func say(format string, args ...any) reply { return reply{text: fmt.Sprintf(format, args...)} }

// play is one kind of request that the playbook can do. It is a pure function of what was asked and what the tools
// answered since: a turn that another runner takes over goes on in the same place.
type play interface {
	next(s *scene) reply
}

// scene is one call of the model, read.
type scene struct {
	ask   string    // the person's words; "" when there are none
	today time.Time // a UTC day; zero when the system prompt doesn't say
	tools map[string]bool
	did   []did    // since the ask, in order
	asked int      // how many requests the person made before, for ids
	files []string // that the person attached, with the ask or with one before
	fresh bool     // with the ask
}

// did is one call of ours with its answer.
type did struct {
	id       string
	name     string
	input    json.RawMessage
	text     string
	failed   bool
	answered bool
}

func decide(r model.Request) reply {
	s := read(r)
	if s.ask == "" {
		return say("%s", abilities("I see no request yet."))
	}
	if len(r.Tools) == 0 {
		return say("%s", s.account())
	}
	p, refusal := recognise(s, asks(r))
	if p == nil {
		return reply{text: refusal}
	}
	return p.next(s)
}

// read finds the last thing that the person said and all that happened since. Blocks of tool results are never the ask,
// whatever role the message has.
func read(r model.Request) *scene {
	s := &scene{today: today(r.System), tools: map[string]bool{}}
	for _, t := range r.Tools {
		s.tools[t.Name] = true
	}
	for _, m := range r.Messages {
		for i, b := range m.Blocks {
			files := model.AttachedIn(b)
			switch {
			case m.Role == model.User && i > 0 && files != nil:
				s.files, s.fresh = files, true
			case m.Role == model.User && b.Kind == model.Text && strings.TrimSpace(b.Text) != "":
				s.ask, s.did, s.fresh = b.Text, nil, false
				s.asked++
			case m.Role == model.Assistant && b.Kind == model.ToolUse:
				s.did = append(s.did, did{id: b.ID, name: b.Name, input: b.Input})
			case b.Kind == model.ToolResult:
				s.answer(b)
			}
		}
	}
	return s
}

// answer puts a result beside its call.
func (s *scene) answer(b model.Block) {
	for i := range s.did {
		if d := &s.did[i]; d.id == b.ID && !d.answered {
			d.answered, d.failed, d.text = true, b.Error, b.Text
			return
		}
	}
}

// last returns the newest answered call of a tool that went well.
func (s *scene) last(tool string) (did, bool) {
	for _, v := range slices.Backward(s.did) {
		if d := v; d.name == tool && d.answered && !d.failed {
			return d, true
		}
	}
	return did{}, false
}

// tries counts the calls of a tool.
func (s *scene) tries(tool string) int {
	n := 0
	for _, d := range s.did {
		if d.name == tool {
			n++
		}
	}
	return n
}

// do calls a tool once; a call whose outcome is unknown is made once more. What failed for good is told.
func (s *scene) do(tool string, inputs ...any) reply {
	for i := len(s.did) - 1; i >= 0 && s.did[i].name == tool; i-- {
		if d := s.did[i]; d.failed && (!unknownOutcome(d.text) || s.tries(tool) > len(inputs)) {
			return say("%s", trouble(d))
		}
	}
	return s.call(tool, inputs...)
}

// call calls a tool, once for each input. One that isn't there is told.
func (s *scene) call(tool string, inputs ...any) reply {
	if !s.tools[tool] {
		return say("I can't do this: the tool `%s` is not among the tools of this turn. "+
			"That is how this installation is set up, not something you asked wrongly.", tool)
	}
	var r reply
	for i, input := range inputs {
		raw, err := json.Marshal(input)
		if err != nil {
			return say("I could not write the call of `%s`.", tool)
		}
		r.calls = append(r.calls, model.Block{Kind: model.ToolUse, ID: s.callID(i), Name: tool, Input: raw})
	}
	return r
}

// callID names the i-th of the next calls.
func (s *scene) callID(i int) string { return fmt.Sprintf("play-%d-%d", s.asked, len(s.did)+1+i) }

// pieces cuts a text at line ends and about every forty bytes at a space, so that it streams.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			cut := len(text)
			for i := range len(text) {
				if text[i] == '\n' || text[i] == ' ' && i >= 40 {
					cut = i + 1
					break
				}
			}
			if !yield(text[:cut]) {
				return
			}
			text = text[cut:]
		}
	}
}

// size estimates tokens, four bytes each, so that usage of the playbook can be compared with other models'.
func size(r model.Request) int64 {
	n := len(r.System)
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			n += len(b.Text) + len(b.Input)
		}
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.InputSchema)
	}
	return int64(n / 4)
}
