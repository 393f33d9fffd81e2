//! How a device is, and what is asked of it: what passes between who offers it to clients and the
//! task that attends to it.

use std::sync::Arc;

use kairos_endpoint::{i2c, spi};
use kairos_proto::batch::Ending;
use tokio::sync::oneshot;
use tonic::Status;

use crate::health::Subsystem;
use crate::registers::Gateware;

/// How a device is.
#[derive(Clone, Debug)]
pub enum State {
    /// It does not answer: why.
    Away(String),
    /// It answers, and has this gateware; its subsystems are like this.
    Here(Arc<Gateware>, Arc<Vec<Subsystem>>),
}

/// How a batch ended, and its results.
pub struct Done {
    pub ending: Ending,
    pub results: Vec<u32>,
}

/// What is asked of a device, and where the answer goes.
pub enum Job {
    Batch(Vec<u8>, Answer<Vec<u8>>),
    Health(Answer<Arc<Vec<Subsystem>>>),
    Log(Answer<String>),
    /// The value of a key of its configuration.
    Setting(&'static str, Answer<Option<String>>),
    /// With a chip on a bus, by the bus's name and the chip's address.
    I2c(String, u8, Vec<i2c::Part>, Answer<Vec<u8>>),
    Spi(String, spi::Settings, Vec<u8>, Answer<Vec<u8>>),
}

/// Where an answer goes.
pub type Answer<T> = oneshot::Sender<Result<T, Status>>;

impl Job {
    /// Tells whoever asked why there is no answer.
    pub fn fail(self, status: Status) {
        // Who asked may be gone.
        match self {
            Job::Batch(_, answer) | Job::I2c(.., answer) | Job::Spi(.., answer) => drop(answer.send(Err(status))),
            Job::Health(answer) => drop(answer.send(Err(status))),
            Job::Log(answer) => drop(answer.send(Err(status))),
            Job::Setting(_, answer) => drop(answer.send(Err(status))),
        }
    }
}
