//! Monitor and injector, TCP 1383: message numbers.
//!
//! Generated from `src/contracts/moninj.toml` by `src/contracts/generate.py`: do not edit.

/// TCP port of the service.
pub const PORT: u16 = 1_383;

/// TCP port of the proxy on the host through which dashboards access the service.
pub const PROXY_PORT: u16 = 1_384;

/// Greeting sent by the client. The device does not answer it.
pub const GREETING: &[u8; 13] = b"ARTIQ moninj\n";

/// A field of a message; numbers are little endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
    /// u8: start (not 0) or stop.
    Enable = 0,
    /// u32: bits 23..16 DRTIO destination, bits 15..0 channel within it.
    Channel = 1,
    /// u8: probe or override of the channel.
    Number = 2,
    /// u8: value of an override.
    Level = 3,
    /// u64: value of a probe.
    Reading = 4,
}

impl Field {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 5] = [Self::Enable, Self::Channel, Self::Number, Self::Level, Self::Reading];
}

impl TryFrom<u8> for Field {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::Enable,
            1 => Self::Channel,
            2 => Self::Number,
            3 => Self::Level,
            4 => Self::Reading,
            other => return Err(other),
        })
    }
}

/// Requests of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Request {
    /// Start or stop watching a probe.
    WatchProbe = 0,
    /// Set the value of an override.
    Inject = 1,
    /// Request the value of an override once.
    GetOverride = 2,
    /// Start or stop watching an override.
    WatchOverride = 3,
}

impl Request {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 4] = [Self::WatchProbe, Self::Inject, Self::GetOverride, Self::WatchOverride];

    /// Its fields: members of [`Field`].
    pub const fn fields(self) -> &'static [Field] {
        match self {
            Self::WatchProbe | Self::WatchOverride => &[Field::Enable, Field::Channel, Field::Number],
            Self::Inject => &[Field::Channel, Field::Number, Field::Level],
            Self::GetOverride => &[Field::Channel, Field::Number],
        }
    }
}

impl TryFrom<u8> for Request {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::WatchProbe,
            1 => Self::Inject,
            2 => Self::GetOverride,
            3 => Self::WatchOverride,
            other => return Err(other),
        })
    }
}

/// Messages of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Report {
    /// Value of a probe.
    Probe = 0,
    /// Value of an override.
    Override = 1,
}

impl Report {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 2] = [Self::Probe, Self::Override];

    /// Its fields: members of [`Field`].
    pub const fn fields(self) -> &'static [Field] {
        match self {
            Self::Probe => &[Field::Channel, Field::Number, Field::Reading],
            Self::Override => &[Field::Channel, Field::Number, Field::Level],
        }
    }
}

impl TryFrom<u8> for Report {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::Probe,
            1 => Self::Override,
            other => return Err(other),
        })
    }
}
