//! Byte connections to clients: TCP on a board with a network, a stream of the link on others.

use embassy_time::Duration;

/// A TCP connection, or a stream of the link.
#[allow(async_fn_in_trait, reason = "one executor, whose tasks never move between threads")]
pub trait Wire {
    /// Reads some bytes; returns 0 at the end.
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Lost>;
    async fn write_all(&mut self, bytes: &[u8]) -> Result<(), Lost>;
}

/// The connection is lost.
pub struct Lost;

/// Time limit for a client to send or receive `bytes` bytes: 10 s, plus the time they take at 64
/// KiB/s.
pub fn patience(bytes: usize) -> Duration {
    Duration::from_secs(10 + bytes as u64 / (64 * 1024))
}
