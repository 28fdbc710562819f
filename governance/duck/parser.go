package duck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"bordereau/governance/fault"
)

// parserMemory is what DuckDB may use to read a statement.
const parserMemory = 128 << 20

// Parse has a parser process read sql. A parser that doesn't answer in time is killed: nested comments alone are quadratic.
func (p *Pool) Parse(ctx context.Context, sql string) ([]byte, error) {
	return p.parser(ctx, frameParse, []byte(sql), frameParsed)
}

// Print has a parser process print a tree and read the text again.
func (p *Pool) Print(ctx context.Context, tree []byte) (string, []byte, error) {
	answer, err := p.parser(ctx, framePrint, tree, framePrinted)
	if err != nil {
		return "", nil, err
	}
	sql, again, ok := bytes.Cut(answer, []byte{0})
	if !ok {
		return "", nil, unavailable("the parser failed", errFrame)
	}
	return string(sql), again, nil
}

func (p *Pool) parser(ctx context.Context, ask kind, payload []byte, want kind) ([]byte, error) {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return nil, unavailable("no parser could be started", errors.New("closed"))
	}
	var w *process
	select {
	case w = <-p.parsers:
	case <-ctx.Done():
		return nil, p.contextFault(ctx, ctx.Err())
	}
	if w == nil || w.dead() {
		var err error
		w, err = p.startFor(ctx, openRequest{Memory: parserMemory, Threads: 1}, func(r openRequest) (*process, error) {
			w, err := start(p.c.Executable, p.c.Args, r)
			if err != nil {
				p.parsers <- nil
			}
			return w, err
		}, func(late *process) { p.parsers <- late })
		if err != nil {
			if ctx.Err() != nil {
				return nil, p.contextFault(ctx, err)
			}
			return nil, unavailable("no parser could be started", err)
		}
	}
	patience := p.c.ParseTime
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, max(0, time.Until(deadline))+grace)
	}
	watchdog := time.AfterFunc(patience, w.kill)
	err := writeFrame(w.to, ask, payload)
	var got kind
	var answer []byte
	if err == nil {
		got, answer, err = readFrame(w.from)
	}
	if !watchdog.Stop() || err != nil {
		w.kill()
		p.parsers <- nil
		if ctx.Err() != nil {
			return nil, p.contextFault(ctx, ctx.Err())
		}
		return nil, (&fault.Error{
			Code: fault.Denied, Component: component, Rule: "parse_time", Message: "the statement takes too long to read",
			Hint: "Write it more simply: fewer comments, less nesting.",
		}).Because(err)
	}
	p.parsers <- w
	if got == want {
		return answer, nil
	}
	var report errorReport
	if err := json.Unmarshal(answer, &report); err != nil || got != frameError {
		return nil, unavailable("the parser failed", errors.Join(err, errFrame))
	}
	f := faultOf(report)
	if report.Class == classStatement || report.Class == classValue {
		f.Code, f.Rule, f.Hint = fault.Denied, "reprint", "Write the statement more plainly."
	}
	return nil, f
}
