package turn_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	goredis "github.com/redis/go-redis/v9"

	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/agent/stream/redis"
	"bordereau/agent/stream/redis/redistest"
	"bordereau/agent/turn"
)

var update = flag.Bool("update", false, "write the golden files")

// busy never ends by itself: it writes and asks for more.
var busy = scripted(func(_ context.Context, r model.Request, yield func(model.Event, error) bool) {
	if len(r.Tools) == 0 {
		say(yield, "So far: three findings.")
		return
	}
	call(yield, uuid.NewString(), "write", `{}`)
})

func TestLimitsCutShortWithLastWordsAndFiles(t *testing.T) {
	t.Parallel()
	for reason, l := range map[string]turn.Limits{
		"steps":         {Steps: 6},
		"tokens":        {Tokens: 1000},
		"money":         {CostMicros: 500},
		"deadline":      {Wall: 6 * time.Second, Steps: 1000}, // a quarter of it is kept for the last words: enough on a busy machine
		"person_budget": {PersonTokens: 600},
		"org_budget":    {OrgCostMicros: 300},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			b := reportTools()
			slow := b.tools["write"]
			b.tools["write"] = func(ctx context.Context, c turn.Call) (turn.Result, error) {
				pause := 2 * time.Millisecond
				if reason == "deadline" {
					pause = 200 * time.Millisecond
				}
				time.Sleep(pause)
				return slow(ctx, c)
			}
			h := newHouse(t, busy, b)
			h.cfg.Limits = l
			r := h.start(t)
			p := h.post(t, "c", "everything")
			r.Wake()
			all := h.follow(t, p.Turn.ID, 0)
			got := h.ended(t, p.Turn.ID).Outcome
			if got.Status != journal.CutShort || got.Reason != reason || got.Hint == "" {
				t.Errorf("%+v", got)
			}
			if !strings.HasSuffix(text(all), "So far: three findings.") || !strings.Contains(all[len(all)-1].Raw, `"length"`) {
				t.Errorf("last words: %q, %s", text(all), all[len(all)-1].Raw)
			}
			if files, err := h.store.ArtifactsOf(t.Context(), p.Turn.ID); err != nil || len(files) != 1 {
				t.Errorf("files: %v, %v", files, err)
			}
		})
	}
}

// A budget that is spent costs nothing more: no model is asked, not even for last words.
func TestSpentBudgetAsksNoModel(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	m := scripted(func(_ context.Context, _ model.Request, yield func(model.Event, error) bool) {
		asked.Add(1)
		say(yield, "hello")
	})
	h := newHouse(t, m, reportTools())
	h.cfg.Limits = turn.Limits{PersonTokens: 110, Window: time.Hour, Wall: 100 * time.Hour} // what one reply uses
	now := time.Now()
	var passed atomic.Int64
	h.cfg.Now = func() time.Time { return now.Add(time.Duration(passed.Load())) }
	r := h.start(t)
	ask := func(text string) journal.Turn {
		p := h.post(t, "c", text)
		r.Wake()
		all := h.follow(t, p.Turn.ID, 0)
		if len(terminals(all)) != 1 {
			t.Errorf("terminal events: %v", terminals(all))
		}
		return h.ended(t, p.Turn.ID)
	}
	if got := ask("one").Outcome; got.Status != journal.Completed {
		t.Errorf("%+v", got)
	}
	if got := ask("two").Outcome; got.Status != journal.CutShort || got.Reason != "person_budget" || asked.Load() != 1 {
		t.Errorf("%+v, the model was asked %d times", got, asked.Load())
	}
	passed.Store(int64(61 * time.Minute))
	if got := ask("three").Outcome; got.Status != journal.Completed || asked.Load() != 2 {
		t.Errorf("after the window: %+v, the model was asked %d times", got, asked.Load())
	}
}

// What was delivered before the context overflowed is delivered, and the turn says why it ended.
func TestContextOverflowKeepsFiles(t *testing.T) {
	t.Parallel()
	m := scripted(func(_ context.Context, r model.Request, yield func(model.Event, error) bool) {
		if replies(r) == 0 && len(r.Tools) > 0 {
			call(yield, "a", "write", `{}`)
			return
		}
		yield(model.Event{}, &model.Error{Class: model.ContextExceeded, Message: "prompt is too long"})
	})
	h := newHouse(t, m, reportTools())
	r := h.start(t)
	p := h.post(t, "c", "everything")
	r.Wake()
	all := h.follow(t, p.Turn.ID, 0)
	got := h.ended(t, p.Turn.ID).Outcome
	if got.Status != journal.CutShort || got.Reason != "context" || got.Hint == "" || !strings.Contains(text(all), "cut short by the length of what the model can read") {
		t.Errorf("%+v, %q", got, text(all))
	}
	if files, err := h.store.ArtifactsOf(t.Context(), p.Turn.ID); err != nil || len(files) != 1 {
		t.Errorf("files: %v, %v", files, err)
	}
}

func TestLongResultIsCutAndKeptWhole(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("row 1234567\n", 10_000)
	saw := ""
	m := scripted(func(_ context.Context, r model.Request, yield func(model.Event, error) bool) {
		if replies(r) == 0 {
			call(yield, "a", "sql", `{}`)
			return
		}
		saw = r.Messages[len(r.Messages)-1].Blocks[0].Text
		say(yield, "ok")
	})
	b := reportTools()
	b.tools["sql"] = func(context.Context, turn.Call) (turn.Result, error) { return turn.Result{Text: long}, nil }
	h := newHouse(t, m, b)
	h.cfg.ResultMax = 1000
	r := h.start(t)
	p := h.post(t, "c", "x")
	r.Wake()
	h.follow(t, p.Turn.ID, 0)
	if len(saw) > 1300 || !strings.Contains(saw, "/workspace/.results/step-2-sql.txt") || b.saved["step-2-sql.txt"] != long {
		t.Errorf("%d bytes shown: %.100q", len(saw), saw)
	}
}

func TestLongTalkIsCompacted(t *testing.T) {
	t.Parallel()
	largest := 0
	m := scripted(func(_ context.Context, r model.Request, yield func(model.Event, error) bool) {
		size, open := 0, map[string]bool{}
		for _, msg := range r.Messages {
			for _, b := range msg.Blocks {
				size += len(b.Text)
				switch b.Kind {
				case model.ToolUse:
					open[b.ID] = true
				case model.ToolResult:
					delete(open, b.ID)
				}
			}
		}
		largest = max(largest, size)
		if len(open) > 0 {
			t.Errorf("calls without a result: %v", open)
		}
		if replies(r) < 15 {
			call(yield, uuid.NewString(), "sql", `{}`)
			return
		}
		say(yield, "done")
	})
	b := reportTools()
	b.tools["sql"] = func(context.Context, turn.Call) (turn.Result, error) {
		return turn.Result{Text: strings.Repeat("figures ", 1000)}, nil
	}
	h := newHouse(t, m, b)
	h.cfg.ContextMax, h.cfg.ReplyMax = 12_000, 500
	r := h.start(t)
	p := h.post(t, "c", "x")
	r.Wake()
	h.follow(t, p.Turn.ID, 0)
	if got := h.ended(t, p.Turn.ID).Outcome; got.Status != journal.Completed {
		t.Errorf("%+v", got)
	}
	if largest > 45_000 || largest < 20_000 {
		t.Errorf("the largest request had %d bytes", largest)
	}
}

func TestBadCallsAreAnsweredNotRun(t *testing.T) {
	t.Parallel()
	var texts []string
	m := scripted(func(_ context.Context, r model.Request, yield func(model.Event, error) bool) {
		switch replies(r) {
		case 0:
			call(yield, "a", "drop_tables", `{}`)
		case 1:
			texts = append(texts, r.Messages[len(r.Messages)-1].Blocks[0].Text)
			call(yield, "b", "sql", `{"_malformed_input":"{\"query\":"}`)
		default:
			texts = append(texts, r.Messages[len(r.Messages)-1].Blocks[0].Text)
			say(yield, "sorry")
		}
	})
	b := reportTools()
	h := newHouse(t, m, b)
	r := h.start(t)
	p := h.post(t, "c", "x")
	r.Wake()
	h.follow(t, p.Turn.ID, 0)
	if len(b.calls) != 0 || len(texts) != 2 || !strings.Contains(texts[0], "sql") || !strings.Contains(texts[1], "JSON") {
		t.Errorf("%v, %q", b.calls, texts)
	}
}

func TestHardToolFailureNamesItsPart(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]journal.Status{"internal": journal.Failed, "unavailable": journal.CutShort} {
		b := reportTools()
		b.tools["sql"] = func(context.Context, turn.Call) (turn.Result, error) {
			return turn.Result{}, &turn.Failure{Component: "governance", Class: class, Message: "no"}
		}
		m := scripted(func(ctx context.Context, r model.Request, yield func(model.Event, error) bool) {
			if len(r.Tools) == 0 {
				say(yield, "nothing found")
				return
			}
			call(yield, "a", "sql", `{}`)
		})
		h := newHouse(t, m, b)
		h.cfg.Attempts = 3
		r := h.start(t)
		p := h.post(t, "c", "x")
		r.Wake()
		h.follow(t, p.Turn.ID, 0)
		got := h.ended(t, p.Turn.ID).Outcome
		if got.Status != want || want == journal.Failed && (got.Component != "governance" || got.Fault != "infrastructure" || got.Step != 2) {
			t.Errorf("%s: %+v", class, got)
		}
		r.Stop()
	}
}

func TestHandOver(t *testing.T) {
	t.Parallel()
	inCall, goOn := make(chan struct{}), make(chan struct{})
	var seen atomic.Int64
	b := reportTools()
	b.tools["sql"] = func(context.Context, turn.Call) (turn.Result, error) {
		close(inCall)
		<-goOn
		return turn.Result{Text: "rows"}, nil
	}
	b.tools["write"] = func(context.Context, turn.Call) (turn.Result, error) {
		seen.Store(time.Now().UnixNano())
		return turn.Result{Text: "written"}, nil
	}
	h := newHouse(t, report, b)
	first := h.start(t)
	p := h.post(t, "c", "x")
	first.Wake()
	<-inCall
	second := h.start(t)
	_ = second
	stopped := make(chan time.Time, 1)
	go func() {
		first.Stop()
		stopped <- time.Now()
	}()
	time.Sleep(20 * time.Millisecond)
	close(goOn)
	all := h.follow(t, p.Turn.ID, 0)
	took := time.Unix(0, seen.Load()).Sub(<-stopped)
	t.Logf("the other replica went on after %s", took)
	if took > h.store.LeaseTTL()/2 {
		t.Errorf("the other replica went on after %s: it waited for the lease", took)
	}
	if got := h.ended(t, p.Turn.ID); got.Outcome.Status != journal.Completed || got.Epoch != 2 {
		t.Errorf("%+v", got)
	}
	if text(all) != "||Two findings in report.xlsx." {
		t.Errorf("%q", text(all))
	}
}

func TestCrashLoopIsGivenUp(t *testing.T) {
	t.Parallel()
	h := newHouse(t, report, reportTools())
	p := h.post(t, "c", "x")
	for range 3 {
		got, err := h.store.Claim(t.Context(), "doomed")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.store.Orphan(t.Context(), got.Runner); err != nil {
			t.Fatal(err)
		}
	}
	r := h.start(t)
	r.Wake()
	h.follow(t, p.Turn.ID, 0)
	if got := h.ended(t, p.Turn.ID).Outcome; got.Status != journal.Failed || got.Class != "crash_loop" || got.Fault != "infrastructure" {
		t.Errorf("%+v", got)
	}
}

// TestRedisKilledInMidTurn holds that a reader sees every event once, in order, through the death of Redis.
func TestRedisKilledInMidTurn(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := goredis.NewClient(&goredis.Options{Addr: server.Addr, DialTimeout: 200 * time.Millisecond, MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	buffer, err := redis.New(redis.Config{Client: client})
	if err != nil {
		t.Fatal(err)
	}
	if err := buffer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(buffer.Stop)
	m := scripted(func(ctx context.Context, r model.Request, yield func(model.Event, error) bool) {
		if replies(r) == 0 {
			yield(model.Event{Kind: model.TextDelta, Text: "first I look. "}, nil)
			call(yield, "a", "sql", `{}`)
			return
		}
		for i := range 200 {
			if i == 50 {
				server.Kill()
			}
			if i == 100 {
				server.Restart(t)
			}
			time.Sleep(2 * time.Millisecond)
			yield(model.Event{Kind: model.TextDelta, Text: "word "}, nil)
		}
		done(yield, model.EndTurn, model.Block{Kind: model.Text, Text: "many words"})
	})
	h := newHouse(t, m, reportTools())
	h.cfg.Buffer, h.buffer = buffer, buffer
	h.events.Buffer = buffer
	r := h.start(t)
	p := h.post(t, "c", "x")
	r.Wake()
	all := h.follow(t, p.Turn.ID, 0)
	if got, want := text(all), "first I look. |"+strings.Repeat("word ", 200); got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
	if got := terminals(all); len(got) != 1 {
		t.Errorf("%v", got)
	}
	// And whoever comes later reads the same from Redis.
	again := h.follow(t, p.Turn.ID, 0)
	if len(again) != len(all) {
		t.Errorf("%d events, then %d", len(all), len(again))
	}
}

func TestUnknownTurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, report, reportTools())
	for _, err := range h.events.Read(t.Context(), "nothing", 0) {
		if !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("%v", err)
		}
		return
	}
	t.Error("no error")
}

// promptBudget is what the system prompt may cost each call, in tokens.
const promptBudget = 900

func TestPromptIsGolden(t *testing.T) {
	t.Parallel()
	var got string
	m := scripted(func(_ context.Context, r model.Request, yield func(model.Event, error) bool) {
		got = r.System
		say(yield, "hi")
	})
	b := &bench{tools: map[string]func(context.Context, turn.Call) (turn.Result, error){"sql": nil}}
	h := newHouse(t, m, b)
	h.cfg.Now = func() time.Time { return time.Date(2026, 6, 30, 23, 30, 0, 0, time.FixedZone("", -5*3600)) }
	h.cfg.Limits.Wall = 24 * 365 * 10 * time.Hour
	r := h.start(t)
	p := h.post(t, "c", "x")
	r.Wake()
	h.follow(t, p.Turn.ID, 0)
	golden := filepath.Join("testdata", "prompt.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != got {
		t.Errorf("the prompt changed; look at it and run with -update (%v):\n%s", err, got)
	}
	if n := len(got) / 4; n > promptBudget {
		t.Errorf("about %d tokens, the budget is %d", n, promptBudget)
	}
	if !strings.Contains(got, "2026-07-01") {
		t.Error("today isn't the UTC day")
	}
}
