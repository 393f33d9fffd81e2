//! A device from the hub's point of view: requests run one after the other, for a core device on a
//! connection that is re-established automatically, for a computer with Linux on a thread.

use std::sync::Arc;
use std::time::Duration;

use kairos_proto::batch::{Ending, Outcome};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{interval, MissedTickBehavior};
use tonic::Status;
use tracing::Instrument;

use kairos_endpoint::{i2c, spi};

use crate::board::{self, settings::BoardSettings};
use crate::health::{self, Subsystem};
use crate::job::{Answer, Done, Job, State};
use crate::journal::{self, Journal};
use crate::life::Heartbeat;
use crate::logs::Logs;
use crate::management::{Client, Error};
use crate::program;
use crate::registers::Gateware;
use crate::settings::DeviceSettings;
use crate::traces::TARGET;
use crate::waveforms::record::Record;

/// Pause between attempts to connect.
const PAUSE: Duration = Duration::from_secs(1);
/// Interval of health checks while there are no requests.
const CHECK: Duration = Duration::from_secs(5);
/// Maximum number of queued requests.
const QUEUE: usize = 64;

/// The devices in hub.toml.
pub type All = Arc<Vec<Device>>;

/// A device. Requests fail immediately while it is unavailable.
pub struct Device {
    name: String,
    kind: Kind,
    state: watch::Receiver<State>,
    jobs: mpsc::Sender<Job>,
    heartbeat: Arc<Heartbeat>,
}

/// What only one kind of device has.
pub enum Kind {
    /// A core device: its address, its log for following it, the record of its analyzer.
    Core {
        address: String,
        logs: Logs,
        record: Arc<Record>,
    },
    /// The computer with Linux on which the hub runs: the hardware found.
    Linux(board::Found),
}

impl Device {
    /// Starts a task that keeps the device connected.
    pub fn start(settings: DeviceSettings, journal: Journal) -> Self {
        let (sender, state) = watch::channel(State::Offline("it has not been queried yet".into()));
        let (jobs, queue) = mpsc::channel(QUEUE);
        let heartbeat = Arc::new(Heartbeat::default());
        let supervisor = Supervisor {
            settings: settings.clone(),
            state: sender,
            queue,
            journal,
            heartbeat: heartbeat.clone(),
        };
        tokio::spawn(supervisor.run());
        Self {
            name: settings.name.clone(),
            kind: Kind::Core {
                address: settings.address.clone(),
                record: Arc::new(Record::new(settings.analyzer.clone())),
                logs: Logs::new(settings, state.clone()),
            },
            state,
            jobs,
            heartbeat,
        }
    }

    /// Starts a thread that looks for the hardware of a computer with Linux and serves it.
    pub fn start_board(settings: BoardSettings, journal: Journal) -> std::io::Result<Self> {
        let (sender, state) = watch::channel(State::Offline("it has not been queried yet".into()));
        let (hardware, found) = watch::channel(None);
        let (jobs, queue) = mpsc::channel(QUEUE);
        let heartbeat = Arc::new(Heartbeat::default());
        let name = settings.name.clone();
        let supervisor = board::Supervisor {
            settings,
            state: sender,
            found: hardware,
            queue,
            journal,
            heartbeat: heartbeat.clone(),
        };
        let runtime = tokio::runtime::Handle::current();
        std::thread::Builder::new()
            .name(name.clone())
            .spawn(move || supervisor.run(&runtime))?;
        Ok(Self {
            name,
            kind: Kind::Linux(found),
            state,
            jobs,
            heartbeat,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Address of a core device; empty for a computer with Linux, which is the hub's own.
    pub fn address(&self) -> &str {
        match &self.kind {
            Kind::Core { address, .. } => address,
            Kind::Linux(_) => "",
        }
    }

    /// The log of a core device, for following it.
    pub fn logs(&self) -> Result<&Logs, Status> {
        match &self.kind {
            Kind::Core { logs, .. } => Ok(logs),
            Kind::Linux(_) => Err(Status::unimplemented(format!("{}: {}", self.name, board::NO_LOG))),
        }
    }

    /// The record of a core device's analyzer.
    pub fn record(&self) -> Result<&Arc<Record>, Status> {
        match &self.kind {
            Kind::Core { record, .. } => Ok(record),
            Kind::Linux(_) => Err(Status::unimplemented(format!(
                "{} is a Linux computer, which has no analyzer",
                self.name
            ))),
        }
    }

    /// The hardware of a computer with Linux; UNAVAILABLE while parts of it are missing.
    pub fn hardware(&self) -> Result<Arc<board::hardware::Hardware>, Status> {
        let Kind::Linux(found) = &self.kind else {
            return Err(Status::unimplemented(format!(
                "{} is a core device: only Linux computers support this",
                self.name
            )));
        };
        let hardware = found.borrow().clone();
        match hardware {
            Some(hardware) => Ok(hardware),
            None => Err(self
                .gateware()
                .err()
                .unwrap_or_else(|| Status::unavailable(format!("{} is starting", self.name)))),
        }
    }

    /// An I2C transfer with a chip; returns the bytes read.
    pub async fn i2c(&self, bus: String, address: u8, parts: Vec<i2c::Part>) -> Result<Vec<u8>, Status> {
        self.ask(|answer| Job::I2c(bus, address, parts, answer)).await
    }

    /// An SPI transfer with a chip; returns as many bytes as were sent.
    pub async fn spi(&self, bus: String, settings: spi::Settings, bytes: Vec<u8>) -> Result<Vec<u8>, Status> {
        self.ask(|answer| Job::Spi(bus, settings, bytes, answer)).await
    }

    /// Liveness of the task that serves the device.
    pub fn heartbeat(&self) -> Arc<Heartbeat> {
        self.heartbeat.clone()
    }

    /// The state of the device, with updates.
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.clone()
    }

    /// The gateware; UNAVAILABLE while the device is unavailable.
    pub fn gateware(&self) -> Result<Arc<Gateware>, Status> {
        match &*self.state.borrow() {
            State::Online(gateware, _) => Ok(gateware.clone()),
            State::Offline(why) => Err(unavailable(&self.name, self.address(), why)),
        }
    }

    /// Queries the state of the subsystems.
    pub async fn health(&self) -> Result<Arc<Vec<Subsystem>>, Status> {
        self.ask(Job::Health).await
    }

    /// Queries the buffered log.
    pub async fn log(&self) -> Result<String, Status> {
        self.ask(Job::Log).await
    }

    /// Queries the value of a configuration key of a core device.
    pub async fn setting(&self, key: &'static str) -> Result<Option<String>, Status> {
        self.ask(|answer| Job::Setting(key, answer)).await
    }

    /// Executes a batch. Returns an error if nothing of it was executed.
    pub async fn run(&self, program: Vec<u8>) -> Result<Done, Status> {
        // OpenTelemetry has no unsigned numbers; they would become strings.
        let instructions = (program.len() / kairos_contracts::batch::INSTRUCTION) as i64;
        let span = tracing::info_span!(target: TARGET, "batch", device = self.name, instructions);
        let reply = self.ask(|answer| Job::Batch(program, answer)).instrument(span).await?;
        let (ending, words) = Ending::from_reply(&reply)
            .ok_or_else(|| Status::internal(format!("{}: invalid reply to a batch", self.name)))?;
        match ending.outcome {
            Outcome::Malformed
            | Outcome::NotExported
            | Outcome::NotPermitted
            | Outcome::TooLong
            | Outcome::NoGateware => Err(program::refusal(&ending)),
            _ => Ok(Done {
                ending,
                results: words.iter().map(|word| u32::from_le_bytes(*word)).collect(),
            }),
        }
    }

    async fn ask<T>(&self, job: impl FnOnce(Answer<T>) -> Job) -> Result<T, Status> {
        self.gateware()?;
        let (answer, reply) = oneshot::channel();
        let gone = || Status::internal("the hub no longer serves this device");
        self.jobs.send(job(answer)).await.map_err(|_| gone())?;
        reply.await.map_err(|_| gone())?
    }
}

fn unavailable(name: &str, address: &str, why: &str) -> Status {
    Status::unavailable(match address {
        "" => format!("{name} does not answer: {why}"),
        _ => format!("{name} at {address} does not answer: {why}"),
    })
}

/// The task that serves a device.
struct Supervisor {
    settings: DeviceSettings,
    state: watch::Sender<State>,
    queue: mpsc::Receiver<Job>,
    journal: Journal,
    heartbeat: Arc<Heartbeat>,
}

impl Supervisor {
    /// Connects, serves requests until the connection is lost, and repeats until the hub ends.
    async fn run(mut self) {
        let mut before = String::new();
        loop {
            self.heartbeat.beat();
            let why = match connect(&self.settings).await {
                Ok((mut client, gateware, mut subsystems)) => {
                    subsystems.extend(self.journal.subsystem());
                    let name = &self.settings.name;
                    tracing::info!(device = name, gateware = gateware.identification, "connected");
                    health::publish_changes(name, &[], &subsystems);
                    self.state
                        .send_replace(State::Online(Arc::new(gateware), Arc::new(subsystems)));
                    match self.serve(&mut client).await {
                        Some(error) => error.to_string(),
                        None => return,
                    }
                }
                Err(error) => error.to_string(),
            };
            // Repeated failures for the same reason are logged once.
            if why != before {
                let (device, address) = (&self.settings.name, &self.settings.address);
                tracing::warn!(device, address, "it does not answer: {why}");
                before.clone_from(&why);
            }
            self.state.send_replace(State::Offline(why));
            let pause = tokio::time::sleep(PAUSE);
            tokio::pin!(pause);
            // Queued requests were not sent and fail.
            loop {
                tokio::select! {
                    () = &mut pause => break,
                    job = self.queue.recv() => match job {
                        Some(job) => job.fail(self.unavailable(&format!("{before}; nothing was sent to it"))),
                        None => return,
                    },
                }
            }
        }
    }

    /// Serves requests until the connection is lost and returns the error; `None` if the hub ends.
    async fn serve(&mut self, client: &mut Client) -> Option<Error> {
        let mut checks = interval(CHECK);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        checks.reset();
        loop {
            self.heartbeat.beat();
            let job = tokio::select! {
                job = self.queue.recv() => Some(job?),
                _ = checks.tick() => None,
                error = client.closed() => return Some(error),
            };
            let lost = match job {
                Some(Job::Batch(program, answer)) => match self.batch(client, &program).await {
                    Err(error @ Error::Lost(_)) => {
                        let lost = match journal::changes(&program) {
                            true => Status::aborted(format!(
                                "the device was lost during a batch: {error}; it is unknown how much of it was executed"
                            )),
                            false => self.unavailable(&format!("{error}; nothing was changed")),
                        };
                        drop(answer.send(Err(lost)));
                        Some(error)
                    }
                    result => {
                        drop(answer.send(result.map_err(|why| Status::invalid_argument(why.to_string()))));
                        None
                    }
                },
                Some(Job::Health(answer)) => self.reply(answer, self.check_health(client).await),
                Some(Job::Log(answer)) => self.reply(answer, client.log().await),
                Some(Job::Setting(key, answer)) => self.reply(answer, client.setting(key).await),
                Some(job @ (Job::I2c(..) | Job::Spi(..))) => {
                    job.fail(Status::unimplemented(
                        "buses of a core device are accessible only to kernels and batches",
                    ));
                    None
                }
                None => self.check_health(client).await.err(),
            };
            if lost.is_some() {
                return lost;
            }
        }
    }

    async fn batch(&self, client: &mut Client, program: &[u8]) -> Result<Vec<u8>, Error> {
        let open_batch = self.journal.begin(program);
        let reply = client.batch(program).await;
        match reply {
            Err(Error::Lost(_)) => open_batch.lose(&self.settings.name),
            _ => open_batch.end(),
        }
        reply
    }

    fn unavailable(&self, why: &str) -> Status {
        unavailable(&self.settings.name, &self.settings.address, why)
    }

    /// Sends the answer; returns the error by which the connection was lost.
    fn reply<T>(&self, answer: Answer<T>, result: Result<T, Error>) -> Option<Error> {
        // The receiver may be gone.
        match result {
            Ok(value) => {
                drop(answer.send(Ok(value)));
                None
            }
            Err(error) => {
                drop(answer.send(Err(self.unavailable(&error.to_string()))));
                Some(error)
            }
        }
    }

    /// Queries the state of the subsystems and publishes it if it changed.
    async fn check_health(&self, client: &mut Client) -> Result<Arc<Vec<Subsystem>>, Error> {
        let mut found = client.health().await?;
        found.extend(self.journal.subsystem());
        let found = Arc::new(found);
        let mut before = Arc::default();
        self.state.send_if_modified(|state| {
            let State::Online(_, subsystems) = state else {
                return false;
            };
            before = std::mem::replace(subsystems, found.clone());
            before != *subsystems
        });
        health::publish_changes(&self.settings.name, &before, &found);
        Ok(found)
    }
}

async fn connect(settings: &DeviceSettings) -> Result<(Client, Gateware, Vec<Subsystem>), Error> {
    let mut client = Client::connect(&settings.address, settings.key.as_deref()).await?;
    let descriptor = client.descriptor().await?;
    let gateware = Gateware::read(&descriptor).map_err(|error| Error::Refused(error.to_string()))?;
    let subsystems = client.health().await?;
    Ok((client, gateware, subsystems))
}
