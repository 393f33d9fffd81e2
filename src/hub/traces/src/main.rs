//! `kairos-hub-traces`: the hub with an exporter of its spans, as OTLP over gRPC.

use std::process::ExitCode;

use axum::http::HeaderMap;
use kairos_hub::traces::{Exporter, SpanLayer, SET_PARENT, TARGET};
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use opentelemetry_sdk::Resource;
use tracing::{Level, Span};
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::Layer;

fn main() -> ExitCode {
    kairos_hub::command::main(export)
}

/// Exports to the collector at an address, `http://HOST:4317`. Must be called within a runtime;
/// connects when there is something to send.
fn export(collector: &str) -> Result<(SpanLayer, Box<dyn Exporter>), String> {
    let exporter = SpanExporter::builder().with_tonic().with_endpoint(collector).build();
    let exporter = exporter.map_err(|error| format!("cannot send traces to {collector}: {error}"))?;
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(Resource::builder().with_service_name("kairos-hub").build())
        .build();
    SET_PARENT.get_or_init(|| set_parent);
    let spans = filter_fn(|about| about.is_span() && about.target() == TARGET).with_max_level_hint(Level::INFO);
    let layer = OpenTelemetryLayer::new(provider.tracer("kairos-hub")).with_filter(spans);
    Ok((layer.boxed(), Box::new(Traces(provider))))
}

struct Traces(SdkTracerProvider);

impl Exporter for Traces {
    fn end(self: Box<Self>) {
        if let Err(error) = self.0.shutdown() {
            tracing::warn!("the last traces are lost: {error}");
        }
    }
}

fn set_parent(span: &Span, headers: &HeaderMap) {
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
