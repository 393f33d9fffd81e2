//! A core device as the hub has it: a connection that comes back by itself, and requests made one after the other on it.

use std::sync::Arc;
use std::time::Duration;

use kairos_proto::batch::{Ending, Outcome};
use tokio::sync::{mpsc, oneshot, watch};
use tonic::Status;

use crate::management::{Client, Error};
use crate::program;
use crate::registers::Gateware;
use crate::settings::DeviceSettings;

/// Between attempts to connect.
const PAUSE: Duration = Duration::from_secs(1);
/// Requests that may wait for the device.
const QUEUE: usize = 64;

/// How a device is.
#[derive(Clone, Debug)]
pub enum State {
    /// It does not answer: why.
    Away(String),
    /// It answers, and has this gateware.
    Here(Arc<Gateware>),
}

/// How a batch ended, and its results.
pub struct Done {
    pub ending: Ending,
    pub results: Vec<u32>,
}

struct Job {
    program: Vec<u8>,
    answer: oneshot::Sender<Result<Vec<u8>, Status>>,
}

/// A device. What is asked of it while it is away fails at once.
pub struct Device {
    settings: DeviceSettings,
    state: watch::Receiver<State>,
    jobs: mpsc::Sender<Job>,
}

impl Device {
    /// Begins to connect, for ever.
    pub fn start(settings: DeviceSettings) -> Self {
        let (tell, state) = watch::channel(State::Away("it has not been asked yet".into()));
        let (jobs, queue) = mpsc::channel(QUEUE);
        tokio::spawn(attend(settings.clone(), tell, queue));
        Self { settings, state, jobs }
    }

    pub fn name(&self) -> &str {
        &self.settings.name
    }

    pub fn address(&self) -> &str {
        &self.settings.address
    }

    /// How it is, now and from now on.
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.clone()
    }

    /// Its gateware; UNAVAILABLE while it is away.
    pub fn gateware(&self) -> Result<Arc<Gateware>, Status> {
        match &*self.state.borrow() {
            State::Here(gateware) => Ok(gateware.clone()),
            State::Away(why) => Err(unavailable(&self.settings, why)),
        }
    }

    /// Executes a batch. An outcome that is none of done and timeout is an error: nothing was executed.
    pub async fn run(&self, program: Vec<u8>) -> Result<Done, Status> {
        self.gateware()?;
        let (answer, reply) = oneshot::channel();
        let gone = |_| Status::internal("the hub no longer attends to this device");
        self.jobs.send(Job { program, answer }).await.map_err(|_| gone(()))?;
        let reply = reply.await.map_err(|_| gone(()))??;
        let (ending, words) = Ending::from_reply(&reply)
            .ok_or_else(|| Status::internal(format!("{}: the reply to a batch is none", self.settings.name)))?;
        match ending.outcome {
            Outcome::Done | Outcome::Timeout => Ok(Done {
                ending,
                results: words.iter().map(|word| u32::from_le_bytes(*word)).collect(),
            }),
            _ => Err(program::refusal(&ending)),
        }
    }
}

fn unavailable(settings: &DeviceSettings, why: &str) -> Status {
    Status::unavailable(format!(
        "{} at {} does not answer: {why}",
        settings.name, settings.address
    ))
}

/// Connects, serves requests until the connection is lost, and so on, until the hub ends.
async fn attend(settings: DeviceSettings, tell: watch::Sender<State>, mut queue: mpsc::Receiver<Job>) {
    let mut before = String::new();
    loop {
        let why = match connect(&settings).await {
            Ok((mut client, gateware)) => {
                tracing::info!(device = settings.name, gateware = gateware.identification, "connected");
                tell.send_replace(State::Here(Arc::new(gateware)));
                match serve(&mut client, &mut queue).await {
                    Some(error) => error.to_string(),
                    None => return,
                }
            }
            Err(error) => error.to_string(),
        };
        // A device that stays away is told of once.
        if why != before {
            tracing::warn!(device = settings.name, "{why}");
            before.clone_from(&why);
        }
        tell.send_replace(State::Away(why));
        let pause = tokio::time::sleep(PAUSE);
        tokio::pin!(pause);
        // What has waited meanwhile was not sent.
        loop {
            tokio::select! {
                () = &mut pause => break,
                job = queue.recv() => match job {
                    Some(job) => {
                        let why = format!("{before}; nothing was sent to it");
                        drop(job.answer.send(Err(unavailable(&settings, &why))));
                    }
                    None => return,
                },
            }
        }
    }
}

async fn connect(settings: &DeviceSettings) -> Result<(Client, Gateware), Error> {
    let mut client = Client::connect(&settings.address, settings.key.as_deref()).await?;
    let descriptor = client.descriptor().await?;
    let gateware = Gateware::read(&descriptor).map_err(|error| Error::Refused(error.to_string()))?;
    Ok((client, gateware))
}

/// Until the connection is lost: why. `None` if nobody can ask any more.
async fn serve(client: &mut Client, queue: &mut mpsc::Receiver<Job>) -> Option<Error> {
    loop {
        let job = tokio::select! {
            job = queue.recv() => job?,
            error = client.closed() => return Some(error),
        };
        match client.batch(&job.program).await {
            Ok(reply) => drop(job.answer.send(Ok(reply))),
            Err(Error::Refused(why)) => drop(job.answer.send(Err(Status::invalid_argument(why)))),
            Err(error) => {
                let why = format!(
                    "the device was lost in the middle of a batch: {error}; what of it was executed is not known"
                );
                let _ = job.answer.send(Err(Status::aborted(why)));
                return Some(error);
            }
        }
    }
}
