//! The command line of the hub, for its programs with and without an exporter of traces.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::plugins::orphans;
use crate::server;
use crate::settings::Settings;
use crate::text::{plain, PlainLines};
use crate::traces::{logged, Export};

#[derive(Parser)]
#[command(
    about = "gRPC server for the core devices of a laboratory: registers, batches, health",
    version
)]
struct Arguments {
    /// Settings file: devices and listening address
    #[arg(default_value = "hub.toml")]
    settings: PathBuf,
    /// Listen on this address and port instead; port 0 selects a free port, which is printed
    #[arg(long)]
    listen: Option<std::net::SocketAddr>,
    /// Send traces to this OpenTelemetry collector, as OTLP over gRPC (http://HOST:4317); default: no traces
    #[arg(long, value_name = "URL")]
    traces: Option<String>,
    /// Format of the log on standard error: plain text, or one JSON object per line
    #[arg(long, value_enum, default_value = "text")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

/// Runs the hub as the command line says. export: connects to the collector that it names, or says why not.
pub fn main(export: Export) -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("kairos: the hub cannot start its threads: {error}");
            return ExitCode::FAILURE;
        }
    };
    // Fails on old kernels only, where orphans of plugins survive the hub.
    let adopted = orphans::adopt();
    let code = runtime.block_on(log_and_run(arguments, export));
    // Ends the plugins.
    drop(runtime);
    if adopted.is_ok() {
        orphans::end_all();
    }
    code
}

async fn log_and_run(arguments: Arguments, export: Export) -> ExitCode {
    let (spans, exporter) = match arguments.traces.as_deref().map(export).transpose() {
        Ok(exporter) => exporter.unzip(),
        Err(error) => {
            eprintln!("kairos: {}", plain(&error.to_string()));
            return ExitCode::FAILURE;
        }
    };
    let levels = tracing_subscriber::EnvFilter::try_from_env("KAIROS_HUB_LOG").unwrap_or_else(|_| "info".into());
    let log = tracing_subscriber::fmt::layer().with_ansi(std::io::stderr().is_terminal());
    let log = match arguments.log_format {
        LogFormat::Text => log.with_writer(|| PlainLines(std::io::stderr())).boxed(),
        LogFormat::Json => log.with_writer(std::io::stderr).json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry()
        .with(spans)
        .with(log.with_filter(logged(levels)))
        .init();
    let ended = run(arguments).await;
    if let Some(exporter) = exporter {
        // Flushing waits for the collector, so it runs on a separate thread.
        drop(tokio::task::spawn_blocking(|| exporter.end()).await);
    }
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kairos: {}", plain(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), String> {
    let settings = Settings::load(&arguments.settings, arguments.listen)?;
    server::serve(arguments.settings, settings).await
}
