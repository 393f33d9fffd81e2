//! Links to cards that speak DRTIO: control characters, scrambler, packets.
//!
//! Generated from `src/contracts/drtio.toml` by `src/contracts/generate.py`: do not edit.

/// Control characters (Kx.y) for the first character of a word, by the three bits that they carry.
pub const FIRST_CHARACTERS: &str = "28.5 28.0 28.1 28.2 23.7 27.7 29.7 30.7";

/// The same for the other characters.
pub const OTHER_CHARACTERS: &str = "28.0 28.2 28.3 28.4 23.7 27.7 29.7 30.7";

/// Bits of a control character, before the scrambler.
pub const CONTROL_BITS: usize = 3;

/// Bits of all characters of a word between auxiliary packets; those with the highest bit 0 carry two bits of one.
pub const IDLE: u8 = 4;

/// State of the scrambler: the last bits sent, the newest one as bit 0.
pub const SCRAMBLER_BITS: usize = 23;

/// Bit of the state that is added to each bit sent, beside the oldest one.
pub const SCRAMBLER_TAP: usize = 17;

/// Least number of words without real-time data between two packets.
pub const FRAME_GAP: usize = 2;

/// Width of a packet's type, its first field.
pub const TYPE_BITS: usize = 8;

/// Data of a write that are in its packet; words with those above follow.
pub const SHORT_DATA_BITS: usize = 16;

/// Longest auxiliary packet in bytes, with padding and CRC.
pub const AUXILIARY_MAX: usize = 1 << 10;

/// Auxiliary packets that a receiver holds.
pub const AUXILIARY_BUFFERS: usize = 8;

/// Real-time packets to a card. Fields follow the type, lowest bits first; the rest of the last word is zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ToCard {
    /// Is answered at once.
    EchoRequest = 0,
    /// Sets the card's counter, in machine units.
    SetTime = 1,
    /// An output. `extra_words` words of the link follow, with the data above `short_data`; the highest ones are left
    /// out if they are zero.
    Write = 2,
    /// Asks for the room for outputs.
    SpaceRequest = 3,
    /// Asks for an input. `timeout` is a time in machine units.
    ReadRequest = 4,
}

impl ToCard {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 5] = [
        Self::EchoRequest,
        Self::SetTime,
        Self::Write,
        Self::SpaceRequest,
        Self::ReadRequest,
    ];
}

impl TryFrom<u8> for ToCard {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::EchoRequest,
            1 => Self::SetTime,
            2 => Self::Write,
            3 => Self::SpaceRequest,
            4 => Self::ReadRequest,
            other => return Err(other),
        })
    }
}

/// Real-time packets from a card, laid out likewise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FromCard {
    /// Answers `echo_request`.
    EchoReply = 0,
    /// Answers `space_request`: so many outputs have room.
    SpaceReply = 1,
    /// An input.
    ReadReply = 2,
    /// There was no input: until the time given, or because inputs were lost.
    ReadNone = 3,
}

impl FromCard {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 4] = [Self::EchoReply, Self::SpaceReply, Self::ReadReply, Self::ReadNone];
}

impl TryFrom<u8> for FromCard {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::EchoReply,
            1 => Self::SpaceReply,
            2 => Self::ReadReply,
            3 => Self::ReadNone,
            other => return Err(other),
        })
    }
}

/// Auxiliary packets: the type, a byte, then the fields, little endian. A boolean is a byte; `bytes N` are a length u16
/// and at most N bytes, `longs N` a count u16 and at most N numbers u64, `hops N` are N bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum AuxiliaryPacket {
    /// Is answered at once.
    EchoRequest = 0,
    /// Answers `echo_request`.
    EchoReply = 1,
    /// Resets the card's channels.
    ResetRequest = 2,
    /// They are reset.
    ResetAck = 3,
    /// The counter has been set (`set_time`); sent unasked.
    TimeAck = 4,
    /// Asks for the state of a destination, and for an error of its channels.
    DestinationStatusRequest = 32,
    /// It cannot be reached.
    DestinationDown = 33,
    /// It can be reached, and there is no error.
    DestinationOk = 34,
    /// It can be reached; there was a sequence error.
    DestinationSequenceError = 35,
    /// It can be reached; there was a collision.
    DestinationCollision = 36,
    /// It can be reached; there was a busy error.
    DestinationBusy = 37,
    /// The path to a destination: a hop for each rank, 0 at its end.
    RoutingSetPath = 48,
    /// Number of links between the master and the receiver.
    RoutingSetRank = 49,
    /// Answers both.
    RoutingAck = 50,
    /// Asks for the value of a probe.
    MonitorRequest = 64,
    /// The value.
    MonitorReply = 65,
    /// Sets the value of an override. Is not answered.
    InjectionRequest = 80,
    /// Asks for the value of an override.
    InjectionStatusRequest = 81,
    /// The value.
    InjectionStatusReply = 82,
    /// I2C: start condition.
    I2cStartRequest = 128,
    /// I2C: restart condition.
    I2cRestartRequest = 129,
    /// I2C: stop condition.
    I2cStopRequest = 130,
    /// I2C: writes a byte.
    I2cWriteRequest = 131,
    /// I2C: whether it was acknowledged.
    I2cWriteReply = 132,
    /// I2C: reads a byte.
    I2cReadRequest = 133,
    /// I2C: the byte.
    I2cReadReply = 134,
    /// I2C: answers conditions and `i2c_switch_select_request`.
    I2cBasicReply = 135,
    /// I2C: selects channels of a switch.
    I2cSwitchSelectRequest = 136,
    /// SPI: settings of the next transfers.
    SpiSetConfigRequest = 144,
    /// SPI: a transfer.
    SpiWriteRequest = 146,
    /// SPI: asks for what the last transfer has read.
    SpiReadRequest = 147,
    /// SPI: that.
    SpiReadReply = 148,
    /// SPI: answers the others.
    SpiBasicReply = 149,
    /// Asks for the analyzer's record, which is then empty.
    AnalyzerHeaderRequest = 160,
    /// Its size.
    AnalyzerHeader = 161,
    /// Asks for the next part of it.
    AnalyzerDataRequest = 162,
    /// A part.
    AnalyzerData = 163,
    /// Adds a part of a DMA trace.
    DmaAddTraceRequest = 176,
    /// Answers it.
    DmaAddTraceReply = 177,
    /// Removes a DMA trace.
    DmaRemoveTraceRequest = 178,
    /// Answers it.
    DmaRemoveTraceReply = 179,
    /// Plays a DMA trace.
    DmaPlaybackRequest = 180,
    /// Answers it.
    DmaPlaybackReply = 181,
    /// A playback has ended. Sent unasked.
    DmaPlaybackStatus = 182,
    /// Adds a part of a subkernel's library.
    SubkernelAddDataRequest = 192,
    /// Answers it.
    SubkernelAddDataReply = 193,
    /// Loads a subkernel, and runs it if `run`.
    SubkernelLoadRunRequest = 196,
    /// Answers it.
    SubkernelLoadRunReply = 197,
    /// A subkernel has ended. Sent unasked.
    SubkernelFinished = 200,
    /// Asks for its exception.
    SubkernelExceptionRequest = 201,
    /// A part of the exception.
    SubkernelException = 202,
    /// A part of a message between kernels. Sent unasked.
    SubkernelMessage = 203,
    /// Answers it.
    SubkernelMessageAck = 204,
    /// Asks for the log.
    GetLogRequest = 208,
    /// Clears it.
    ClearLogRequest = 209,
    /// Asks for the value of a key of the configuration.
    ConfigReadRequest = 210,
    /// Asks for the next part of it.
    ConfigReadContinue = 211,
    /// Part of a key and its value.
    ConfigWriteRequest = 212,
    /// Removes a key.
    ConfigRemoveRequest = 213,
    /// Removes all of them.
    ConfigEraseRequest = 214,
    /// Restarts the card's firmware.
    RebootRequest = 215,
    /// Lists its memory in the log.
    AllocatorDebugRequest = 216,
    /// Announces an image.
    FlashRequest = 217,
    /// Part of the image.
    FlashAddDataRequest = 218,
    /// Answers `drop_link`. Is not answered.
    DropLinkAck = 219,
    /// The card restarts its link.
    DropLink = 220,
    /// Part of the log.
    GetLogReply = 221,
    /// Part of a value.
    ConfigReadReply = 222,
    /// Answers the others.
    ManagementReply = 223,
    /// CoaXPress: a request has failed.
    CxpError = 224,
    /// CoaXPress: the camera asks for more time.
    CxpWaitReply = 225,
    /// CoaXPress: reads the camera's memory.
    CxpReadRequest = 226,
    /// CoaXPress: what was read.
    CxpReadReply = 227,
    /// CoaXPress: writes a word of the camera's memory.
    CxpWriteRequest = 228,
    /// CoaXPress: answers it.
    CxpWriteReply = 229,
    /// CoaXPress: a region of the next image.
    CxpViewerRequest = 230,
    /// CoaXPress: answers it.
    CxpViewerReply = 231,
    /// CoaXPress: asks for the region.
    CxpPixelsRequest = 232,
    /// CoaXPress: a part of its pixels.
    CxpPixelsReply = 233,
    /// CoaXPress: its end.
    CxpFrameReply = 234,
}

impl AuxiliaryPacket {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 80] = [
        Self::EchoRequest,
        Self::EchoReply,
        Self::ResetRequest,
        Self::ResetAck,
        Self::TimeAck,
        Self::DestinationStatusRequest,
        Self::DestinationDown,
        Self::DestinationOk,
        Self::DestinationSequenceError,
        Self::DestinationCollision,
        Self::DestinationBusy,
        Self::RoutingSetPath,
        Self::RoutingSetRank,
        Self::RoutingAck,
        Self::MonitorRequest,
        Self::MonitorReply,
        Self::InjectionRequest,
        Self::InjectionStatusRequest,
        Self::InjectionStatusReply,
        Self::I2cStartRequest,
        Self::I2cRestartRequest,
        Self::I2cStopRequest,
        Self::I2cWriteRequest,
        Self::I2cWriteReply,
        Self::I2cReadRequest,
        Self::I2cReadReply,
        Self::I2cBasicReply,
        Self::I2cSwitchSelectRequest,
        Self::SpiSetConfigRequest,
        Self::SpiWriteRequest,
        Self::SpiReadRequest,
        Self::SpiReadReply,
        Self::SpiBasicReply,
        Self::AnalyzerHeaderRequest,
        Self::AnalyzerHeader,
        Self::AnalyzerDataRequest,
        Self::AnalyzerData,
        Self::DmaAddTraceRequest,
        Self::DmaAddTraceReply,
        Self::DmaRemoveTraceRequest,
        Self::DmaRemoveTraceReply,
        Self::DmaPlaybackRequest,
        Self::DmaPlaybackReply,
        Self::DmaPlaybackStatus,
        Self::SubkernelAddDataRequest,
        Self::SubkernelAddDataReply,
        Self::SubkernelLoadRunRequest,
        Self::SubkernelLoadRunReply,
        Self::SubkernelFinished,
        Self::SubkernelExceptionRequest,
        Self::SubkernelException,
        Self::SubkernelMessage,
        Self::SubkernelMessageAck,
        Self::GetLogRequest,
        Self::ClearLogRequest,
        Self::ConfigReadRequest,
        Self::ConfigReadContinue,
        Self::ConfigWriteRequest,
        Self::ConfigRemoveRequest,
        Self::ConfigEraseRequest,
        Self::RebootRequest,
        Self::AllocatorDebugRequest,
        Self::FlashRequest,
        Self::FlashAddDataRequest,
        Self::DropLinkAck,
        Self::DropLink,
        Self::GetLogReply,
        Self::ConfigReadReply,
        Self::ManagementReply,
        Self::CxpError,
        Self::CxpWaitReply,
        Self::CxpReadRequest,
        Self::CxpReadReply,
        Self::CxpWriteRequest,
        Self::CxpWriteReply,
        Self::CxpViewerRequest,
        Self::CxpViewerReply,
        Self::CxpPixelsRequest,
        Self::CxpPixelsReply,
        Self::CxpFrameReply,
    ];
}

impl TryFrom<u8> for AuxiliaryPacket {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::EchoRequest,
            1 => Self::EchoReply,
            2 => Self::ResetRequest,
            3 => Self::ResetAck,
            4 => Self::TimeAck,
            32 => Self::DestinationStatusRequest,
            33 => Self::DestinationDown,
            34 => Self::DestinationOk,
            35 => Self::DestinationSequenceError,
            36 => Self::DestinationCollision,
            37 => Self::DestinationBusy,
            48 => Self::RoutingSetPath,
            49 => Self::RoutingSetRank,
            50 => Self::RoutingAck,
            64 => Self::MonitorRequest,
            65 => Self::MonitorReply,
            80 => Self::InjectionRequest,
            81 => Self::InjectionStatusRequest,
            82 => Self::InjectionStatusReply,
            128 => Self::I2cStartRequest,
            129 => Self::I2cRestartRequest,
            130 => Self::I2cStopRequest,
            131 => Self::I2cWriteRequest,
            132 => Self::I2cWriteReply,
            133 => Self::I2cReadRequest,
            134 => Self::I2cReadReply,
            135 => Self::I2cBasicReply,
            136 => Self::I2cSwitchSelectRequest,
            144 => Self::SpiSetConfigRequest,
            146 => Self::SpiWriteRequest,
            147 => Self::SpiReadRequest,
            148 => Self::SpiReadReply,
            149 => Self::SpiBasicReply,
            160 => Self::AnalyzerHeaderRequest,
            161 => Self::AnalyzerHeader,
            162 => Self::AnalyzerDataRequest,
            163 => Self::AnalyzerData,
            176 => Self::DmaAddTraceRequest,
            177 => Self::DmaAddTraceReply,
            178 => Self::DmaRemoveTraceRequest,
            179 => Self::DmaRemoveTraceReply,
            180 => Self::DmaPlaybackRequest,
            181 => Self::DmaPlaybackReply,
            182 => Self::DmaPlaybackStatus,
            192 => Self::SubkernelAddDataRequest,
            193 => Self::SubkernelAddDataReply,
            196 => Self::SubkernelLoadRunRequest,
            197 => Self::SubkernelLoadRunReply,
            200 => Self::SubkernelFinished,
            201 => Self::SubkernelExceptionRequest,
            202 => Self::SubkernelException,
            203 => Self::SubkernelMessage,
            204 => Self::SubkernelMessageAck,
            208 => Self::GetLogRequest,
            209 => Self::ClearLogRequest,
            210 => Self::ConfigReadRequest,
            211 => Self::ConfigReadContinue,
            212 => Self::ConfigWriteRequest,
            213 => Self::ConfigRemoveRequest,
            214 => Self::ConfigEraseRequest,
            215 => Self::RebootRequest,
            216 => Self::AllocatorDebugRequest,
            217 => Self::FlashRequest,
            218 => Self::FlashAddDataRequest,
            219 => Self::DropLinkAck,
            220 => Self::DropLink,
            221 => Self::GetLogReply,
            222 => Self::ConfigReadReply,
            223 => Self::ManagementReply,
            224 => Self::CxpError,
            225 => Self::CxpWaitReply,
            226 => Self::CxpReadRequest,
            227 => Self::CxpReadReply,
            228 => Self::CxpWriteRequest,
            229 => Self::CxpWriteReply,
            230 => Self::CxpViewerRequest,
            231 => Self::CxpViewerReply,
            232 => Self::CxpPixelsRequest,
            233 => Self::CxpPixelsReply,
            234 => Self::CxpFrameReply,
            other => return Err(other),
        })
    }
}

/// Calls a macro with all auxiliary packets: `Name = number { field: kind, … }`, kinds u8 to u64, bool, or
/// `kind(most)`.
#[macro_export]
macro_rules! drtio_auxiliary_packets {
    ($with:ident) => {
        $with! {
            /// Is answered at once.
            EchoRequest = 0 {},
            /// Answers `echo_request`.
            EchoReply = 1 {},
            /// Resets the card's channels.
            ResetRequest = 2 {},
            /// They are reset.
            ResetAck = 3 {},
            /// The counter has been set (`set_time`); sent unasked.
            TimeAck = 4 {},
            /// Asks for the state of a destination, and for an error of its channels.
            DestinationStatusRequest = 32 { destination: u8 },
            /// It cannot be reached.
            DestinationDown = 33 {},
            /// It can be reached, and there is no error.
            DestinationOk = 34 {},
            /// It can be reached; there was a sequence error.
            DestinationSequenceError = 35 { channel: u16 },
            /// It can be reached; there was a collision.
            DestinationCollision = 36 { channel: u16 },
            /// It can be reached; there was a busy error.
            DestinationBusy = 37 { channel: u16 },
            /// The path to a destination: a hop for each rank, 0 at its end.
            RoutingSetPath = 48 { destination: u8, hops: hops(32) },
            /// Number of links between the master and the receiver.
            RoutingSetRank = 49 { rank: u8 },
            /// Answers both.
            RoutingAck = 50 {},
            /// Asks for the value of a probe.
            MonitorRequest = 64 { destination: u8, channel: u16, probe: u8 },
            /// The value.
            MonitorReply = 65 { value: u64 },
            /// Sets the value of an override. Is not answered.
            InjectionRequest = 80 { destination: u8, channel: u16, place: u8, value: u8 },
            /// Asks for the value of an override.
            InjectionStatusRequest = 81 { destination: u8, channel: u16, place: u8 },
            /// The value.
            InjectionStatusReply = 82 { value: u8 },
            /// I2C: start condition.
            I2cStartRequest = 128 { destination: u8, bus: u8 },
            /// I2C: restart condition.
            I2cRestartRequest = 129 { destination: u8, bus: u8 },
            /// I2C: stop condition.
            I2cStopRequest = 130 { destination: u8, bus: u8 },
            /// I2C: writes a byte.
            I2cWriteRequest = 131 { destination: u8, bus: u8, data: u8 },
            /// I2C: whether it was acknowledged.
            I2cWriteReply = 132 { succeeded: bool, ack: bool },
            /// I2C: reads a byte.
            I2cReadRequest = 133 { destination: u8, bus: u8, ack: bool },
            /// I2C: the byte.
            I2cReadReply = 134 { succeeded: bool, data: u8 },
            /// I2C: answers conditions and `i2c_switch_select_request`.
            I2cBasicReply = 135 { succeeded: bool },
            /// I2C: selects channels of a switch.
            I2cSwitchSelectRequest = 136 { destination: u8, bus: u8, address: u8, mask: u8 },
            /// SPI: settings of the next transfers.
            SpiSetConfigRequest = 144 { destination: u8, bus: u8, flags: u8, length: u8, div: u8, cs: u8 },
            /// SPI: a transfer.
            SpiWriteRequest = 146 { destination: u8, bus: u8, data: u32 },
            /// SPI: asks for what the last transfer has read.
            SpiReadRequest = 147 { destination: u8, bus: u8 },
            /// SPI: that.
            SpiReadReply = 148 { succeeded: bool, data: u32 },
            /// SPI: answers the others.
            SpiBasicReply = 149 { succeeded: bool },
            /// Asks for the analyzer's record, which is then empty.
            AnalyzerHeaderRequest = 160 { destination: u8 },
            /// Its size.
            AnalyzerHeader = 161 { sent_bytes: u32, total_bytes: u64, overflow: bool },
            /// Asks for the next part of it.
            AnalyzerDataRequest = 162 { destination: u8 },
            /// A part.
            AnalyzerData = 163 { last: bool, data: bytes(1016) },
            /// Adds a part of a DMA trace.
            DmaAddTraceRequest = 176 { source: u8, destination: u8, id: u32, status: u8, data: bytes(1010) },
            /// Answers it.
            DmaAddTraceReply = 177 { source: u8, destination: u8, id: u32, succeeded: bool },
            /// Removes a DMA trace.
            DmaRemoveTraceRequest = 178 { source: u8, destination: u8, id: u32 },
            /// Answers it.
            DmaRemoveTraceReply = 179 { destination: u8, succeeded: bool },
            /// Plays a DMA trace.
            DmaPlaybackRequest = 180 { source: u8, destination: u8, id: u32, timestamp: u64 },
            /// Answers it.
            DmaPlaybackReply = 181 { destination: u8, succeeded: bool },
            /// A playback has ended. Sent unasked.
            DmaPlaybackStatus = 182 { source: u8, destination: u8, id: u32, error: u8, channel: u32, timestamp: u64 },
            /// Adds a part of a subkernel's library.
            SubkernelAddDataRequest = 192 { destination: u8, id: u32, status: u8, data: bytes(1010) },
            /// Answers it.
            SubkernelAddDataReply = 193 { succeeded: bool },
            /// Loads a subkernel, and runs it if `run`.
            SubkernelLoadRunRequest = 196 { source: u8, destination: u8, id: u32, run: bool, timestamp: u64 },
            /// Answers it.
            SubkernelLoadRunReply = 197 { destination: u8, succeeded: bool },
            /// A subkernel has ended. Sent unasked.
            SubkernelFinished = 200 { destination: u8, id: u32, with_exception: bool, exception_source: u8 },
            /// Asks for its exception.
            SubkernelExceptionRequest = 201 { source: u8, destination: u8 },
            /// A part of the exception.
            SubkernelException = 202 { destination: u8, last: bool, data: bytes(1010) },
            /// A part of a message between kernels. Sent unasked.
            SubkernelMessage = 203 { source: u8, destination: u8, id: u32, status: u8, data: bytes(1010) },
            /// Answers it.
            SubkernelMessageAck = 204 { destination: u8 },
            /// Asks for the log.
            GetLogRequest = 208 { destination: u8, clear: bool },
            /// Clears it.
            ClearLogRequest = 209 { destination: u8 },
            /// Asks for the value of a key of the configuration.
            ConfigReadRequest = 210 { destination: u8, key: bytes(1010) },
            /// Asks for the next part of it.
            ConfigReadContinue = 211 { destination: u8 },
            /// Part of a key and its value.
            ConfigWriteRequest = 212 { destination: u8, last: bool, data: bytes(1010) },
            /// Removes a key.
            ConfigRemoveRequest = 213 { destination: u8, key: bytes(1010) },
            /// Removes all of them.
            ConfigEraseRequest = 214 { destination: u8 },
            /// Restarts the card's firmware.
            RebootRequest = 215 { destination: u8 },
            /// Lists its memory in the log.
            AllocatorDebugRequest = 216 { destination: u8 },
            /// Announces an image.
            FlashRequest = 217 { destination: u8, length: u32 },
            /// Part of the image.
            FlashAddDataRequest = 218 { destination: u8, last: bool, data: bytes(1010) },
            /// Answers `drop_link`. Is not answered.
            DropLinkAck = 219 { destination: u8 },
            /// The card restarts its link.
            DropLink = 220 {},
            /// Part of the log.
            GetLogReply = 221 { last: bool, data: bytes(1016) },
            /// Part of a value.
            ConfigReadReply = 222 { last: bool, value: bytes(1016) },
            /// Answers the others.
            ManagementReply = 223 { succeeded: bool },
            /// CoaXPress: a request has failed.
            CxpError = 224 { message: bytes(1016) },
            /// CoaXPress: the camera asks for more time.
            CxpWaitReply = 225 {},
            /// CoaXPress: reads the camera's memory.
            CxpReadRequest = 226 { destination: u8, address: u32, length: u16 },
            /// CoaXPress: what was read.
            CxpReadReply = 227 { data: bytes(1016) },
            /// CoaXPress: writes a word of the camera's memory.
            CxpWriteRequest = 228 { destination: u8, address: u32, value: u32 },
            /// CoaXPress: answers it.
            CxpWriteReply = 229 {},
            /// CoaXPress: a region of the next image.
            CxpViewerRequest = 230 { destination: u8, x0: u16, y0: u16, x1: u16, y1: u16 },
            /// CoaXPress: answers it.
            CxpViewerReply = 231 {},
            /// CoaXPress: asks for the region.
            CxpPixelsRequest = 232 { destination: u8 },
            /// CoaXPress: a part of its pixels.
            CxpPixelsReply = 233 { pixels: longs(127) },
            /// CoaXPress: its end.
            CxpFrameReply = 234 { width: u16, height: u16, pixel_code: u16 },
        }
    };
}
