//! Signs of life, which the watchdog wants before it is fed ([`crate::watchdog`]).

use kairos_health::heartbeat::Sign;

/// Whoever waits for the kernel core's messages, while somebody does.
pub static SUPERVISION: Sign = Sign::new(false);
/// The network, each time it is run.
pub static NETWORK: Sign = Sign::new(true);
