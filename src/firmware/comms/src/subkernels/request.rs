//! Requests of the kernel core that concern other boards.

use embassy_time::{Duration, Instant};
use kairos_intercore::{Frame, Kind};
use kairos_proto::intercore::{SubkernelRun, SubkernelSend, SubkernelWait};

use crate::kernel_core::{Failure, KernelCore};

/// A message to another board.
pub struct Message {
    pub number: u32,
    pub destination: u8,
    /// Destination of the board whose stream carries it.
    pub via: u8,
    pub is_result: bool,
    pub count: u8,
    /// Length of the values, in bytes.
    pub length: u32,
}

/// A request of the kernel core.
pub enum Request {
    Run {
        number: u32,
        destination: u8,
        run: bool,
        cursor: i64,
    },
    Await {
        number: u32,
        deadline: Option<Instant>,
    },
    Send(Message),
    Receive {
        number: u32,
        deadline: Option<Instant>,
    },
}

impl Request {
    /// Reads the frame of a request; `None` if it is of another kind.
    pub fn read(kernel: &mut KernelCore, frame: &Frame) -> Result<Option<Self>, Failure> {
        let after = |milliseconds: i64| {
            let milliseconds = u64::try_from(milliseconds).unwrap_or(0).min(u64::from(u32::MAX));
            Some(Instant::now() + Duration::from_millis(milliseconds))
        };
        Ok(Some(match frame.kind {
            Kind::SubkernelRun => {
                let SubkernelRun {
                    number,
                    destination,
                    run,
                    cursor,
                } = kernel.record()?;
                Self::Run {
                    number,
                    destination,
                    run,
                    cursor,
                }
            }
            Kind::SubkernelAwait => {
                let SubkernelWait { number, milliseconds } = kernel.record()?;
                let deadline = (milliseconds > 0).then(|| after(milliseconds)).flatten();
                Self::Await { number, deadline }
            }
            Kind::SubkernelSend => {
                let SubkernelSend {
                    number,
                    destination,
                    is_result,
                    count,
                    length,
                } = kernel.record()?;
                Self::Send(Message {
                    number,
                    destination,
                    via: destination,
                    is_result,
                    count,
                    length,
                })
            }
            Kind::SubkernelReceive => {
                let SubkernelWait { number, milliseconds } = kernel.record()?;
                let deadline = (milliseconds >= 0).then(|| after(milliseconds)).flatten();
                Self::Receive { number, deadline }
            }
            _ => return Ok(None),
        }))
    }
}
