package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// trace sends spans to a collector. OTEL_TRACES_SAMPLER, OTEL_RESOURCE_ATTRIBUTES and other variables of
// OpenTelemetry apply.
func (o *monitoring) trace(ctx context.Context, log *slog.Logger, collector []otlptracehttp.Option) error {
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces", "error", err) }))
	exporter, err := otlptracehttp.New(ctx, collector...)
	if err != nil {
		return err
	}
	about, err := resource.Merge(resource.NewSchemaless(
		attribute.String("service.name", "almanac"), attribute.String("service.version", buildVersion()),
	), resource.Environment())
	if err != nil {
		return err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	o.tracer = provider.Tracer("github.com/almanac-cal/almanac")
	o.close = append(o.close, func() error {
		within, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := provider.Shutdown(within); err != nil {
			log.Warn("last traces", "error", err)
		}
		return nil
	})
	return nil
}

// collector returns the options of the trace exporter. Nil means that no collector is configured, or that
// OTEL_SDK_DISABLED is true. The exporter reads the OpenTelemetry variables itself and ignores values that it cannot
// parse. So collector checks these values and returns an error.
func (f operateFlags) collector(getenv func(string) string) ([]otlptracehttp.Option, error) {
	var out []otlptracehttp.Option
	if f.OTLPEndpoint != "" {
		at, err := collectorURL(f.OTLPEndpoint)
		if err != nil {
			return nil, fmt.Errorf("--otlp-endpoint: %w", err)
		}
		if strings.Trim(at.Path, "/") == "" {
			at.Path = "/v1/traces"
		}
		out = append(out, otlptracehttp.WithEndpointURL(at.String()))
	}
	if strings.EqualFold(strings.TrimSpace(getenv("OTEL_SDK_DISABLED")), "true") {
		return nil, nil
	}
	for _, name := range collectorVariables {
		text := strings.TrimSpace(getenv(name))
		if text == "" {
			continue
		}
		if _, err := collectorURL(text); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if out == nil {
			out = []otlptracehttp.Option{}
		}
	}
	if out == nil {
		return nil, nil
	}
	return out, errors.Join(checkHeaders(getenv), checkTimes(getenv), checkSampler(getenv))
}

// errCollector is the only message about a wrong collector URL, since the URL may contain a password.
var errCollector = errors.New("want http(s)://HOST:PORT")

// collectorVariables are the OpenTelemetry variables that name a collector. The second one overrides the first.
var collectorVariables = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}

func collectorURL(text string) (*url.URL, error) {
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return nil, errCollector
	}
	return at, nil
}

// checkHeaders checks the headers that authenticate at the collector. The exporter would print a malformed header
// and ignore it.
func checkHeaders(getenv func(string) string) error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		text := strings.TrimSpace(getenv(name))
		if text == "" {
			continue
		}
		for pair := range strings.SplitSeq(text, ",") {
			key, value, ok := strings.Cut(pair, "=")
			key = strings.TrimSpace(key)
			_, err := url.PathUnescape(value)
			if !ok || err != nil || key == "" || strings.ContainsFunc(key, notInHeaderName) {
				return fmt.Errorf("%s: want NAME=VALUE,NAME=VALUE, the values percent-encoded", name)
			}
		}
	}
	return nil
}

// notInHeaderName reports whether a character is not allowed in a header name (a token of RFC 9110).
func notInHeaderName(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func checkTimes(getenv func(string) string) error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"} {
		text := strings.TrimSpace(getenv(name))
		if ms, err := strconv.Atoi(text); text != "" && (err != nil || ms < 0) {
			return fmt.Errorf("%s %q: want milliseconds", name, text)
		}
	}
	return nil
}

// samplers lists the samplers of OpenTelemetry. True means that the sampler takes a share from 0 to 1.
var samplers = map[string]bool{
	"always_on": false, "always_off": false, "traceidratio": true,
	"parentbased_always_on": false, "parentbased_always_off": false, "parentbased_traceidratio": true,
}

func checkSampler(getenv func(string) string) error {
	name := strings.ToLower(strings.TrimSpace(getenv("OTEL_TRACES_SAMPLER")))
	share, known := samplers[name]
	if name != "" && !known {
		return fmt.Errorf("OTEL_TRACES_SAMPLER %q: want one of %s", name, strings.Join(slices.Sorted(maps.Keys(samplers)), ", "))
	}
	text := strings.TrimSpace(getenv("OTEL_TRACES_SAMPLER_ARG"))
	if !share || text == "" {
		return nil
	}
	if v, err := strconv.ParseFloat(text, 64); err != nil || !(v >= 0 && v <= 1) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG %q: want a share from 0 to 1", text)
	}
	return nil
}
