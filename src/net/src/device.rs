//! What the stack needs of a network controller. Its halves are apart, as a frame is looked at
//! while its answer is written. Checksums of IPv4, TCP and UDP are the controller's business, in
//! both directions.

/// Frames that have come, one after another.
pub trait Receive {
    /// The oldest frame, with Ethernet header and without check sequence, if there is one. It stays
    /// until [`release`](Self::release).
    fn frame(&mut self) -> Option<&[u8]>;

    /// The frame is not needed any more.
    fn release(&mut self);
}

/// Frames to be sent.
pub trait Transmit {
    /// Whether there is room for a frame. If not, the stack must be polled again when there is.
    fn ready(&mut self) -> bool;

    /// Sends a frame of `length` bytes, which `fill` writes. Only after [`ready`](Self::ready) was true.
    fn send<R>(&mut self, length: usize, fill: impl FnOnce(&mut [u8]) -> R) -> R;

    /// Nothing follows for now: what was sent may leave, if it has not yet.
    fn flush(&mut self);
}
