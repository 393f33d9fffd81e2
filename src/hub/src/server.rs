//! The server: the services of [`crate::service`], health of each device and its subsystems, the protocol itself by
//! reflection, metrics, all at one address.

use std::sync::Arc;
use std::time::Duration;

use axum::middleware::from_fn_with_state;
use axum::routing::get;
use tokio::net::TcpListener;
use tonic::service::Routes;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic_health::server::HealthReporter;
use tonic_health::ServingStatus;

use crate::access;
use crate::device::State;
use crate::health::Condition;
use crate::life;
use crate::metrics::{self, Calls};
use crate::service::{All, Service};
use crate::settings::Settings;
use crate::v1;
use crate::v1::devices_server::DevicesServer;
use crate::v1::monitor_server::MonitorServer;
use crate::v1::registers_server::RegistersServer;

/// Longest request: some times the largest program that a device takes.
const REQUEST_MAX: usize = 1 << 20;
/// A client that does not answer a ping in time is gone, and with it what it watches.
const PING: Duration = Duration::from_secs(30);
/// Time that calls under way have when the hub ends.
const GRACE: Duration = Duration::from_secs(2);
/// Calls that a client may have under way on one connection.
const STREAMS_MAX: u32 = 128;

/// Serves until the process is asked to end. The first line on standard output says where.
pub async fn serve(settings: Settings, devices: All) -> Result<(), String> {
    let Settings {
        listen, tls, tokens, ..
    } = settings;
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| format!("the hub cannot listen at {listen}: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let mut server = Server::builder()
        // For metrics.
        .accept_http1(true)
        .max_concurrent_streams(STREAMS_MAX)
        .http2_keepalive_interval(Some(PING));
    if let Some(tls) = tls {
        let identity = Identity::from_pem(tls.certificate, tls.key);
        server = server
            .tls_config(ServerTlsConfig::new().identity(identity))
            .map_err(|error| format!("[tls]: no PEM certificate with its key: {}", root(&error)))?;
    }
    let pulses = devices
        .iter()
        .map(|device| (device.name().to_string(), device.pulse()))
        .collect();
    let calls: &'static Calls = Box::leak(Box::default());
    let router = routes(devices.clone())?
        .into_axum_router()
        .merge(
            axum::Router::new()
                .route(access::METRICS, get(metrics::page))
                .with_state((devices, calls)),
        )
        .layer(from_fn_with_state(Arc::new(tokens), access::admit))
        .layer(from_fn_with_state(calls, metrics::count));
    println!("listening on {address}");
    tokio::spawn(life::tell(pulses, address));
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let serving = server
        .add_routes(router.into())
        .serve_with_incoming_shutdown(incoming, async { drop(ended.await) });
    tokio::pin!(serving);
    tokio::select! {
        result = &mut serving => return result.map_err(|error| root(&error)),
        () = asked_to_end() => drop(end),
    }
    // Who watches does so without end.
    match tokio::time::timeout(GRACE, serving).await {
        Ok(result) => result.map_err(|error| root(&error)),
        Err(_) => Ok(()),
    }
}

/// What an error comes from.
fn root(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), root)
}

fn routes(devices: All) -> Result<Routes, String> {
    let (reporter, health) = tonic_health::server::health_reporter();
    for device in devices.iter() {
        tokio::spawn(report(
            format!("device/{}", device.name()),
            device.state(),
            reporter.clone(),
        ));
    }
    // Clients in use ask for the one or the other version of the same service.
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(v1::FILES)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let reflections = (reflection().build_v1(), reflection().build_v1alpha());
    let (Ok(reflection), Ok(reflection_alpha)) = reflections else {
        return Err("the protocol cannot be described".into());
    };
    let service = Service(devices);
    let registers = RegistersServer::new(service.clone()).max_decoding_message_size(REQUEST_MAX);
    Ok(Routes::new(health)
        .add_service(reflection)
        .add_service(reflection_alpha)
        .add_service(DevicesServer::new(service.clone()))
        .add_service(MonitorServer::new(service))
        .add_service(registers))
}

async fn asked_to_end() {
    use tokio::signal::unix::{signal, SignalKind};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    // Where signals cannot be had the process ends by itself.
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = interrupted => {}
        _ = terminate.recv() => {}
    }
}

/// Keeps a device's entries in the health service: itself, and each of its subsystems that it has.
async fn report(name: String, mut state: tokio::sync::watch::Receiver<State>, reporter: HealthReporter) {
    let mut known: Vec<String> = Vec::new();
    loop {
        let now = state.borrow_and_update().clone();
        let (status, subsystems) = match now {
            State::Here(_, subsystems) => (ServingStatus::Serving, subsystems),
            State::Away(_) => (ServingStatus::NotServing, Arc::default()),
        };
        reporter.set_service_status(&name, status).await;
        for entry in known.drain(..) {
            if status == ServingStatus::NotServing {
                reporter.set_service_status(entry, ServingStatus::Unknown).await;
            }
        }
        for subsystem in subsystems.iter().filter(|one| one.condition != Condition::Absent) {
            let entry = format!("{name}/{}", subsystem.name);
            let status = match subsystem.condition {
                Condition::Bad => ServingStatus::NotServing,
                _ => ServingStatus::Serving,
            };
            reporter.set_service_status(&entry, status).await;
            known.push(entry);
        }
        if state.changed().await.is_err() {
            return;
        }
    }
}
