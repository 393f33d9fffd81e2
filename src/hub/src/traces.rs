//! Traces of calls for OpenTelemetry: a span for each call, and a nested one for each batch on a
//! device. Disabled unless the user specifies a collector, which receives them as OTLP over gRPC. The
//! exporter is in a program of its own, `src/hub/traces`, because its dependencies are many.

use std::sync::OnceLock;

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use tracing::{Instrument, Span, Subscriber};
use tracing_subscriber::filter::{filter_fn, EnvFilter, FilterExt};
use tracing_subscriber::layer::Filter;
use tracing_subscriber::{Layer, Registry};

/// Connects to the collector at an address: returns the layer that receives the spans, and their exporter.
pub type Export = fn(&str) -> Result<(SpanLayer, Box<dyn Exporter>), String>;

pub type SpanLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Sends spans to a collector.
pub trait Exporter: Send {
    /// Sends the remaining spans.
    fn end(self: Box<Self>);
}

/// Makes the client's span, if the headers of its call name one, the parent of a span. Set by the exporter.
pub static SET_PARENT: OnceLock<fn(&Span, &HeaderMap)> = OnceLock::new();

/// Target of the spans. The log excludes them; without tracing they have no cost.
pub const TARGET: &str = "trace";

/// Filter for the log: these levels, without trace spans. A single combined filter, because with
/// nested ones the outer filter would enable spans for all activity of libraries.
pub fn logged<S: Subscriber>(levels: EnvFilter) -> impl Filter<S> {
    levels.and(filter_fn(|about| about.target() != TARGET))
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
    if let Some(set_parent) = SET_PARENT.get().filter(|_| !span.is_disabled()) {
        set_parent(&span, request.headers());
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

#[cfg(test)]
mod tests {
    use tracing::Level;
    use tracing_subscriber::layer::{Layer, SubscriberExt};

    use super::*;

    #[test]
    fn log_filter_enables_no_spans_of_traces() {
        let log = tracing_subscriber::fmt::layer().with_writer(std::io::sink);
        let subscriber = tracing_subscriber::registry().with(log.with_filter(logged(EnvFilter::new("info"))));
        tracing::subscriber::with_default(subscriber, || {
            assert!(tracing::enabled!(Level::INFO));
            assert!(tracing::trace_span!(target: "h2", "poll").is_disabled());
            assert!(tracing::info_span!(target: TARGET, "call").is_disabled());
        });
    }
}
