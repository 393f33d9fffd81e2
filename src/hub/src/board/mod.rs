//! A computer with Linux as a device of the hub: registers, buses and sensors, like those of core
//! devices.
//!
//! [`settings`] is its section of hub.toml, [`hardware`] its hardware, `service` the methods
//! specific to it, [`part`] streamed memory. This module contains the thread that serves it and
//! executes batches like a core device: same checks, same steps, same reply.

pub mod hardware;
pub mod part;
mod service;
pub mod settings;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kairos_batch::{Batch, Pause, Run};
use kairos_endpoint::buses::Kind;
use kairos_endpoint::{i2c, sensors, spi};
use kairos_proto::batch::{Ending, Outcome};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tonic::Status;

use crate::health::{self, Condition, Subsystem};
use crate::job::{Job, State};
use crate::journal::Journal;
use crate::life::Heartbeat;
use hardware::Hardware;
use settings::BoardSettings;

/// Pause between attempts to find missing hardware.
const PAUSE: Duration = Duration::from_secs(1);
/// Interval of health checks while there are no requests.
const CHECK: Duration = Duration::from_secs(5);
/// Shorter pauses are spent busy-waiting, because the kernel would wake the thread too late.
const SLEEP_MIN: Duration = Duration::from_micros(200);

/// Why a board has no log here.
pub const NO_LOG: &str = "a Linux computer keeps its own log: use 'journalctl -k' there";

/// The hardware of a board while it is available.
pub type Found = watch::Receiver<Option<Arc<Hardware>>>;

/// The thread of a board. It is separate because I2C accesses block for long.
pub struct Supervisor {
    pub settings: BoardSettings,
    pub state: watch::Sender<State>,
    pub found: watch::Sender<Option<Arc<Hardware>>>,
    pub queue: mpsc::Receiver<Job>,
    pub journal: Journal,
    pub heartbeat: Arc<Heartbeat>,
}

impl Supervisor {
    /// Serves requests until the hub ends.
    pub fn run(mut self, runtime: &Handle) {
        let mut before = String::new();
        loop {
            self.heartbeat.beat();
            let why = match Hardware::open(&self.settings) {
                Ok(hardware) => {
                    before.clear();
                    match self.serve(runtime, &Arc::new(hardware)) {
                        Some(why) => why,
                        None => return,
                    }
                }
                Err(why) => why,
            };
            if why != before {
                tracing::warn!(device = self.settings.name, "{why}");
                before.clone_from(&why);
            }
            self.found.send_replace(None);
            self.state.send_replace(State::Offline(why.clone()));
            let end = Instant::now() + PAUSE;
            while let Ok(job) = self.next(runtime, end.saturating_duration_since(Instant::now())) {
                match job {
                    Some(job) => job.fail(Status::unavailable(format!(
                        "{}: {why}; nothing was done",
                        self.settings.name
                    ))),
                    None => return,
                }
            }
        }
    }

    fn check_health(&self) -> Vec<Subsystem> {
        let mut subsystems = subsystems(&self.settings);
        subsystems.extend(self.journal.subsystem());
        subsystems
    }

    /// The next request; an error after the timeout, `None` if the hub ends.
    fn next(&mut self, runtime: &Handle, time_limit: Duration) -> Result<Option<Job>, tokio::time::error::Elapsed> {
        runtime.block_on(async { timeout(time_limit, self.queue.recv()).await })
    }

    /// Serves requests until some hardware disappears and returns the reason; `None` if the hub
    /// ends.
    fn serve(&mut self, runtime: &Handle, hardware: &Arc<Hardware>) -> Option<String> {
        let mut subsystems = Arc::new(self.check_health());
        tracing::info!(
            device = self.settings.name,
            computer = hardware.gateware.identification,
            "connected"
        );
        health::publish_changes(&self.settings.name, &[], &subsystems);
        self.found.send_replace(Some(hardware.clone()));
        let gateware = Arc::new(hardware.gateware.clone());
        self.state
            .send_replace(State::Online(gateware.clone(), subsystems.clone()));
        let mut checked = Instant::now();
        loop {
            self.heartbeat.beat();
            let job = match self.next(runtime, CHECK.saturating_sub(checked.elapsed())) {
                Ok(None) => return None,
                Ok(Some(job)) => Some(job),
                Err(_) => None,
            };
            if checked.elapsed() >= CHECK || matches!(job, Some(Job::Health(_))) {
                checked = Instant::now();
                let now = Arc::new(self.check_health());
                health::publish_changes(&self.settings.name, &subsystems, &now);
                if now != subsystems {
                    self.state.send_replace(State::Online(gateware.clone(), now.clone()));
                }
                subsystems = now;
                if let Some(path) = hardware.missing() {
                    let why = format!("{} has gone", path.display());
                    if let Some(job) = job {
                        job.fail(Status::unavailable(format!(
                            "{}: {why}; nothing was done",
                            self.settings.name
                        )));
                    }
                    return Some(why);
                }
            }
            // The receiver may be gone.
            match job {
                Some(Job::Batch(program, answer)) => {
                    let open_batch = self.journal.begin(&program);
                    let reply = execute(&program, hardware);
                    open_batch.end();
                    drop(answer.send(Ok(reply)));
                }
                Some(Job::Health(answer)) => drop(answer.send(Ok(subsystems.clone()))),
                Some(Job::I2c(bus, address, parts, answer)) => {
                    let path = hardware.bus(Kind::I2c, &bus).map_err(Status::not_found);
                    drop(answer.send(path.and_then(|path| {
                        let done = i2c::open(&path).and_then(|mut bus| i2c::transfer(&mut bus, address, &parts));
                        done.map_err(Status::aborted)
                    })));
                }
                Some(Job::Spi(bus, settings, bytes, answer)) => {
                    let path = hardware.bus(Kind::Spi, &bus).map_err(Status::not_found);
                    drop(answer.send(path.and_then(|path| {
                        let done = spi::open(&path, settings).and_then(|mut chip| spi::transfer(&mut chip, &bytes));
                        done.map_err(Status::aborted)
                    })));
                }
                Some(job @ Job::Log(_)) => job.fail(Status::unimplemented(NO_LOG)),
                Some(job @ Job::Setting(..)) => job.fail(Status::unimplemented("a Linux computer has no such key")),
                None => {}
            }
        }
    }
}

/// Executes a batch; returns a reply in the format of core devices.
pub fn execute(program: &[u8], hardware: &Hardware) -> Vec<u8> {
    let batch = match Batch::new(program, &hardware.gateware) {
        Ok(batch) => batch,
        Err(ending) => return ending.to_bytes().to_vec(),
    };
    let (mut run, mut registers, mut words) = (Run::new(batch), hardware.registers(), Vec::new());
    // The pending poll, identified by the number of steps before it, and its start time.
    let mut polling: Option<(u32, Instant)> = None;
    let ending: Ending = loop {
        match run.go(usize::MAX, &mut registers, |word| words.push(word)) {
            Pause::Long => {}
            Pause::Wait(us) => wait(Duration::from_micros(us.into())),
            Pause::Again(us) => {
                let (_, begun) = polling
                    .filter(|&(steps, _)| steps == run.steps())
                    .unwrap_or_else(|| (run.steps(), Instant::now()));
                polling = Some((run.steps(), begun));
                if begun.elapsed() >= Duration::from_micros(us.into()) {
                    break run.end(Outcome::Timeout);
                }
                std::hint::spin_loop();
            }
            // The check rejects programs that use a bus.
            Pause::Bus(_) => break run.end(Outcome::NotExported),
            Pause::Ended(ending) => break ending,
        }
    };
    let mut reply = ending.to_bytes().to_vec();
    reply.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    reply
}

fn wait(time: Duration) {
    let end = Instant::now() + time;
    if time >= SLEEP_MIN {
        std::thread::sleep(time - SLEEP_MIN / 2);
    }
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// The state of a board's subsystems.
fn subsystems(settings: &BoardSettings) -> Vec<Subsystem> {
    let readings = sensors::read(&settings.root);
    let complaints: Vec<_> = readings.iter().filter_map(sensors::Reading::complaint).collect();
    let sensors = Subsystem {
        name: "sensors".into(),
        condition: match (readings.is_empty(), complaints.is_empty()) {
            (true, _) => Condition::Absent,
            (_, true) => Condition::Good,
            (_, false) => Condition::Warning,
        },
        text: complaints.join("; "),
        values: readings
            .into_iter()
            .map(|reading| (reading.name, reading.value))
            .collect(),
    };
    vec![sensors, system(settings)]
}

/// The subsystem of the computer itself.
fn system(settings: &BoardSettings) -> Subsystem {
    let text = |name: &str| fs::read_to_string(settings.root.join("proc").join(name)).unwrap_or_default();
    let first = |name: &str| {
        text(name)
            .split_whitespace()
            .next()
            .and_then(|word| word.parse::<f64>().ok())
    };
    let memory = text("meminfo");
    let available = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let available = available.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
    let values = [
        ("uptime_seconds", first("uptime")),
        ("load", first("loadavg")),
        ("memory_available_bytes", available.map(|kilobytes| 1024.0 * kilobytes)),
    ];
    let values: BTreeMap<_, _> = values
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_string(), value?)))
        .collect();
    Subsystem {
        name: "system".into(),
        condition: if values.is_empty() {
            Condition::Absent
        } else {
            Condition::Good
        },
        text: String::new(),
        values,
    }
}

#[cfg(test)]
mod tests;
