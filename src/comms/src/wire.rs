//! What bytes come and go over, whoever serves them: a connection of TCP on a board with a network,
//! a stream of the link on others.

use embassy_time::Duration;

/// A connection of TCP, or a stream of the link.
#[allow(async_fn_in_trait, reason = "one executor, whose tasks never move between threads")]
pub trait Wire {
    /// Some bytes; 0 at the end.
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Lost>;
    async fn write_all(&mut self, bytes: &[u8]) -> Result<(), Lost>;
}

/// The other end is gone.
pub struct Lost;

/// Time that a client has to send, or to take, so many bytes: 10 s, and as long as they take at 64 KiB/s.
pub fn patience(bytes: usize) -> Duration {
    Duration::from_secs(10 + bytes as u64 / (64 * 1024))
}
