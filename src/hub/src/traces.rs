//! Traces of calls for OpenTelemetry: a span for each call, and a nested one for each batch on a
//! device. Disabled unless the user specifies a collector, which receives them as OTLP over gRPC.

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use opentelemetry_sdk::Resource;
use tracing::{Instrument, Level, Subscriber};
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt};
use tracing_subscriber::filter::{filter_fn, EnvFilter, FilterExt};
use tracing_subscriber::layer::Filter;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::Layer;

/// Target of the spans. The log excludes them; without tracing they have no cost.
pub const TARGET: &str = "trace";

/// Filter for the log: these levels, without trace spans. A single combined filter, because with
/// nested ones the outer filter would enable spans for all activity of libraries.
pub fn logged<S: Subscriber>(levels: EnvFilter) -> impl Filter<S> {
    levels.and(filter_fn(|about| about.target() != TARGET))
}

/// The exporter of spans.
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Exports to the collector at an address, `http://HOST:4317`. Must be called within a runtime;
    /// connects when there is something to send.
    pub fn to(collector: &str) -> Result<Self, String> {
        let exporter = SpanExporter::builder().with_tonic().with_endpoint(collector).build();
        let exporter = exporter.map_err(|error| format!("cannot send traces to {collector}: {error}"))?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(Resource::builder().with_service_name("kairos-hub").build());
        Ok(Self(provider.build()))
    }

    /// The layer that converts spans of `tracing` to OpenTelemetry.
    pub fn layer<S: Subscriber + for<'span> LookupSpan<'span>>(&self) -> impl Layer<S> {
        let layer = OpenTelemetryLayer::new(self.0.tracer("kairos-hub"));
        layer.with_filter(
            filter_fn(|about| about.is_span() && about.target() == TARGET).with_max_level_hint(Level::INFO),
        )
    }

    /// Sends the remaining spans.
    pub fn end(self) {
        if let Err(error) = self.0.shutdown() {
            tracing::warn!("the last traces are lost: {error}");
        }
    }
}

/// Wraps a call in a span, whose parent is the client's span if the client traces too.
pub async fn call(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let name = path.strip_prefix('/').unwrap_or(path);
    let (service, method) = name.rsplit_once('/').unwrap_or(("", name));
    let span = tracing::info_span!(
        target: TARGET,
        "call",
        otel.name = name,
        otel.kind = "server",
        rpc.system = "grpc",
        rpc.service = service,
        rpc.method = method,
        rpc.grpc.status_code = tracing::field::Empty,
        otel.status_code = tracing::field::Empty,
        kairos.client = tracing::field::Empty,
    );
    if !span.is_disabled() {
        let parent = TraceContextPropagator::new().extract(&Headers(request.headers()));
        // Fails only if the span has already started.
        let _ = span.set_parent(parent);
    }
    let response = next.run(request).instrument(span.clone()).await;
    // Following the OpenTelemetry conventions: a number, and an error only if the client did not
    // cause it.
    if let Ok(number) = code(response.headers()).parse::<i64>() {
        span.record("rpc.grpc.status_code", number);
        if OURS.contains(&number) {
            span.record("otel.status_code", "ERROR");
        }
    }
    response
}

/// UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS.
const OURS: [i64; 6] = [2, 4, 12, 13, 14, 15];

/// The gRPC status code of a call. A failed one is in the response headers.
pub fn code(headers: &HeaderMap) -> &str {
    let status = headers.get("grpc-status").and_then(|value| value.to_str().ok());
    status.unwrap_or("0")
}

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(|key| key.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn disabled_traces_create_no_spans() {
        let log = tracing_subscriber::fmt::layer().with_writer(std::io::sink);
        let subscriber = tracing_subscriber::registry().with(log.with_filter(logged(EnvFilter::new("info"))));
        tracing::subscriber::with_default(subscriber, || {
            assert!(tracing::enabled!(Level::INFO));
            assert!(tracing::trace_span!(target: "h2", "poll").is_disabled());
            assert!(tracing::info_span!(target: TARGET, "call").is_disabled());
        });
    }
}
