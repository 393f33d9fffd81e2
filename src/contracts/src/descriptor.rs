//! Descriptor memory of the gateware: records, flags, kinds of RTIO channels.
//!
//! Generated from `src/contracts/descriptor.toml` by `src/contracts/generate.py`: do not edit.

/// First bytes of a descriptor.
pub const MAGIC: &[u8; 4] = b"KAIR";

/// Version of the format.
pub const VERSION: u16 = 1;

/// Length of the header in bytes: magic, version u16, reserved u16, total length u32, CRC-32 u32 of the following data.
pub const HEADER: usize = 16;

/// Flag of a register: it can be read.
pub const READABLE: u16 = 1;

/// Flag of a register: it can be written.
pub const WRITABLE: u16 = 2;

/// Types of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Record {
    /// End of the records.
    End = 0,
    /// Identification of the gateware.
    Identification = 1,
    /// Hash over the Verilog of the gateware: 16 hexadecimal digits.
    BuildId = 2,
    /// A register. 64-bit ones: high word at the lower address.
    Register = 3,
    /// An RTIO channel. Omitted parameters have their defaults (`serialised` 0: resolution 8 ns).
    Channel = 4,
    /// The RTIO clock.
    Clock = 5,
    /// The board for which the gateware was made.
    Board = 6,
}

impl Record {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 7] = [
        Self::End,
        Self::Identification,
        Self::BuildId,
        Self::Register,
        Self::Channel,
        Self::Clock,
        Self::Board,
    ];
}

impl TryFrom<u16> for Record {
    /// The number, which none of them has.
    type Error = u16;

    fn try_from(number: u16) -> Result<Self, u16> {
        Ok(match number {
            0 => Self::End,
            1 => Self::Identification,
            2 => Self::BuildId,
            3 => Self::Register,
            4 => Self::Channel,
            5 => Self::Clock,
            6 => Self::Board,
            other => return Err(other),
        })
    }
}

/// Type of the PHY on an RTIO channel; for its parameters see `docs/gateware/phys.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ChannelKind {
    /// Level output.
    TtlOut = 1,
    /// Level output or gated input.
    TtlInout = 2,
    /// Clock generator.
    TtlClockgen = 3,
    /// Edge counter of a TTL input.
    EdgeCounter = 4,
    /// SPI bus.
    SpiMaster = 5,
    /// Parallel bus of AD9914 synthesisers.
    Ad9914 = 6,
    /// Fastino, 32 DACs.
    Fastino = 7,
    /// Camera Link frame grabber.
    Grabber = 8,
    /// Regions of interest of a grabber.
    GrabberGate = 9,
    /// Pulse core: words, triggers and results.
    Pulse = 10,
    /// SU-Servo: memory and control.
    Suservo = 20,
    /// A channel of an SU-Servo.
    SuservoChannel = 21,
    /// Registers of a Phaser.
    Phaser = 22,
    /// Frequencies, or amplitudes and phases, of a Phaser's oscillators.
    PhaserTone = 23,
    /// Gains, offsets and clear bits of a Shuttler.
    Shuttler = 24,
    /// Level or tone of an output of a Shuttler.
    ShuttlerSpline = 25,
    /// Trigger of a Shuttler.
    ShuttlerTrigger = 26,
    /// Clear bits of a Songbird's tones.
    Songbird = 27,
    /// Reset of a Songbird's tones.
    SongbirdReset = 28,
    /// Triggers of a Songbird.
    SongbirdTrigger = 29,
    /// Amplitude or phase of a tone of a Songbird.
    SongbirdTone = 30,
    /// Controls of a Phaser as a satellite.
    Mtdds = 31,
    /// A tone of a Phaser as a satellite.
    MtddsTone = 32,
    /// Link and triggers of a CoaXPress grabber.
    CxpTrigger = 33,
    /// Regions of interest of a CoaXPress grabber, commands to its camera, and its viewer.
    CxpRegions = 34,
    /// Gate and results of a CoaXPress grabber.
    CxpGate = 35,
    /// Log channel, without a pin.
    Log = 255,
}

impl ChannelKind {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 27] = [
        Self::TtlOut,
        Self::TtlInout,
        Self::TtlClockgen,
        Self::EdgeCounter,
        Self::SpiMaster,
        Self::Ad9914,
        Self::Fastino,
        Self::Grabber,
        Self::GrabberGate,
        Self::Pulse,
        Self::Suservo,
        Self::SuservoChannel,
        Self::Phaser,
        Self::PhaserTone,
        Self::Shuttler,
        Self::ShuttlerSpline,
        Self::ShuttlerTrigger,
        Self::Songbird,
        Self::SongbirdReset,
        Self::SongbirdTrigger,
        Self::SongbirdTone,
        Self::Mtdds,
        Self::MtddsTone,
        Self::CxpTrigger,
        Self::CxpRegions,
        Self::CxpGate,
        Self::Log,
    ];
}

impl TryFrom<u8> for ChannelKind {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::TtlOut,
            2 => Self::TtlInout,
            3 => Self::TtlClockgen,
            4 => Self::EdgeCounter,
            5 => Self::SpiMaster,
            6 => Self::Ad9914,
            7 => Self::Fastino,
            8 => Self::Grabber,
            9 => Self::GrabberGate,
            10 => Self::Pulse,
            20 => Self::Suservo,
            21 => Self::SuservoChannel,
            22 => Self::Phaser,
            23 => Self::PhaserTone,
            24 => Self::Shuttler,
            25 => Self::ShuttlerSpline,
            26 => Self::ShuttlerTrigger,
            27 => Self::Songbird,
            28 => Self::SongbirdReset,
            29 => Self::SongbirdTrigger,
            30 => Self::SongbirdTone,
            31 => Self::Mtdds,
            32 => Self::MtddsTone,
            33 => Self::CxpTrigger,
            34 => Self::CxpRegions,
            35 => Self::CxpGate,
            255 => Self::Log,
            other => return Err(other),
        })
    }
}

/// Source of the RTIO clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ClockSource {
    /// The processing system.
    ProcessingSystem = 0,
    /// A Si5324 with the external clock on input 1.
    Si5324Ckin1 = 1,
    /// A Si5324 with the external clock on input 2.
    Si5324Ckin2 = 2,
}

impl ClockSource {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 3] = [Self::ProcessingSystem, Self::Si5324Ckin1, Self::Si5324Ckin2];
}

impl TryFrom<u8> for ClockSource {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::ProcessingSystem,
            1 => Self::Si5324Ckin1,
            2 => Self::Si5324Ckin2,
            other => return Err(other),
        })
    }
}
