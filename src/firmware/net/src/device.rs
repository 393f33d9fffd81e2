//! The stack's interface to a network controller. Its halves are separate, as a frame is read while
//! its answer is written. Checksums of IPv4, TCP and UDP are left to the controller, in both
//! directions.

/// Received frames, in order.
pub trait Receive {
    /// The oldest frame, with Ethernet header and without check sequence, if there is one. It
    /// remains valid until [`release`](Self::release).
    fn frame(&mut self) -> Option<&[u8]>;

    /// Releases the frame.
    fn release(&mut self);
}

/// Frames to be sent.
pub trait Transmit {
    /// Whether there is space for a frame. If not, the stack must be polled again once there is.
    fn ready(&mut self) -> bool;

    /// Sends a frame of `length` bytes, which `fill` writes. May be called only after
    /// [`ready`](Self::ready) was true.
    fn send<R>(&mut self, length: usize, fill: impl FnOnce(&mut [u8]) -> R) -> R;

    /// Starts transmission of the frames sent, as no more follow for now.
    fn flush(&mut self);
}
