//! The reasons for the end of a session, as text for the log.

use core::fmt;

use kairos_comms::kernel_core::Failure;
use kairos_proto::session::ProtocolError;

/// Why a session has ended.
pub enum End {
    /// The client has closed the connection.
    Closed,
    /// The client closed the connection in the middle of a request.
    CutOff,
    /// The connection was reset or timed out.
    Lost,
    Protocol(ProtocolError),
    /// An RPC reply, or its value, for which no kernel waits.
    Unsolicited,
    /// The RPC reply was longer than its type, by this many bytes.
    Surplus(u32),
    Kernel(Failure),
    /// The RTIO clock was lost. The host has been told.
    Clock,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Closed => write!(f, "closed by the client"),
            End::CutOff => write!(f, "malformed input, it ends in the middle of a request"),
            End::Lost => write!(f, "connection lost"),
            End::Protocol(error) => write!(f, "malformed input, {error}"),
            End::Unsolicited => write!(f, "malformed input, unsolicited RPC reply"),
            End::Surplus(bytes) => write!(f, "malformed input, RPC reply is {bytes} bytes too long"),
            End::Kernel(failure) => write!(f, "{failure}"),
            End::Clock => write!(f, "its kernel has no RTIO clock"),
        }
    }
}

impl From<Failure> for End {
    fn from(failure: Failure) -> Self {
        End::Kernel(failure)
    }
}

impl From<kairos_net::Error> for End {
    fn from(_: kairos_net::Error) -> Self {
        End::Lost
    }
}
