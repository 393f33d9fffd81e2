//! Implementation of the services in `proto/`.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kairos_proto::batch::Outcome;
use tokio::sync::broadcast::error::RecvError;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status};

use crate::device::{All, Device};
use crate::job::State;
use crate::logs::Logs;
use crate::names;
use crate::plugins::host::{Plugins, ReloadError};
use crate::plugins::settings::Layer;
use crate::program;
use crate::registers::Register;
use crate::settings::Settings;
use crate::v1::channels_server::Channels;
use crate::v1::devices_server::Devices;
use crate::v1::monitor_server::Monitor;
use crate::v1::registers_server::Registers;
use crate::v1::{
    self, HealthRequest, HealthResponse, ListChannelsRequest, ListChannelsResponse, ListDevicesRequest,
    ListDevicesResponse, ListPluginsRequest, ListPluginsResponse, ListRegistersRequest, ListRegistersResponse,
    LogRequest, LogResponse, ReadRequest, ReadResponse, ReloadPluginRequest, ReloadPluginResponse, RunRequest,
    RunResponse, WatchRequest, WatchResponse, WriteRequest, WriteResponse,
};

/// Minimum period of a watch.
const PERIOD_MIN: Duration = Duration::from_millis(10);

/// State shared by all services.
#[derive(Clone)]
pub struct Service {
    pub devices: All,
    pub plugins: Plugins,
    /// Path of hub.toml.
    pub file: Arc<PathBuf>,
}

impl Service {
    pub fn device(&self, name: &str) -> Result<&Device, Status> {
        find(&self.devices, name)
    }
}

pub fn find<'a>(devices: &'a [Device], name: &str) -> Result<&'a Device, Status> {
    let found = devices.iter().find(|device| device.name() == name);
    found.ok_or_else(|| names::unknown("device", name, devices.iter().map(Device::name)))
}

#[tonic::async_trait]
impl Devices for Service {
    async fn list(&self, _: Request<ListDevicesRequest>) -> Result<Response<ListDevicesResponse>, Status> {
        let devices = self.devices.iter().map(|device| {
            let (gateware, error) = match &*device.state().borrow() {
                State::Online(gateware, _) => (gateware.identification.clone(), String::new()),
                State::Offline(why) => (String::new(), why.clone()),
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
impl Channels for Service {
    async fn list(&self, request: Request<ListChannelsRequest>) -> Result<Response<ListChannelsResponse>, Status> {
        let gateware = self.device(&request.into_inner().device)?.gateware()?;
        let channels = gateware.channels().iter().map(|channel| v1::Channel {
            name: channel.name.clone(),
            number: channel.number,
            kind: channel.kind_name(),
            parameters: channel.parameters.clone().into_iter().collect(),
        });
        Ok(Response::new(ListChannelsResponse {
            channels: channels.collect(),
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
            return Err(Status::permission_denied(format!("{name} {}", register.only())));
        }
        register.takes(&name, value)?;
        let done = device.run(program::write(register, value)).await?;
        match done.ending.outcome {
            Outcome::Done => Ok(Response::new(WriteResponse {})),
            _ => Err(Status::aborted(format!("{name}: {}", done.ending))),
        }
    }

    async fn run(&self, request: Request<RunRequest>) -> Result<Response<RunResponse>, Status> {
        let RunRequest { device, steps } = request.into_inner();
        let device = self.device(&device)?;
        let mut program = program::compile(&steps, &*device.gateware()?)?;
        let done = device.run(std::mem::take(&mut program.bytes)).await?;
        Ok(Response::new(program.response(done)))
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
        let devices = self.devices.clone();
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

#[tonic::async_trait]
impl Monitor for Service {
    async fn health(&self, request: Request<HealthRequest>) -> Result<Response<HealthResponse>, Status> {
        let subsystems = self.device(&request.into_inner().device)?.health().await?;
        Ok(Response::new(HealthResponse {
            subsystems: subsystems.iter().map(v1::Subsystem::from).collect(),
        }))
    }

    type LogStream = Pin<Box<dyn Stream<Item = Result<LogResponse, Status>> + Send>>;

    async fn log(&self, request: Request<LogRequest>) -> Result<Response<Self::LogStream>, Status> {
        let LogRequest { device, follow } = request.into_inner();
        let device = self.device(&device)?;
        if follow {
            device.gateware()?;
            let (kept, lines) = device.logs()?.follow();
            return Ok(Response::new(Box::pin(stored(kept).chain(messages(lines)))));
        }
        let text = device.log().await?;
        let kept = device.logs().map_or_else(|_| Vec::new(), Logs::kept);
        let lines: Vec<_> = text.lines().map(Arc::from).collect();
        Ok(Response::new(Box::pin(stored(kept).chain(stored(lines)))))
    }
}

fn stored(lines: Vec<Arc<str>>) -> impl Stream<Item = Result<LogResponse, Status>> + Send {
    tokio_stream::iter(lines.into_iter().map(|line| Ok(LogResponse { line: line.to_string() })))
}

/// Converts log lines to messages. A client that does not keep up gets a line with the number of
/// lines it has missed.
fn messages(
    mut lines: tokio::sync::broadcast::Receiver<Arc<str>>,
) -> impl Stream<Item = Result<LogResponse, Status>> + Send {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let line = tokio::select! {
                line = lines.recv() => line,
                () = sender.closed() => return,
            };
            let line = match line {
                Ok(line) => line.to_string(),
                Err(RecvError::Lagged(count)) => format!("[hub] {count} lines were lost: this client does not keep up"),
                Err(RecvError::Closed) => return,
            };
            if sender.send(Ok(LogResponse { line })).await.is_err() {
                return;
            }
        }
    });
    tokio_stream::wrappers::ReceiverStream::new(receiver)
}

#[tonic::async_trait]
impl v1::plugins_server::Plugins for Service {
    async fn list(&self, _: Request<ListPluginsRequest>) -> Result<Response<ListPluginsResponse>, Status> {
        let plugins = self.plugins.all().into_iter().map(|plugin| {
            let (facts, running) = (plugin.facts(), plugin.channel());
            v1::Plugin {
                name: plugin.name().into(),
                layer: match plugin.layer() {
                    Layer::Access => v1::Layer::Access,
                    Layer::Control => v1::Layer::Control,
                }
                .into(),
                services: plugin.protocol().services().into_iter().map(String::from).collect(),
                running: running.is_ok(),
                error: running.err().unwrap_or_default(),
                starts: facts.starts,
                pid: facts.pid,
                memory: facts.memory,
            }
        });
        Ok(Response::new(ListPluginsResponse {
            plugins: plugins.collect(),
        }))
    }

    async fn reload(&self, request: Request<ReloadPluginRequest>) -> Result<Response<ReloadPluginResponse>, Status> {
        let name = request.into_inner().name;
        // The listening address is irrelevant here.
        let settings = Settings::load(&self.file, Some((Ipv4Addr::LOCALHOST, 0).into()));
        let settings = settings.map_err(Status::failed_precondition)?;
        let known: Vec<String> = settings.plugins.iter().map(|plugin| plugin.name.clone()).collect();
        match self.plugins.reload(&name, settings.plugins).await {
            Ok(()) => {}
            Err(ReloadError::Refused(text)) => return Err(Status::failed_precondition(text)),
            Err(ReloadError::Unknown) => {
                return Err(names::unknown("plugin", &name, known.iter().map(String::as_str)));
            }
        }
        Ok(Response::new(ReloadPluginResponse {}))
    }
}

/// Looks up registers, which must all be readable.
fn readable(device: &Device, names: &[String]) -> Result<Vec<Register>, Status> {
    let gateware = device.gateware()?;
    let found = names.iter().map(|name| {
        let register = program::find(&gateware, name)?;
        match register.permission.read {
            true => Ok(*register),
            false => Err(Status::permission_denied(format!("{name} {}", register.only()))),
        }
    });
    found.collect()
}

/// Reads registers in one batch.
async fn values(device: &Device, names: &[String]) -> Result<Vec<u64>, Status> {
    let registers = readable(device, names)?;
    let done = device.run(program::read(&registers)).await?;
    let mut words = done.results.into_iter();
    let values = registers
        .iter()
        .map_while(|register| program::value(register, &mut words));
    Ok(values.collect())
}
