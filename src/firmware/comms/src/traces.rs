//! Requests of the kernel core about DMA traces with parts on other boards
//! (`docs/gateware/link-messages.md`).

use heapless::Vec;
use kairos_intercore::{Frame, Kind};

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
        time: [u8; 8],
    },
    Erase {
        number: u32,
    },
}

impl TraceRequest {
    /// Reads the frame of a request; `None` if it is of another kind.
    pub fn read(kernel: &mut KernelCore, frame: &Frame) -> Result<Option<Self>, Failure> {
        if !matches!(frame.kind, Kind::TraceKeep | Kind::TracePlay | Kind::TraceErase) {
            return Ok(None);
        }
        let number = word(kernel)?;
        Ok(Some(match frame.kind {
            Kind::TraceKeep => {
                let mut parts = Vec::new();
                while kernel.remaining() > 0 {
                    let (destination, address, bytes) = (word(kernel)?, word(kernel)?, word(kernel)?);
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
                let boards = word(kernel)?;
                let mut time = [0; 8];
                if kernel.read(&mut time)? != time.len() {
                    return Err(Failure::Corrupt);
                }
                Self::Play { number, boards, time }
            }
            _ => Self::Erase { number },
        }))
    }
}

fn word(kernel: &mut KernelCore) -> Result<u32, Failure> {
    let mut bytes = [0; 4];
    match kernel.read(&mut bytes)? {
        4 => Ok(u32::from_le_bytes(bytes)),
        _ => Err(Failure::Corrupt),
    }
}
