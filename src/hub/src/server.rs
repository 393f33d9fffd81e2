//! The gRPC server: devices and registers, health of each device, and the protocol itself by reflection.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::net::TcpListener;
use tokio_stream::{Stream, StreamExt};
use tonic::service::Routes;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status};
use tonic_health::server::HealthReporter;
use tonic_health::ServingStatus;

use crate::access;
use crate::device::{Device, State};
use crate::program;
use crate::registers::Register;
use crate::settings::Settings;
use crate::v1::devices_server::{Devices, DevicesServer};
use crate::v1::registers_server::{Registers, RegistersServer};
use crate::v1::{
    self, ListDevicesRequest, ListDevicesResponse, ListRegistersRequest, ListRegistersResponse, ReadRequest,
    ReadResponse, RunRequest, RunResponse, WatchRequest, WatchResponse, WriteRequest, WriteResponse,
};

/// Shortest time between two readings of a watch.
const PERIOD_MIN: Duration = Duration::from_millis(10);

type All = Arc<Vec<Device>>;

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
        .max_concurrent_streams(STREAMS_MAX)
        .http2_keepalive_interval(Some(PING));
    if let Some(tls) = tls {
        let identity = Identity::from_pem(tls.certificate, tls.key);
        server = server
            .tls_config(ServerTlsConfig::new().identity(identity))
            .map_err(|error| format!("[tls]: no PEM certificate with its key: {}", root(&error)))?;
    }
    let router = routes(devices)?
        .into_axum_router()
        .layer(axum::middleware::from_fn_with_state(Arc::new(tokens), access::admit));
    println!("listening on {address}");
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
    let registers = RegistersServer::new(Service(devices.clone())).max_decoding_message_size(REQUEST_MAX);
    Ok(Routes::new(health)
        .add_service(reflection)
        .add_service(reflection_alpha)
        .add_service(DevicesServer::new(Service(devices)))
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

/// Keeps a device's entry in the health service.
async fn report(name: String, mut state: tokio::sync::watch::Receiver<State>, reporter: HealthReporter) {
    loop {
        let status = match &*state.borrow_and_update() {
            State::Here(_) => ServingStatus::Serving,
            State::Away(_) => ServingStatus::NotServing,
        };
        reporter.set_service_status(&name, status).await;
        if state.changed().await.is_err() {
            return;
        }
    }
}

struct Service(All);

impl Service {
    fn device(&self, name: &str) -> Result<&Device, Status> {
        find(&self.0, name)
    }
}

fn find<'a>(devices: &'a [Device], name: &str) -> Result<&'a Device, Status> {
    let found = devices.iter().find(|device| device.name() == name);
    found.ok_or_else(|| {
        let known: Vec<_> = devices.iter().map(Device::name).collect();
        Status::not_found(format!(
            "there is no device '{name}'; this hub has {}",
            known.join(", ")
        ))
    })
}

#[tonic::async_trait]
impl Devices for Service {
    async fn list(&self, _: Request<ListDevicesRequest>) -> Result<Response<ListDevicesResponse>, Status> {
        let devices = self.0.iter().map(|device| {
            let (gateware, error) = match &*device.state().borrow() {
                State::Here(gateware) => (gateware.identification.clone(), String::new()),
                State::Away(why) => (String::new(), why.clone()),
            };
            v1::Device {
                name: device.name().into(),
                address: device.address().into(),
                connected: error.is_empty(),
                gateware,
                error,
            }
        });
        Ok(Response::new(ListDevicesResponse {
            devices: devices.collect(),
        }))
    }
}

#[tonic::async_trait]
impl Registers for Service {
    async fn list(&self, request: Request<ListRegistersRequest>) -> Result<Response<ListRegistersResponse>, Status> {
        let gateware = self.device(&request.into_inner().device)?.gateware()?;
        let registers = gateware.registers().map(|(name, register)| v1::Register {
            name: name.into(),
            width: register.width.into(),
            readable: register.permission.read,
            writable: register.permission.write,
        });
        Ok(Response::new(ListRegistersResponse {
            registers: registers.collect(),
        }))
    }

    async fn read(&self, request: Request<ReadRequest>) -> Result<Response<ReadResponse>, Status> {
        let ReadRequest { device, registers } = request.into_inner();
        let values = values(self.device(&device)?, &registers).await?;
        Ok(Response::new(ReadResponse { values }))
    }

    async fn write(&self, request: Request<WriteRequest>) -> Result<Response<WriteResponse>, Status> {
        let WriteRequest {
            device,
            register: name,
            value,
        } = request.into_inner();
        let device = self.device(&device)?;
        let gateware = device.gateware()?;
        let register = program::find(&gateware, &name)?;
        if !register.permission.write {
            return Err(Status::permission_denied(format!(
                "{name} cannot be written, or is the firmware's own"
            )));
        }
        if register.width < 64 && value >> register.width != 0 {
            return Err(Status::invalid_argument(format!(
                "{value} does not fit into the {} bits of {name}",
                register.width
            )));
        }
        device.run(program::write(register, value)).await?;
        Ok(Response::new(WriteResponse {}))
    }

    async fn run(&self, request: Request<RunRequest>) -> Result<Response<RunResponse>, Status> {
        let RunRequest { device, steps } = request.into_inner();
        let device = self.device(&device)?;
        let program = program::compile(&steps, &*device.gateware()?)?;
        let done = device.run(program).await?;
        let complete = done.ending.outcome == kairos_proto::batch::Outcome::Done;
        Ok(Response::new(RunResponse {
            results: done.results,
            steps: done.ending.steps,
            done: complete,
            error: if complete {
                String::new()
            } else {
                done.ending.to_string()
            },
        }))
    }

    type WatchStream = Pin<Box<dyn Stream<Item = Result<WatchResponse, Status>> + Send>>;

    async fn watch(&self, request: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let WatchRequest {
            device: name,
            registers,
            period_ms,
        } = request.into_inner();
        readable(self.device(&name)?, &registers)?;
        let period = match period_ms {
            0 => Duration::from_secs(1),
            ms => Duration::from_millis(ms.into()).max(PERIOD_MIN),
        };
        let devices = self.0.clone();
        let ticks = tokio_stream::wrappers::IntervalStream::new(tokio::time::interval(period));
        let readings = ticks.then(move |_| {
            let (devices, name, registers) = (devices.clone(), name.clone(), registers.clone());
            async move {
                let values = values(find(&devices, &name)?, &registers).await?;
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Ok(WatchResponse {
                    values,
                    time: since.as_secs_f64(),
                })
            }
        });
        Ok(Response::new(Box::pin(readings)))
    }
}

/// The registers of those names, which may all be read.
fn readable(device: &Device, names: &[String]) -> Result<Vec<Register>, Status> {
    let gateware = device.gateware()?;
    let found = names.iter().map(|name| {
        let register = program::find(&gateware, name)?;
        match register.permission.read {
            true => Ok(*register),
            false => Err(Status::permission_denied(format!(
                "{name} cannot be read, or its words are the firmware's"
            ))),
        }
    });
    found.collect()
}

/// The values of registers, read in one batch.
async fn values(device: &Device, names: &[String]) -> Result<Vec<u64>, Status> {
    let registers = readable(device, names)?;
    let done = device.run(program::read(&registers)).await?;
    let mut words = done.results.into_iter();
    let values = registers
        .iter()
        .map_while(|register| program::value(register, &mut words));
    Ok(values.collect())
}
