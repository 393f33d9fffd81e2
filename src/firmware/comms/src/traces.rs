//! Requests of the kernel core about DMA traces with parts on other boards
//! (`docs/gateware/link-messages.md`).

use heapless::Vec;
use kairos_intercore::{Frame, Kind};
use kairos_proto::intercore::{Trace, TracePart, TracePlay};

use crate::kernel_core::{Failure, KernelCore};
use crate::link::BOARDS;

/// A part of a trace, in the kernel core's memory.
pub struct Part {
    pub destination: u8,
    pub address: usize,
    pub bytes: usize,
}

/// A request of the kernel core.
pub enum TraceRequest {
    Keep {
        number: u32,
        parts: Vec<Part, BOARDS>,
    },
    /// `boards` has a bit for each destination.
    Play {
        number: u32,
        boards: u32,
        time: i64,
    },
    Erase {
        number: u32,
    },
}

impl TraceRequest {
    /// Reads the frame of a request; `None` if it is of another kind.
    pub fn read(kernel: &mut KernelCore, frame: &Frame) -> Result<Option<Self>, Failure> {
        Ok(Some(match frame.kind {
            Kind::TraceKeep => {
                let Trace { number } = kernel.record()?;
                let mut parts = Vec::new();
                while kernel.remaining() > 0 {
                    let TracePart {
                        destination,
                        address,
                        bytes,
                    } = kernel.record()?;
                    let part = Part {
                        destination: destination as u8,
                        address: address as usize,
                        bytes: bytes as usize,
                    };
                    // Cannot fail: there are no more boards.
                    let _ = parts.push(part);
                }
                Self::Keep { number, parts }
            }
            Kind::TracePlay => {
                let TracePlay { number, boards, time } = kernel.record()?;
                Self::Play { number, boards, time }
            }
            Kind::TraceErase => {
                let Trace { number } = kernel.record()?;
                Self::Erase { number }
            }
            _ => return Ok(None),
        }))
    }
}
