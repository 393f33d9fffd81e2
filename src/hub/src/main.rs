//! `kairos-hub`: one gRPC server for the core devices of a laboratory. What it offers stands in `proto/`, how it is used in
//! `docs/hub.md`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use kairos_hub::settings::Settings;
use kairos_hub::{device, server};

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
}

#[tokio::main]
async fn main() -> ExitCode {
    let levels = tracing_subscriber::EnvFilter::try_from_env("KAIROS_HUB_LOG").unwrap_or_else(|_| "info".into());
    tracing_subscriber::fmt()
        .with_env_filter(levels)
        .with_writer(std::io::stderr)
        .init();
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kairos: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), String> {
    let mut settings = Settings::load(&arguments.settings, arguments.listen)?;
    let devices: Vec<_> = settings.devices.drain(..).map(device::Device::start).collect();
    server::serve(settings, Arc::new(devices)).await
}
