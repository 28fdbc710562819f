package turn

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"bordereau/agent/journal"
	"bordereau/agent/model"
)

// A turn's spans: the turn under one epoch, each step, each attempt of a model call, each tool call, each wait for a part.
// Their attributes have the names of OpenTelemetry's conventions for generative AI where those have one; nothing that
// people or models wrote is among them.

// span begins a span and returns what ends it.
func (u *run) span(ctx context.Context, name string, about ...attribute.KeyValue) (context.Context, trace.Span) {
	return u.c.Tracer.Start(ctx, name, trace.WithAttributes(about...))
}

// endSpan ends a span with what went wrong, if anything did.
func endSpan(s trace.Span, err error) {
	defer s.End()
	var f *Failure
	var m *model.Error
	switch {
	case errors.As(err, &f):
		fault := f.Fault
		if fault == "" {
			fault = model.Infrastructure
		}
		s.SetAttributes(attribute.String("error.type", f.Class), attribute.String("bordereau.component", f.Component), attribute.String("bordereau.fault", string(fault)))
		s.SetStatus(codes.Error, f.Message)
	case errors.As(err, &m):
		s.SetAttributes(attribute.String("error.type", string(m.Class)), attribute.String("bordereau.component", "model"), attribute.String("bordereau.fault", string(m.Class.Fault())))
		s.SetStatus(codes.Error, string(m.Class))
	case err != nil: // a turn that is stopped, handed over or cut short
		s.SetAttributes(attribute.String("bordereau.ended", err.Error()))
	}
}

func aboutTurn(t journal.Turn) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.conversation.id", t.Conversation),
		attribute.String("bordereau.turn", t.ID), attribute.String("bordereau.org", t.Org), attribute.Int64("bordereau.epoch", t.Epoch),
		attribute.Float64("bordereau.queued_ms", float64(t.Started.Sub(t.Created).Microseconds())/1000),
	}
}

func aboutOutcome(o journal.Outcome) []attribute.KeyValue {
	about := []attribute.KeyValue{attribute.String("bordereau.status", string(o.Status))}
	if o.Reason != "" {
		about = append(about, attribute.String("bordereau.reason", o.Reason))
	}
	return about
}

func aboutUsage(u model.Usage) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.Int64("gen_ai.usage.input_tokens", u.Input+u.CacheRead+u.CacheWrite), attribute.Int64("gen_ai.usage.output_tokens", u.Output),
		attribute.Int64("gen_ai.usage.cache_read.input_tokens", u.CacheRead), attribute.Int64("gen_ai.usage.cache_creation.input_tokens", u.CacheWrite),
	}
}

// waitSpan is a wait that is over.
func (u *run) waitSpan(component string, began time.Time, took time.Duration) {
	ctx := trace.ContextWithSpanContext(context.Background(), u.traced)
	_, s := u.c.Tracer.Start(ctx, "wait "+component, trace.WithTimestamp(began), trace.WithAttributes(attribute.String("bordereau.component", component)))
	s.End(trace.WithTimestamp(began.Add(took)))
}
