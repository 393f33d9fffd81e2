//! Traces of calls for OpenTelemetry: a span for each call, and in it one for each request of a
//! device. Off unless the user names a collector; then they go there as OTLP over gRPC.

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

/// Target of the spans. The log leaves them out; while nobody traces they cost nothing.
pub const TARGET: &str = "trace";

/// What is logged at these levels: no span of ours. One filter: of two in each other, the outer one
/// would have a span made of whatever the libraries below do.
pub fn logged<S: Subscriber>(levels: EnvFilter) -> impl Filter<S> {
    levels.and(filter_fn(|about| about.target() != TARGET))
}

/// Where spans go.
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// To the collector at an address, `http://HOST:4317`. Within a runtime; it is connected to
    /// when there is something to send.
    pub fn to(collector: &str) -> Result<Self, String> {
        let exporter = SpanExporter::builder().with_tonic().with_endpoint(collector).build();
        let exporter = exporter.map_err(|error| format!("cannot send traces to {collector}: {error}"))?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(Resource::builder().with_service_name("kairos-hub").build());
        Ok(Self(provider.build()))
    }

    /// What makes spans of `tracing` those of OpenTelemetry.
    pub fn layer<S: Subscriber + for<'span> LookupSpan<'span>>(&self) -> impl Layer<S> {
        let layer = OpenTelemetryLayer::new(self.0.tracer("kairos-hub"));
        layer.with_filter(
            filter_fn(|about| about.is_span() && about.target() == TARGET).with_max_level_hint(Level::INFO),
        )
    }

    /// Sends what is left.
    pub fn end(self) {
        if let Err(error) = self.0.shutdown() {
            tracing::warn!("the last traces are lost: {error}");
        }
    }
}

/// The span of a call; of a client that traces too, below its own.
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
        // A span that has begun has none: this one has not.
        let _ = span.set_parent(parent);
    }
    let response = next.run(request).instrument(span.clone()).await;
    // As the conventions of OpenTelemetry have it: a number, and an error only where it is not the client's.
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

/// gRPC's number of how a call ended. One that failed says so in the head of its answer.
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
    fn nobody_makes_spans_for_the_log() {
        let log = tracing_subscriber::fmt::layer().with_writer(std::io::sink);
        let subscriber = tracing_subscriber::registry().with(log.with_filter(logged(EnvFilter::new("info"))));
        tracing::subscriber::with_default(subscriber, || {
            assert!(tracing::enabled!(Level::INFO));
            assert!(tracing::trace_span!(target: "h2", "poll").is_disabled());
            assert!(tracing::info_span!(target: TARGET, "call").is_disabled());
        });
    }
}
