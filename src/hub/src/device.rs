//! A device as the hub has it: requests made one after the other, of a core device on a connection
//! that comes back by itself, of a computer with Linux by a thread.

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
use crate::life::Pulse;
use crate::logs::Logs;
use crate::management::{Client, Error};
use crate::program;
use crate::registers::Gateware;
use crate::settings::DeviceSettings;
use crate::traces::TARGET;
use crate::waveforms::record::Record;

/// Between attempts to connect.
const PAUSE: Duration = Duration::from_secs(1);
/// Between two looks at the health of a device that nobody asks for.
const LOOK: Duration = Duration::from_secs(5);
/// Requests that may wait for the device.
const QUEUE: usize = 64;

/// A device. What is asked of it while it is away fails at once.
pub struct Device {
    name: String,
    /// Of a core device.
    address: String,
    state: watch::Receiver<State>,
    jobs: mpsc::Sender<Job>,
    /// Of a core device.
    logs: Option<Logs>,
    /// Of a core device.
    record: Option<Arc<Record>>,
    /// Of a computer with Linux.
    found: Option<board::Found>,
    pulse: Arc<Pulse>,
}

impl Device {
    /// Begins to connect, for ever.
    pub fn start(settings: DeviceSettings, journal: Journal) -> Self {
        let (tell, state) = watch::channel(State::Away("it has not been queried yet".into()));
        let (jobs, queue) = mpsc::channel(QUEUE);
        let pulse = Arc::new(Pulse::default());
        let attendant = Attendant {
            settings: settings.clone(),
            state: tell,
            queue,
            journal,
            pulse: pulse.clone(),
        };
        tokio::spawn(attendant.run());
        Self {
            name: settings.name.clone(),
            address: settings.address.clone(),
            record: Some(Arc::new(Record::new(settings.analyzer.clone()))),
            logs: Some(Logs::new(settings, state.clone())),
            found: None,
            state,
            jobs,
            pulse,
        }
    }

    /// Begins to look for what a computer with Linux has, for ever.
    pub fn start_board(settings: BoardSettings, journal: Journal) -> std::io::Result<Self> {
        let (tell, state) = watch::channel(State::Away("it has not been queried yet".into()));
        let (tell_found, found) = watch::channel(None);
        let (jobs, queue) = mpsc::channel(QUEUE);
        let pulse = Arc::new(Pulse::default());
        let name = settings.name.clone();
        let attendant = board::Attendant {
            settings,
            state: tell,
            found: tell_found,
            queue,
            journal,
            pulse: pulse.clone(),
        };
        let runtime = tokio::runtime::Handle::current();
        std::thread::Builder::new()
            .name(name.clone())
            .spawn(move || attendant.run(&runtime))?;
        Ok(Self {
            name,
            address: String::new(),
            logs: None,
            record: None,
            found: Some(found),
            state,
            jobs,
            pulse,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where a core device is; empty for a computer with Linux, which is that of the hub.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The log of a core device, to be followed.
    pub fn logs(&self) -> Result<&Logs, Status> {
        let none = || Status::unimplemented(format!("{}: {}", self.name, board::NO_LOG));
        self.logs.as_ref().ok_or_else(none)
    }

    /// What a core device has recorded.
    pub fn record(&self) -> Result<&Arc<Record>, Status> {
        let none = || Status::unimplemented(format!("{} is a Linux computer, which has no analyzer", self.name));
        self.record.as_ref().ok_or_else(none)
    }

    /// What a computer with Linux has; UNAVAILABLE while something of it is missing.
    pub fn hardware(&self) -> Result<Arc<board::hardware::Hardware>, Status> {
        let found = self.found.as_ref().ok_or_else(|| {
            Status::unimplemented(format!(
                "{} is a core device: only Linux computers support this",
                self.name
            ))
        })?;
        let hardware = found.borrow().clone();
        match hardware {
            Some(hardware) => Ok(hardware),
            None => Err(self
                .gateware()
                .err()
                .unwrap_or_else(|| Status::unavailable(format!("{} is starting", self.name)))),
        }
    }

    /// A transfer with a chip; the bytes that were read.
    pub async fn i2c(&self, bus: String, address: u8, parts: Vec<i2c::Part>) -> Result<Vec<u8>, Status> {
        self.ask(|answer| Job::I2c(bus, address, parts, answer)).await
    }

    /// A transfer with a chip; as many bytes as were sent.
    pub async fn spi(&self, bus: String, settings: spi::Settings, bytes: Vec<u8>) -> Result<Vec<u8>, Status> {
        self.ask(|answer| Job::Spi(bus, settings, bytes, answer)).await
    }

    /// Of the task that attends to it.
    pub fn pulse(&self) -> Arc<Pulse> {
        self.pulse.clone()
    }

    /// How it is, now and from now on.
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.clone()
    }

    /// Its gateware; UNAVAILABLE while it is away.
    pub fn gateware(&self) -> Result<Arc<Gateware>, Status> {
        match &*self.state.borrow() {
            State::Here(gateware, _) => Ok(gateware.clone()),
            State::Away(why) => Err(unavailable(&self.name, &self.address, why)),
        }
    }

    /// How its subsystems are, asked now.
    pub async fn health(&self) -> Result<Arc<Vec<Subsystem>>, Status> {
        self.ask(Job::Health).await
    }

    /// What it has kept of its log.
    pub async fn log(&self) -> Result<String, Status> {
        self.ask(Job::Log).await
    }

    /// The value of a key of the configuration of a core device.
    pub async fn setting(&self, key: &'static str) -> Result<Option<String>, Status> {
        self.ask(|answer| Job::Setting(key, answer)).await
    }

    /// Executes a batch. It is an error if nothing of it was executed.
    pub async fn run(&self, program: Vec<u8>) -> Result<Done, Status> {
        // OpenTelemetry has no unsigned numbers: those become texts.
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

/// The task of a device.
struct Attendant {
    settings: DeviceSettings,
    state: watch::Sender<State>,
    queue: mpsc::Receiver<Job>,
    journal: Journal,
    pulse: Arc<Pulse>,
}

impl Attendant {
    /// Connects, serves requests until the connection is lost, and so on, until the hub ends.
    async fn run(mut self) {
        let mut before = String::new();
        loop {
            self.pulse.beat();
            let why = match connect(&self.settings).await {
                Ok((mut client, gateware, mut subsystems)) => {
                    subsystems.extend(self.journal.subsystem());
                    let name = &self.settings.name;
                    tracing::info!(device = name, gateware = gateware.identification, "connected");
                    health::tell_changes(name, &[], &subsystems);
                    self.state
                        .send_replace(State::Here(Arc::new(gateware), Arc::new(subsystems)));
                    match self.serve(&mut client).await {
                        Some(error) => error.to_string(),
                        None => return,
                    }
                }
                Err(error) => error.to_string(),
            };
            // A device that stays away is told of once.
            if why != before {
                let (device, address) = (&self.settings.name, &self.settings.address);
                tracing::warn!(device, address, "it does not answer: {why}");
                before.clone_from(&why);
            }
            self.state.send_replace(State::Away(why));
            let pause = tokio::time::sleep(PAUSE);
            tokio::pin!(pause);
            // What has waited meanwhile was not sent.
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

    /// Until the connection is lost: why. `None` if nobody can ask any more.
    async fn serve(&mut self, client: &mut Client) -> Option<Error> {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        look.reset();
        loop {
            self.pulse.beat();
            let job = tokio::select! {
                job = self.queue.recv() => Some(job?),
                _ = look.tick() => None,
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
                Some(Job::Health(answer)) => self.tell(answer, self.look(client).await),
                Some(Job::Log(answer)) => self.tell(answer, client.log().await),
                Some(Job::Setting(key, answer)) => self.tell(answer, client.setting(key).await),
                Some(job @ (Job::I2c(..) | Job::Spi(..))) => {
                    job.fail(Status::unimplemented(
                        "buses of a core device are accessible only to kernels and batches",
                    ));
                    None
                }
                None => self.look(client).await.err(),
            };
            if lost.is_some() {
                return lost;
            }
        }
    }

    async fn batch(&self, client: &mut Client, program: &[u8]) -> Result<Vec<u8>, Error> {
        let under_way = self.journal.begin(program);
        let reply = client.batch(program).await;
        match reply {
            Err(Error::Lost(_)) => under_way.lose(&self.settings.name),
            _ => under_way.end(),
        }
        reply
    }

    fn unavailable(&self, why: &str) -> Status {
        unavailable(&self.settings.name, &self.settings.address, why)
    }

    /// Answers; the error with which the connection was lost.
    fn tell<T>(&self, answer: Answer<T>, result: Result<T, Error>) -> Option<Error> {
        // Who asked may be gone.
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

    /// How the device's subsystems are; whoever follows its state knows too.
    async fn look(&self, client: &mut Client) -> Result<Arc<Vec<Subsystem>>, Error> {
        let mut found = client.health().await?;
        found.extend(self.journal.subsystem());
        let found = Arc::new(found);
        let mut before = Arc::default();
        self.state.send_if_modified(|state| {
            let State::Here(_, subsystems) = state else {
                return false;
            };
            before = std::mem::replace(subsystems, found.clone());
            before != *subsystems
        });
        health::tell_changes(&self.settings.name, &before, &found);
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
