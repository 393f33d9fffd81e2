//! The gRPC server: devices and registers, health of each device, and the protocol itself by reflection.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, StreamExt};
use tonic::transport::Server;
use tonic::{Request, Response, Status};
use tonic_health::server::HealthReporter;
use tonic_health::ServingStatus;

use crate::device::{Device, State};
use crate::program;
use crate::registers::Register;
use crate::v1::devices_server::{Devices, DevicesServer};
use crate::v1::registers_server::{Registers, RegistersServer};
use crate::v1::{
    self, ListDevicesRequest, ListDevicesResponse, ListRegistersRequest, ListRegistersResponse, ReadRequest,
    ReadResponse, RunRequest, RunResponse, WatchRequest, WatchResponse, WriteRequest, WriteResponse,
};

/// Shortest time between two readings of a watch.
const PERIOD_MIN: Duration = Duration::from_millis(10);

type All = Arc<Vec<Device>>;

/// Serves until the process is asked to end. The first line on standard output says where.
pub async fn serve(address: SocketAddr, devices: All) -> Result<(), String> {
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| format!("the hub cannot listen at {address}: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
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
    println!("listening on {address}");
    Server::builder()
        .add_service(health)
        .add_service(reflection)
        .add_service(reflection_alpha)
        .add_service(DevicesServer::new(Service(devices.clone())))
        .add_service(RegistersServer::new(Service(devices)))
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), asked_to_end())
        .await
        .map_err(|error| error.to_string())
}

async fn asked_to_end() {
    // Where signals cannot be had the process ends by itself.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
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
