//! State of a device and requests to it, exchanged between the services and the task of the device.

use std::sync::Arc;

use kairos_endpoint::{i2c, spi};
use kairos_proto::batch::Ending;
use tokio::sync::oneshot;
use tonic::Status;

use crate::health::Subsystem;
use crate::registers::Gateware;

/// State of a device.
#[derive(Clone, Debug)]
pub enum State {
    /// The device does not answer, for this reason.
    Offline(String),
    /// The device answers: its gateware and its subsystems.
    Online(Arc<Gateware>, Arc<Vec<Subsystem>>),
}

/// How a batch ended, and its results.
pub struct Done {
    pub ending: Ending,
    pub results: Vec<u32>,
}

/// A request to a device, with the channel for the answer.
pub enum Job {
    Batch(Vec<u8>, Answer<Vec<u8>>),
    Health(Answer<Arc<Vec<Subsystem>>>),
    Log(Answer<String>),
    /// Value of a key of the device's configuration.
    Setting(&'static str, Answer<Option<String>>),
    /// Transfer with a chip on a bus, by the name of the bus and the address of the chip.
    I2c(String, u8, Vec<i2c::Part>, Answer<Vec<u8>>),
    Spi(String, spi::Settings, Vec<u8>, Answer<Vec<u8>>),
}

/// The channel for an answer.
pub type Answer<T> = oneshot::Sender<Result<T, Status>>;

impl Job {
    /// Answers the request with an error.
    pub fn fail(self, status: Status) {
        // The receiver may be gone.
        match self {
            Job::Batch(_, answer) | Job::I2c(.., answer) | Job::Spi(.., answer) => drop(answer.send(Err(status))),
            Job::Health(answer) => drop(answer.send(Err(status))),
            Job::Log(answer) => drop(answer.send(Err(status))),
            Job::Setting(_, answer) => drop(answer.send(Err(status))),
        }
    }
}
