//! Requests of the kernel core that concern other boards.

use embassy_time::{Duration, Instant};
use kairos_intercore::{Frame, Kind};
use kairos_proto::bytes::{long, words};

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
        cursor: [u8; 8],
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
        let kinds = [
            Kind::SubkernelRun,
            Kind::SubkernelAwait,
            Kind::SubkernelSend,
            Kind::SubkernelReceive,
        ];
        if !kinds.contains(&frame.kind) {
            return Ok(None);
        }
        let mut bytes = [0; 16];
        let length = if frame.kind == Kind::SubkernelSend { 12 } else { 16 };
        if kernel.read(&mut bytes[..length])? != length {
            return Err(Failure::Corrupt);
        }
        let [number, _, low, high] = words(&bytes);
        let milliseconds = long(low, high);
        let after = |milliseconds: i64| {
            let milliseconds = u64::try_from(milliseconds).unwrap_or(0).min(u64::from(u32::MAX));
            Some(Instant::now() + Duration::from_millis(milliseconds))
        };
        Ok(Some(match frame.kind {
            Kind::SubkernelRun => Self::Run {
                number,
                destination: bytes[4],
                run: bytes[5] != 0,
                cursor: [
                    bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15],
                ],
            },
            Kind::SubkernelAwait => Self::Await {
                number,
                deadline: (milliseconds > 0).then(|| after(milliseconds)).flatten(),
            },
            Kind::SubkernelSend => Self::Send(Message {
                number,
                destination: bytes[4],
                via: bytes[4],
                is_result: bytes[5] != 0,
                count: bytes[6],
                length: low,
            }),
            _ => Self::Receive {
                number,
                deadline: (milliseconds >= 0).then(|| after(milliseconds)).flatten(),
            },
        }))
    }
}
