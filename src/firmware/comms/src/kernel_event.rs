//! The meaning of the kernel core's frames while a kernel runs: the same for kernels of a session,
//! kernels without a host and subkernels, which differ in what they do about it.

use kairos_intercore::{Frame, Kind};

use crate::kernel_core::{Failure, KernelCore};
use crate::link::Question;
use crate::subkernels::Request;
use crate::traces::TraceRequest;

/// The meaning of a frame, by its kind: its payload is unread.
#[derive(Clone, Copy)]
pub enum KernelEvent {
    /// Output, for [`KernelCore::log`].
    Log,
    /// A call of a function of the host; more frames may follow.
    Rpc { is_async: bool },
    /// The kernel has returned.
    Finished,
    /// The kernel has ended with an exception; more frames may follow.
    Exception,
    /// A request that concerns other boards, for [`BoardRequest::read`]; anything else is a message
    /// that a running kernel cannot send.
    Board,
}

impl From<Kind> for KernelEvent {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Log => Self::Log,
            Kind::RpcSync => Self::Rpc { is_async: false },
            Kind::RpcAsync => Self::Rpc { is_async: true },
            Kind::Finished => Self::Finished,
            Kind::Exception => Self::Exception,
            _ => Self::Board,
        }
    }
}

/// A kernel's request that concerns other boards. It is large: not part of [`KernelEvent`], which
/// each call of the host moves.
pub enum BoardRequest {
    Subkernel(Request),
    Trace(TraceRequest),
    /// I2C on a card.
    Bus(Question),
}

impl BoardRequest {
    /// Reads the request from its frame.
    pub fn read(kernel: &mut KernelCore, frame: &Frame) -> Result<Self, Failure> {
        if let Some(request) = TraceRequest::read(kernel, frame)? {
            return Ok(Self::Trace(request));
        }
        if frame.kind == Kind::BusTransfer {
            return Ok(Self::Bus(Question::of_bus(&kernel.record()?)));
        }
        match Request::read(kernel, frame)? {
            Some(request) => Ok(Self::Subkernel(request)),
            None => Err(Failure::Unexpected(frame.kind)),
        }
    }
}
