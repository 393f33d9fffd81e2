//! The server: the services of [`crate::service`], health of each device and its subsystems,
//! reflection of the protocol, and metrics, all at one address.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, get};
use tempfile::TempDir;
use tokio::net::{TcpListener, UnixListener};
use tokio_stream::wrappers::UnixListenerStream;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic_health::server::HealthReporter;
use tonic_health::ServingStatus;

use crate::access::{self, Gate};
use crate::board::settings::BoardSettings;
use crate::connections;
use crate::device::Device;
use crate::health::Condition;
use crate::job::State;
use crate::journal::Journal;
use crate::laboratory::Laboratory;
use crate::life;
use crate::metrics::{self, Calls};
use crate::page::files::Files;
use crate::page::{self, Page};
use crate::plugins::forward::{forward, Processes};
use crate::plugins::limits::Groups;
use crate::plugins::process::{self, HubAccess, Plugin};
use crate::plugins::settings::PluginSettings;
use crate::plugins::Plugins;
use crate::service::{All, Service};
use crate::serving::{self, FRAME_MAX, PING, STREAMS_MAX};
use crate::settings::{DeviceSettings, Settings};
use crate::traces;
use crate::v1;
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
    let mut gate = Gate {
        tokens,
        ..Gate::default()
    };
    let sockets = Sockets::new().map_err(|error| format!("cannot create a folder for sockets: {error}"))?;
    let devices = start_devices(devices, boards, &state)?;
    let groups = match plugins.is_empty() {
        true => Groups::default(),
        false => Groups::take(Path::new("/"), control_group.as_deref())?,
    };
    let plugins = Plugins::new(
        plugins
            .into_iter()
            .map(|plugin| sockets.start(plugin, &mut gate, &groups))
            .collect(),
    );
    gate.methods = plugins.methods();
    let heartbeats = devices
        .iter()
        .map(|device| (device.name().to_string(), device.heartbeat()))
        .chain(
            plugins
                .iter()
                .map(|plugin| (plugin.name().to_string(), plugin.heartbeat())),
        )
        .collect();
    let service = Service {
        devices,
        plugins,
        file: Arc::new(file),
    };
    let calls: &'static Calls = Box::leak(Box::new(Calls::new(gate.methods.keys())));
    let metrics = axum::Router::new()
        .route(access::METRICS, get(metrics::page))
        .with_state((service.devices.clone(), calls));
    let processes = Arc::new(Processes {
        plugins: service.plugins.clone(),
        laboratory: laboratory.as_deref().map(Laboratory::new),
    });
    let gate = Arc::new(gate);
    let calls_router = routes(service)?
        .into_axum_router()
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
        .layer(from_fn(page::web::translate))
        .merge(page)
        .layer(from_fn_with_state(calls, metrics::count))
        .layer(from_fn(traces::call));
    println!("listening on {address}");
    tokio::spawn(life::notify(heartbeats, address));
    tokio::spawn(
        inner
            .add_routes(router.clone().into())
            .serve_with_incoming(UnixListenerStream::new(sockets.listener)),
    );
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let serving = serving::serve(connections::accept(listener), tls, router, async { drop(ended.await) });
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => return Ok(()),
        () = asked_to_end() => drop(end),
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

/// Sockets between plugins and the hub, in a folder accessible to this user only, which is deleted
/// when the hub ends, or else by the next hub: it is locked as long as its hub runs.
struct Sockets {
    folder: TempDir,
    _lock: std::fs::File,
    hub: PathBuf,
    listener: UnixListener,
}

impl Sockets {
    const PREFIX: &str = "kairos-hub-";
    const LOCK: &str = ".lock";

    fn new() -> std::io::Result<Self> {
        Self::delete_abandoned();
        let (folder, lock) = Self::locked_folder()?;
        let hub = folder.path().join("hub.socket");
        let listener = UnixListener::bind(&hub)?;
        Ok(Self {
            folder,
            _lock: lock,
            hub,
            listener,
        })
    }

    /// A new folder and its lock. Another hub may take it for an abandoned one and delete it before
    /// it is locked: then it is created again.
    fn locked_folder() -> std::io::Result<(TempDir, std::fs::File)> {
        loop {
            let prefix = format!("{}{}-", Self::PREFIX, std::process::id());
            let folder = tempfile::Builder::new().prefix(&prefix).tempdir()?;
            let path = folder.path().join(Self::LOCK);
            let lock = std::fs::File::create(&path)?;
            lock.lock()?;
            if path.exists() {
                return Ok((folder, lock));
            }
        }
    }

    /// Deletes the folders of hubs that were killed.
    fn delete_abandoned() {
        let entries = std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(Self::PREFIX)) {
            // That of another user cannot be opened.
            let lock = std::fs::File::options().write(true).open(entry.path().join(Self::LOCK));
            let abandoned = match &lock {
                Ok(lock) => lock.try_lock().is_ok(),
                Err(error) => error.kind() == ErrorKind::NotFound && Self::has_dead_creator(&entry.file_name()),
            };
            if abandoned {
                // Another hub may delete it at the same time.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Whether the process that would have locked a folder, whose number is part of its name, has ended.
    fn has_dead_creator(name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        let number = name[Self::PREFIX.len()..]
            .split_once('-')
            .map_or("", |(number, _)| number);
        number
            .parse::<u32>()
            .is_ok_and(|number| !Path::new(&format!("/proc/{number}")).exists())
    }

    fn start(&self, settings: PluginSettings, gate: &mut Gate, groups: &Groups) -> Plugin {
        let hub = match secret() {
            Ok(token) => {
                gate.add_plugin(&settings.name, &token);
                let address = format!("unix:{}", self.hub.display());
                Some(HubAccess { address, token })
            }
            Err(error) => {
                tracing::error!(
                    plugin = settings.name,
                    "cannot provide a token, so it cannot make calls: {error}"
                );
                None
            }
        };
        Plugin::start(settings, self.folder.path(), hub, groups.clone())
    }
}

/// A random token.
fn secret() -> std::io::Result<String> {
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn routes(service: Service) -> Result<Routes, String> {
    let (reporter, health) = tonic_health::server::health_reporter();
    for plugin in service.plugins.iter() {
        let entry = format!("plugin/{}", plugin.name());
        tokio::spawn(report_plugin(entry, plugin.state(), reporter.clone()));
    }
    for device in service.devices.iter() {
        tokio::spawn(report(
            format!("device/{}", device.name()),
            device.state(),
            reporter.clone(),
        ));
    }
    // Clients in use request either version of the reflection service.
    let reflection = || {
        let ours = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(v1::FILES)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET);
        service.plugins.iter().fold(ours, |builder, plugin| {
            builder.register_encoded_file_descriptor_set(&plugin.protocol().files)
        })
    };
    let reflections = (reflection().build_v1(), reflection().build_v1alpha());
    let (Ok(reflection), Ok(reflection_alpha)) = reflections else {
        return Err("the protocol description is invalid".into());
    };
    let registers = RegistersServer::new(service.clone()).max_decoding_message_size(REQUEST_MAX);
    Ok(Routes::new(health)
        .add_service(reflection)
        .add_service(reflection_alpha)
        .add_service(ChannelsServer::new(service.clone()))
        .add_service(DevicesServer::new(service.clone()))
        .add_service(ClocksServer::new(service.clone()))
        .add_service(MonitorServer::new(service.clone()))
        .add_service(WaveformsServer::new(service.clone()))
        .add_service(BusesServer::new(service.clone()).max_decoding_message_size(REQUEST_MAX))
        .add_service(MemoryServer::new(service.clone()).max_decoding_message_size(REQUEST_MAX))
        .add_service(PluginsServer::new(service))
        .add_service(registers))
}

async fn asked_to_end() {
    use tokio::signal::unix::{signal, SignalKind};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    // If signals cannot be handled, they end the process by default.
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

/// Keeps a plugin's entry in the health service up to date.
async fn report_plugin(
    name: String,
    mut state: tokio::sync::watch::Receiver<process::State>,
    reporter: HealthReporter,
) {
    loop {
        let status = match *state.borrow_and_update() {
            process::State::Running(_) => ServingStatus::Serving,
            process::State::Down(_) => ServingStatus::NotServing,
        };
        reporter.set_service_status(&name, status).await;
        if state.changed().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_whose_creator_runs_or_is_unknown_is_kept() {
        let of = |name: &str| Sockets::has_dead_creator(OsStr::new(name));
        assert!(!of(&format!("kairos-hub-{}-abcdef", std::process::id())));
        assert!(!of("kairos-hub-abcdef"));
        assert!(!of("kairos-hub-"));
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        assert!(of(&format!("kairos-hub-{}-abcdef", ended.id())));
    }
}
