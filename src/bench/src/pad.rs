//! Where a bench meets the device.

/// A pin of the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pad {
    /// Of the device's arrays.
    pub index: u16,
    /// Of the device's channels.
    pub channel: u32,
    /// Its device, or its device and line.
    pub name: String,
    /// The device may drive it…
    pub drives: bool,
    /// …and read it.
    pub reads: bool,
}
