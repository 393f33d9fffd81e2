//! The first bytes of a connection. A client that is silent or wrong costs nobody else anything.

use core::fmt;

use embassy_time::{with_timeout, Duration};
use kairos_net::Socket;
use kairos_proto::session::{GREETING, GREETING_ANSWER};

const TIMEOUT: Duration = Duration::from_secs(3);

/// Why a client is not served.
pub enum Refusal {
    Silent,
    Gone,
    Wrong,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Silent => "it sent no greeting within 3 s",
            Refusal::Gone => "it left before its greeting was complete",
            Refusal::Wrong => "its greeting is not that of a kernel session",
        })
    }
}

/// Reads the client's greeting and answers it. Nothing is sent to a client with a wrong one.
pub async fn exchange(socket: &mut Socket) -> Result<(), Refusal> {
    let mut greeting = [0; GREETING.len()];
    match with_timeout(TIMEOUT, socket.read_exact(&mut greeting)).await {
        Ok(Ok(true)) if greeting == *GREETING => {}
        Ok(Ok(true)) => return Err(Refusal::Wrong),
        Ok(Ok(false) | Err(_)) => return Err(Refusal::Gone),
        Err(_) => return Err(Refusal::Silent),
    }
    socket.write_all(&[GREETING_ANSWER]).await.map_err(|_| Refusal::Gone)
}
