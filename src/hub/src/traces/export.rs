//! Export of spans as OTLP over gRPC.

use axum::http::HeaderMap;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use opentelemetry_sdk::Resource;
use tracing::{Level, Span, Subscriber};
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::Layer;

use super::TARGET;

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

/// Makes the client's span, if the headers of its call name one, the parent of a span.
pub fn set_parent(span: &Span, headers: &HeaderMap) {
    let parent = TraceContextPropagator::new().extract(&Headers(headers));
    // Fails only if the span has already started.
    let _ = span.set_parent(parent);
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
