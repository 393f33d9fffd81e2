//! The server: the services of [`crate::service`], health of each device and its subsystems,
//! reflection of the protocol, and metrics, all at one address.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, get};
use tokio::net::TcpListener;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::server::HealthReporter;
use tonic_health::ServingStatus;

use crate::access::{self, revocation, Gate};
use crate::board::settings::BoardSettings;
use crate::body;
use crate::connections;
use crate::device::{All, Device};
use crate::health::Condition;
use crate::job::State;
use crate::journal::Journal;
use crate::laboratory::Laboratory;
use crate::life::{self, Heartbeats};
use crate::metrics::{self, Calls};
use crate::page::files::Files;
use crate::page::{self, Page};
use crate::plugins::forward::{forward, Processes};
use crate::plugins::host::{Plugins, Registries, Sockets};
use crate::plugins::reflection::Reflection;
use crate::service::Service;
use crate::serving::{self, FRAME_MAX, PING, STREAMS_MAX};
use crate::settings::{DeviceSettings, Settings};
use crate::traces;
use crate::v1::buses_server::BusesServer;
use crate::v1::channels_server::ChannelsServer;
use crate::v1::clocks_server::ClocksServer;
use crate::v1::devices_server::DevicesServer;
use crate::v1::memory_server::MemoryServer;
use crate::v1::monitor_server::MonitorServer;
use crate::v1::plugins_server::PluginsServer;
use crate::v1::registers_server::RegistersServer;
use crate::v1::waveforms_server::WaveformsServer;

/// Maximum size of a request: several times that of the largest program that a device accepts.
const REQUEST_MAX: usize = 1 << 20;
/// Grace period for calls under way when the hub ends.
const GRACE: Duration = Duration::from_secs(2);

/// Serves until the process is asked to end. `file`: hub.toml. The first line on standard output is
/// the address.
pub async fn serve(file: PathBuf, settings: Settings) -> Result<(), String> {
    let Settings {
        listen,
        tls,
        tokens,
        devices,
        boards,
        state,
        plugins,
        control_group,
        laboratory,
        page,
    } = settings;
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| format!("the hub cannot listen at {listen}: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    // For plugins, which run on this machine as this user, without TLS.
    let mut inner = server();
    let tls = tls.as_ref().map(serving::acceptor).transpose()?;
    let (sockets, inner_listener) =
        Sockets::new().map_err(|error| format!("cannot create a folder for sockets: {error}"))?;
    let devices = start_devices(devices, boards, &state)?;
    let heartbeats = Heartbeats::default();
    for device in devices.iter() {
        heartbeats.add(device.name(), device.heartbeat());
    }
    let gate = Arc::new(Gate::new(tokens));
    let calls: &'static Calls = Box::leak(Box::default());
    let reflection = Reflection::new()?;
    let (reporter, health) = tonic_health::server::health_reporter();
    let registries = Registries {
        gate: gate.clone(),
        calls,
        reflection: reflection.clone(),
        health: reporter.clone(),
        heartbeats: heartbeats.clone(),
    };
    let plugins = Plugins::start(plugins, registries, sockets, control_group).await?;
    let service = Service {
        devices,
        plugins,
        file: Arc::new(file),
    };
    let metrics = axum::Router::new()
        .route(access::METRICS, get(metrics::page))
        .with_state((service.devices.clone(), calls));
    tokio::spawn(revocation::follow(gate.clone(), service.file.to_path_buf(), address));
    let processes = Arc::new(Processes {
        plugins: service.plugins.clone(),
        laboratory: laboratory.as_deref().map(Laboratory::new),
    });
    for device in service.devices.iter() {
        let entry = format!("device/{}", device.name());
        tokio::spawn(report(entry, device.state(), reporter.clone()));
    }
    let calls_router = routes(service, health)
        .into_axum_router()
        .merge(reflection.routes())
        .merge(metrics)
        .fallback_service(any(forward).with_state(processes))
        .layer(from_fn_with_state(gate.clone(), access::admit));
    let page = page::routes(Page {
        gate,
        files: Arc::new(page.map_or(Files::Embedded, Files::Folder)),
        calls: calls_router.clone(),
        secure: tls.is_some(),
        laboratory: laboratory.is_some(),
    });
    let router = calls_router
        .layer(from_fn(body::mark))
        .layer(from_fn(page::web::translate))
        .merge(page)
        .layer(from_fn_with_state(calls, metrics::count))
        .layer(from_fn(traces::call));
    // Whoever reads the line below may already end the hub.
    let end_request = end_request();
    println!("listening on {address}");
    tokio::spawn(life::notify(heartbeats, address));
    tokio::spawn(
        inner
            .add_routes(router.clone().into())
            .serve_with_incoming(UnixListenerStream::new(inner_listener)),
    );
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let serving = serving::serve(connections::accept(listener), tls, router, async { drop(ended.await) });
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => return Ok(()),
        () = end_request => drop(end),
    }
    // Streams of watching clients never end by themselves.
    let _ = tokio::time::timeout(GRACE, serving).await;
    Ok(())
}

/// A server without routes.
fn server() -> Server {
    Server::builder()
        .max_concurrent_streams(STREAMS_MAX)
        .max_frame_size(FRAME_MAX)
        .http2_keepalive_interval(Some(PING))
}

/// Starts serving the devices of hub.toml. `state`: folder of their journals.
fn start_devices(devices: Vec<DeviceSettings>, boards: Vec<BoardSettings>, state: &Path) -> Result<All, String> {
    let boards: Vec<_> = boards
        .into_iter()
        .map(|board| {
            let journal = Journal::open(state, &board.name);
            Device::start_board(board, journal)
        })
        .collect::<Result<_, _>>()
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    let devices = devices.into_iter().map(|device| {
        let journal = Journal::open(state, &device.name);
        Device::start(device, journal)
    });
    Ok(Arc::new(devices.chain(boards).collect()))
}

fn routes(service: Service, health: HealthServer<impl Health>) -> Routes {
    let registers = RegistersServer::new(service.clone()).max_decoding_message_size(REQUEST_MAX);
    Routes::new(health)
        .add_service(ChannelsServer::new(service.clone()))
        .add_service(DevicesServer::new(service.clone()))
        .add_service(ClocksServer::new(service.clone()))
        .add_service(MonitorServer::new(service.clone()))
        .add_service(WaveformsServer::new(service.clone()))
        .add_service(BusesServer::new(service.clone()).max_decoding_message_size(REQUEST_MAX))
        .add_service(MemoryServer::new(service.clone()).max_decoding_message_size(REQUEST_MAX))
        .add_service(PluginsServer::new(service))
        .add_service(registers)
}

/// Handles SIGTERM and SIGINT from now on; what is returned ends with the first of them. If signals cannot be handled,
/// they end the process by default.
fn end_request() -> impl Future<Output = ()> {
    use tokio::signal::unix::{signal, SignalKind};
    let handled = [SignalKind::terminate(), SignalKind::interrupt()].map(signal);
    async move {
        let [Ok(mut terminate), Ok(mut interrupt)] = handled else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}

/// Keeps a device's entries in the health service up to date: the device and each subsystem that is
/// present.
async fn report(name: String, mut state: tokio::sync::watch::Receiver<State>, reporter: HealthReporter) {
    let mut known: Vec<String> = Vec::new();
    loop {
        let now = state.borrow_and_update().clone();
        let (status, subsystems) = match now {
            State::Online(_, subsystems) => (ServingStatus::Serving, subsystems),
            State::Offline(_) => (ServingStatus::NotServing, Arc::default()),
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
