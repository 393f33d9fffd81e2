//! `kairos-hub`: one gRPC server for the core devices of a laboratory. What it offers stands in `proto/`, how it is used in
//! `docs/hub.md`.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use kairos_hub::server;
use kairos_hub::settings::Settings;

#[derive(Parser)]
#[command(
    about = "Registers, batches and health of a laboratory's core devices, over gRPC",
    version
)]
struct Arguments {
    /// Which devices there are, and where to listen
    #[arg(default_value = "hub.toml")]
    settings: PathBuf,
    /// Listen here instead: address and port; port 0 for any that is free, which is printed
    #[arg(long)]
    listen: Option<std::net::SocketAddr>,
    /// Of the log on standard error: lines to read, or a JSON object each
    #[arg(long, value_enum, default_value = "text")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let levels = tracing_subscriber::EnvFilter::try_from_env("KAIROS_HUB_LOG").unwrap_or_else(|_| "info".into());
    let log = tracing_subscriber::fmt()
        .with_env_filter(levels)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match arguments.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
    match run(arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kairos: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), String> {
    let settings = Settings::load(&arguments.settings, arguments.listen)?;
    server::serve(arguments.settings, settings).await
}
