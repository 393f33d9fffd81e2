//! Why a client or another board is no longer served: one type for all services, which report the
//! same event in the same words.

use core::fmt;

use kairos_chip::reset::Mark;
use kairos_proto::ProtocolError;
use log::Level;

use crate::kernel_core::Failure;
use crate::wire::Lost;

/// Why a connection or stream is no longer served.
pub enum CloseReason {
    /// The other side has closed it.
    Closed,
    /// The other side has closed it in the middle of a request.
    CutOff,
    /// It was reset or timed out.
    Lost,
    Protocol(ProtocolError),
    /// A request was not completed in time, as the service has reported.
    Late,
    Refused(Refusal),
    /// A newer client is served in its place.
    Superseded,
    /// The kernel core cannot continue.
    Kernel(Failure),
    /// The RTIO clock was lost while a kernel ran. The host has been told.
    ClockLost,
    /// The client has requested a restart.
    Restart(Mark),
}

/// Why a client is not permitted to do what it requests.
#[derive(Clone, Copy)]
pub enum Refusal {
    KeyRequired,
    KeyUnusable,
    NoChallenge,
    WrongKey,
    /// It did not authenticate in time.
    Unauthenticated,
}

impl CloseReason {
    /// Logs it after the name of the service, unless it is an ordinary end, or reported already.
    pub fn log(&self, service: &str) {
        let level = match self {
            Self::Closed | Self::Lost | Self::Late | Self::Restart(_) => return,
            Self::Superseded => Level::Info,
            _ => Level::Warn,
        };
        log::log!(level, "{service}: {self}");
    }
}

impl Refusal {
    fn text(self) -> &'static str {
        match self {
            Self::KeyRequired => "this device requires its key first",
            Self::KeyUnusable => "the key of this device is unusable",
            Self::NoChallenge => "a proof without a challenge",
            Self::WrongKey => "it has a different key",
            Self::Unauthenticated => "it did not authenticate in time",
        }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "closed by the client",
            Self::CutOff => "malformed input, it ends in the middle of a request",
            Self::Lost => "connection lost",
            Self::Protocol(error) => return write!(f, "malformed input, {error}"),
            Self::Late => "a request was not completed in time",
            Self::Refused(refusal) => return write!(f, "client refused: {}", refusal.text()),
            Self::Superseded => "another client has taken over",
            Self::Kernel(failure) => return failure.fmt(f),
            Self::ClockLost => "its kernel has no RTIO clock",
            Self::Restart(_) => "restart requested",
        })
    }
}

impl From<Lost> for CloseReason {
    fn from(Lost: Lost) -> Self {
        Self::Lost
    }
}

impl From<Failure> for CloseReason {
    fn from(failure: Failure) -> Self {
        Self::Kernel(failure)
    }
}

impl From<ProtocolError> for CloseReason {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(error)
    }
}
