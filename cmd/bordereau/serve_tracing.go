package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// tracing sends spans to a collector; the zero tracing sends none and costs nothing.
type tracing struct{ provider trace.TracerProvider }

// openTracing begins to send spans over OTLP/HTTP where the configuration names a collector. A collector that is down costs
// spans and nothing else.
func openTracing(ctx context.Context, c config, open *closers) (tracing, error) {
	if c.Traces == "" {
		return tracing{}, nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(strings.TrimSuffix(c.Traces, "/")+"/v1/traces"))
	if err != nil {
		return tracing{}, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.Merge(resource.Default(), resource.NewSchemaless(
		attribute.String("service.name", "bordereau-"+c.Role), attribute.String("service.version", version())))
	if err != nil {
		return tracing{}, fmt.Errorf("traces: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	open.add(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return provider.Shutdown(ctx)
	})
	return tracing{provider}, nil
}

// tracer is a part's; nil while spans go nowhere.
func (t tracing) tracer(part string) trace.Tracer {
	if t.provider == nil {
		return nil
	}
	return t.provider.Tracer("bordereau/" + part)
}

// client makes a span of each request, which takes its trace's context along.
func (t tracing) client(next http.RoundTripper, name string) http.RoundTripper {
	if t.provider == nil {
		return next
	}
	return otelhttp.NewTransport(next, t.options(name)...)
}

// server goes on with the trace of whoever asks.
func (t tracing) server(next http.Handler, name string) http.Handler {
	if t.provider == nil {
		return next
	}
	return otelhttp.NewHandler(next, name, t.options(name)...)
}

func (t tracing) options(name string) []otelhttp.Option {
	return []otelhttp.Option{
		otelhttp.WithTracerProvider(t.provider), otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithSpanNameFormatter(func(string, *http.Request) string { return name }),
	}
}
