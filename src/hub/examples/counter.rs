//! A plugin of the layer `access` in Rust: serves `lab.counter.v1.Counter` at the socket named by
//! the hub, reports through the health service that it is serving, and ends when its standard input
//! is closed. `docs/hub-plugins.md`.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::net::UnixListener;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

tonic::include_proto!("lab.counter.v1");

use counter_server::{Counter, CounterServer};

/// The counter; its initial value comes from hub.toml.
struct Sum(AtomicU64);

#[tonic::async_trait]
impl Counter for Sum {
    async fn add(&self, request: Request<AddRequest>) -> Result<Response<AddResponse>, Status> {
        let amount = request.into_inner().amount;
        let sum = self.0.fetch_add(amount, Ordering::Relaxed).wrapping_add(amount);
        println!("{amount} more: {sum}");
        Ok(Response::new(AddResponse { sum }))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings: serde_json::Value = serde_json::from_str(&std::env::var("KAIROS_PLUGIN_SETTINGS")?)?;
    let sum = Sum(AtomicU64::new(settings["start"].as_u64().unwrap_or(0)));
    let listener = UnixListener::bind(std::env::var("KAIROS_PLUGIN_SOCKET")?)?;
    let (_reporter, health) = tonic_health::server::health_reporter();
    let wait = || std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    let ended = async { drop(tokio::task::spawn_blocking(wait).await) };
    Server::builder()
        .add_service(health)
        .add_service(CounterServer::new(sum))
        .serve_with_incoming_shutdown(UnixListenerStream::new(listener), ended)
        .await?;
    Ok(())
}
