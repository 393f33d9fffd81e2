//! The meaning of the kernel core's frames while a kernel runs: the same for kernels of a session,
//! kernels without a host and subkernels, which differ in what they do about it.

use kairos_intercore::{Frame, Kind};

use crate::kernel_core::{Failure, KernelCore};
use crate::link::Question;
use crate::subkernels::Request;
use crate::traces::TraceRequest;

/// The meaning of a frame. Its payload is unread, except for that of a request.
pub enum KernelEvent {
    /// Output, for [`KernelCore::log`].
    Log,
    /// A call of a function of the host; more frames may follow.
    Rpc { is_async: bool },
    /// The kernel has returned.
    Finished,
    /// The kernel has ended with an exception; more frames may follow.
    Exception,
    /// A request that concerns other boards, to be answered.
    Board(BoardRequest),
    /// A message that a running kernel cannot send.
    Unexpected(Failure),
}

/// A kernel's request that concerns other boards.
pub enum BoardRequest {
    Subkernel(Request),
    Trace(TraceRequest),
    /// I2C on a card.
    Bus(Question),
}

impl KernelEvent {
    /// Interprets a frame.
    pub fn read(kernel: &mut KernelCore, frame: &Frame) -> Result<Self, Failure> {
        Ok(match frame.kind {
            Kind::Log => Self::Log,
            Kind::RpcSync => Self::Rpc { is_async: false },
            Kind::RpcAsync => Self::Rpc { is_async: true },
            Kind::Finished => Self::Finished,
            Kind::Exception => Self::Exception,
            kind => match BoardRequest::read(kernel, frame)? {
                Some(request) => Self::Board(request),
                None => Self::Unexpected(Failure::Unexpected(kind)),
            },
        })
    }
}

impl BoardRequest {
    fn read(kernel: &mut KernelCore, frame: &Frame) -> Result<Option<Self>, Failure> {
        if let Some(request) = TraceRequest::read(kernel, frame)? {
            return Ok(Some(Self::Trace(request)));
        }
        if frame.kind == Kind::BusTransfer {
            return Ok(Some(Self::Bus(Question::of_bus(&kernel.record()?))));
        }
        Ok(Request::read(kernel, frame)?.map(Self::Subkernel))
    }
}
