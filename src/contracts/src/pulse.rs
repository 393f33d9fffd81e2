//! Pulse core: words, tables, number formats, registers and errors (`docs/pulse.md`).
//!
//! Generated from `src/contracts/pulse.toml` by `src/contracts/generate.py`: do not edit.

/// Output channels of a board.
pub const CHANNELS: usize = 8;

/// Spline engines of a channel.
pub const PARAMETERS: usize = 8;

/// Tones of a channel.
pub const TONES: usize = 2;

/// Clock of engines and DDS of the reference core, Hz.
pub const CLOCK_HZ: u32 = 0x186a_0000;

/// Output samples in a cycle of the reference core.
pub const SAMPLES_PER_CYCLE: usize = 2;

/// Clock of the stream that feeds the reference core, Hz.
pub const STREAM_HZ: u32 = 0x13d9_2d40;

/// Words in a channel's input FIFO.
pub const INPUT_FIFO: usize = 64;

/// Segments in a parameter's FIFO; at least 16.
pub const SEGMENT_FIFO: usize = 32;

/// Version of the word layout.
pub const LAYOUT_VERSION: u32 = 2;

/// Bits of a word of the stream.
pub const WORD_BITS: usize = 256;

/// Bytes of a word, least significant first.
pub const WORD_BYTES: usize = 32;

/// All words: one bit for each channel that takes the word.
pub const CHANNEL_MASK_AT: usize = 248;

/// Width of the mask of channels.
pub const CHANNEL_MASK_BITS: usize = 8;

/// All words: the mode.
pub const MODE_AT: usize = 245;

/// Width of the mode.
pub const MODE_BITS: usize = 3;

/// Words that program the pulse table: address of the entry.
pub const PLUT_ADDRESS_AT: usize = 229;

/// Bypass words: one bit for each parameter that takes the segment.
pub const PARAMETER_MASK_AT: usize = 216;

/// Width of the mask of parameters.
pub const PARAMETER_MASK_BITS: usize = 8;

/// Words that program the memory map or the gate table: number of slots used.
pub const PROGRAM_COUNT_AT: usize = 236;

/// Width of that number.
pub const PROGRAM_COUNT_BITS: usize = 5;

/// Words that run gates: number of gate ids.
pub const RUN_COUNT_AT: usize = 239;

/// Width of that number.
pub const RUN_COUNT_BITS: usize = 6;

/// Bits of a segment in the pulse table: bits 215..0 of a word.
pub const BODY_BITS: usize = 216;

/// Value at the segment's start, signed.
pub const U0_AT: usize = 0;

/// First difference times 2^s, signed.
pub const U1_AT: usize = 40;

/// Second difference times 2^(2s), signed.
pub const U2_AT: usize = 80;

/// Third difference times 2^(3s), signed.
pub const U3_AT: usize = 120;

/// Width of a coefficient and of a parameter's value.
pub const VALUE_BITS: usize = 40;

/// Duration in cycles.
pub const TAU_AT: usize = 160;

/// Width of the duration.
pub const TAU_BITS: usize = 40;

/// Flags: the byte of `ToneFlag` or `FrameFlag`, bit 0 unused.
pub const FLAGS_AT: usize = 200;

/// Width of the flags.
pub const FLAGS_BITS: usize = 8;

/// Shift s of the coefficients.
pub const SHIFT_AT: usize = 208;

/// Width of the shift.
pub const SHIFT_BITS: usize = 5;

/// Width of the first difference in an engine; it wraps.
pub const V1_BITS: usize = 56;

/// Width of the second difference in an engine; it wraps.
pub const V2_BITS: usize = 72;

/// Shortest segment that the compiler makes, cycles. The core takes 1.
pub const SEGMENT_CYCLES_MIN: u32 = 4;

/// Shortest gate that plays without end from tables with one read a cycle, cycles.
pub const GATE_CYCLES_MIN: u32 = 8;

/// The compiler makes durations below 2 to the power of this.
pub const TAU_MAX_BITS: usize = 39;

/// Address bits of the gate table: 4096 entries.
pub const GLUT_ADDRESS_BITS: usize = 12;

/// Bits of a gate id in a word that runs gates.
pub const GATE_ID_BITS: usize = 11;

/// Bits of an entry of the gate table.
pub const GLUT_DATA_BITS: usize = 26;

/// Address bits of the memory map: 8192 entries.
pub const MLUT_ADDRESS_BITS: usize = 13;

/// Bits of an entry of the memory map.
pub const MLUT_DATA_BITS: usize = 20;

/// Address bits of the pulse table: 4096 entries.
pub const PLUT_ADDRESS_BITS: usize = 12;

/// Entries of the gate table in a word.
pub const GLUT_SLOTS: usize = 6;

/// Bits of such an entry in a word.
pub const GLUT_SLOT_BITS: usize = 38;

/// In an entry: address of the gate's first entry of the memory map.
pub const GLUT_SLOT_FIRST_AT: usize = 0;

/// In an entry: address of its last one, included. Below the first: an empty gate.
pub const GLUT_SLOT_LAST_AT: usize = 13;

/// In a slot: address in the gate table.
pub const GLUT_SLOT_ADDRESS_AT: usize = 26;

/// Entries of the memory map in a word.
pub const MLUT_SLOTS: usize = 6;

/// Bits of such an entry in a word.
pub const MLUT_SLOT_BITS: usize = 33;

/// In an entry: address in the pulse table.
pub const MLUT_SLOT_PLUT_AT: usize = 0;

/// In an entry: parameters that take the segment.
pub const MLUT_SLOT_MASK_AT: usize = 12;

/// In a slot: address in the memory map.
pub const MLUT_SLOT_ADDRESS_AT: usize = 20;

/// Gate ids in a word; the first to run is in slot 0.
pub const RUN_SLOTS: usize = 20;

/// Gate ids in a word of a core built with the option for wide words. Such words have no count.
pub const RUN_SLOTS_WIDE: usize = 22;

/// With that option: id in unused slots; not a valid gate id.
pub const RUN_NO_GATE: u32 = 2_047;

/// Bit of the gate table address that is set for gates selected by a result.
pub const BRANCH_AT: usize = 11;

/// Lowest bit of the result in such an address.
pub const BRANCH_STATE_AT: usize = 7;

/// Width of a result.
pub const BRANCH_STATE_BITS: usize = 4;

/// Number of gates selectable by branches for each result.
pub const BRANCH_GATES: usize = 128;

/// Low bits of an amplitude used only by the interpolation; the DDS takes the 17 bits above, signed.
pub const AMPLITUDE_FRACTION: usize = 23;

/// Greatest amplitude of the DDS: one tone at full scale.
pub const AMPLITUDE_MAX: u32 = 65_535;

/// The greatest amplitude in the arbitrary units of programs.
pub const AMPLITUDE_UNITS: u32 = 200;

/// Most significant phase bits used to compute the sine.
pub const SINE_PHASE_BITS: usize = 18;

/// Bits of a sine or cosine, signed: full scale is 2^17 - 1.
pub const SINE_BITS: usize = 18;

/// Bits of the phase within a quadrant that address the sine table, whose values have twice the full scale.
pub const SINE_COARSE_BITS: usize = 10;

/// Phase bits below these, used by the first-order correction.
pub const SINE_FINE_BITS: usize = 6;

/// Slopes of the correction are round((2 fine - 63) pi times this).
pub const SINE_SLOPE_SCALE: u32 = 32;

/// The product of table and slope is divided by 2 to the power of this, rounded.
pub const SINE_SLOPE_SHIFT: usize = 23;

/// The product of amplitude and sine is divided by 2 to the power of this, rounded.
pub const TONE_SHIFT: usize = 17;

/// Bits of the sum of both tones, signed.
pub const SUM_BITS: usize = 18;

/// Bits of a sample, signed.
pub const OUTPUT_BITS: usize = 16;

/// Bits of the harmonic of the feed-forward, signed.
pub const HARMONIC_BITS: usize = 16;

/// Channels whose crosstalk to a channel is corrected: offsets -2, -1, 1, 2 in this order.
pub const CROSSTALK_NEIGHBOURS: usize = 4;

/// Bits of the real and of the imaginary factor, signed.
pub const CROSSTALK_BITS: usize = 18;

/// Fractional bits of these factors.
pub const CROSSTALK_FRACTION: usize = 17;

/// Longest programmable delay of a neighbour's signal, cycles.
pub const CROSSTALK_DELAY_MAX: usize = 63;

/// Bits of the sum after the correction, signed.
pub const CROSSTALK_SUM_BITS: usize = 21;

/// Bits of the cycle counter used as timestamp of errors.
pub const CYCLE_COUNTER_BITS: usize = 48;

/// Numbers of an adjustable segment: its parameter and ADJUSTABLE_SHAPED, the word that writes it, and the greatest
/// factor (a double).
pub const ADJUSTABLE_NUMBERS: usize = 11;

/// Set if the parameter is a shape, which the value multiplies; otherwise it is a number, which the value replaces.
pub const ADJUSTABLE_SHAPED: u32 = 256;

/// Segments of a parameter in a pulse that a kernel makes: they are queued before it begins.
pub const KERNEL_PULSE_SEGMENTS: usize = 16;

/// Parameters of a channel: bit in masks, and index of the spline engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Parameter {
    /// Frequency of tone 0.
    F0 = 0,
    /// Amplitude of tone 0.
    A0 = 1,
    /// Phase of tone 0.
    P0 = 2,
    /// Frequency of tone 1.
    F1 = 3,
    /// Amplitude of tone 1.
    A1 = 4,
    /// Phase of tone 1.
    P1 = 5,
    /// Rotation of frame 0.
    Z0 = 6,
    /// Rotation of frame 1.
    Z1 = 7,
}

impl Parameter {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 8] = [
        Self::F0,
        Self::A0,
        Self::P0,
        Self::F1,
        Self::A1,
        Self::P1,
        Self::Z0,
        Self::Z1,
    ];
}

impl TryFrom<u8> for Parameter {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::F0,
            1 => Self::A0,
            2 => Self::P0,
            3 => Self::F1,
            4 => Self::A1,
            5 => Self::P1,
            6 => Self::Z0,
            7 => Self::Z1,
            other => return Err(other),
        })
    }
}

/// Mode of a word, bits 247..245. Mode 0 is invalid; such words are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    /// Write entries of the gate table.
    ProgramGlut = 1,
    /// Write entries of the memory map.
    ProgramMlut = 2,
    /// Write an entry of the pulse table.
    ProgramPlut = 3,
    /// Run gates.
    Run = 4,
    /// Wait for a measurement result, store it, and run gates selected by it.
    Branch = 5,
    /// Run gates selected by the stored result.
    BranchContinue = 6,
    /// Pass a segment directly to the parameters of the mask.
    Bypass = 7,
}

impl Mode {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 7] = [
        Self::ProgramGlut,
        Self::ProgramMlut,
        Self::ProgramPlut,
        Self::Run,
        Self::Branch,
        Self::BranchContinue,
        Self::Bypass,
    ];
}

impl TryFrom<u8> for Mode {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::ProgramGlut,
            2 => Self::ProgramMlut,
            3 => Self::ProgramPlut,
            4 => Self::Run,
            5 => Self::Branch,
            6 => Self::BranchContinue,
            7 => Self::Bypass,
            other => return Err(other),
        })
    }
}

/// State of a spline engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Never started, or its channel ran out of segments at the end of a pulse.
    Idle = 0,
    /// Its next segment waits for the trigger.
    Armed = 1,
    /// A segment is running.
    Run = 2,
    /// Stopped; segments are discarded up to one that waits for the trigger.
    Fault = 3,
}

impl State {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 4] = [Self::Idle, Self::Armed, Self::Run, Self::Fault];
}

impl TryFrom<u8> for State {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::Idle,
            1 => Self::Armed,
            2 => Self::Run,
            3 => Self::Fault,
            other => return Err(other),
        })
    }
}

/// Registers of the core: byte offsets in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Register {
    /// Bits 7..0: layout version. Read only.
    Version = 0,
    /// Bits 3..0 channels, 7..4 samples per cycle, 12..8 address bits of the gate table, 17..13 of the memory map,
    /// 22..18 of the pulse table. Read only.
    Config = 4,
    /// Sample rate in units of 100 Hz. Read only.
    Rate = 8,
    /// Bits of `Control`.
    Control = 12,
    /// Bit 0: write 1 to trigger. Bits 15..8: channels that must be armed for a trigger.
    Trigger = 16,
    /// Bit mask of the channels with all engines armed. Read only.
    Armed = 20,
    /// Bits of `Error`; write 1 to clear.
    Error = 24,
    /// Channels that ran out of segments; write 1 to clear.
    UnderrunChannels = 28,
    /// Parameters that ran out of segments, of any channel; write 1 to clear.
    UnderrunParameters = 32,
    /// Cycle counter, bits 31..0; reading it latches the upper bits in `cycle_high`. Read only.
    CycleLow = 36,
    /// Bits 47..32. Read only.
    CycleHigh = 40,
    /// Eight consecutive writes, least significant first, form a word of the stream.
    Word = 44,
    /// Write bits 3..0: a result, given to all channels.
    Branch = 48,
    /// Cycles that a branch waits for its result before it assumes 0; 0: no timeout.
    BranchTimeout = 52,
    /// Cycles that engines of a channel may wait while others of the same channel run; 0: no limit.
    MisalignLimit = 56,
    /// Bits 15..0 latency of the engines in cycles, 31..16 of the DDS. Read only.
    Latency = 60,
    /// Frequency error: low, high word; then the harmonic of each tone of each channel.
    FeedForward = 64,
    /// Factors and delays by channel and offset; then the strobe that makes them valid.
    Crosstalk = 128,
}

impl Register {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 18] = [
        Self::Version,
        Self::Config,
        Self::Rate,
        Self::Control,
        Self::Trigger,
        Self::Armed,
        Self::Error,
        Self::UnderrunChannels,
        Self::UnderrunParameters,
        Self::CycleLow,
        Self::CycleHigh,
        Self::Word,
        Self::Branch,
        Self::BranchTimeout,
        Self::MisalignLimit,
        Self::Latency,
        Self::FeedForward,
        Self::Crosstalk,
    ];
}

impl TryFrom<u32> for Register {
    /// The number, which none of them has.
    type Error = u32;

    fn try_from(number: u32) -> Result<Self, u32> {
        Ok(match number {
            0 => Self::Version,
            4 => Self::Config,
            8 => Self::Rate,
            12 => Self::Control,
            16 => Self::Trigger,
            20 => Self::Armed,
            24 => Self::Error,
            28 => Self::UnderrunChannels,
            32 => Self::UnderrunParameters,
            36 => Self::CycleLow,
            40 => Self::CycleHigh,
            44 => Self::Word,
            48 => Self::Branch,
            52 => Self::BranchTimeout,
            56 => Self::MisalignLimit,
            60 => Self::Latency,
            64 => Self::FeedForward,
            128 => Self::Crosstalk,
            other => return Err(other),
        })
    }
}

/// Held until the trigger.
pub const TONE_FLAG_WAIT: u8 = 8;

/// Begin at the global phase. Taken from the frequency's segment.
pub const TONE_FLAG_SYNC: u8 = 16;

/// Level of the tone's output-enable pin. Taken from the amplitude's segment.
pub const TONE_FLAG_ENABLE: u8 = 32;

/// Add the feed-forward to the phase. Taken from the frequency's segment.
pub const TONE_FLAG_FEED_FORWARD: u8 = 64;

/// Level of the tone's general-purpose pin. Taken from the amplitude's segment.
pub const TONE_FLAG_GPO: u8 = 128;

/// Negate the frame where it is applied to tone 0.
pub const FRAME_FLAG_INVERT0: u8 = 2;

/// Negate the frame where it is applied to tone 1.
pub const FRAME_FLAG_INVERT1: u8 = 4;

/// Held until the trigger.
pub const FRAME_FLAG_WAIT: u8 = 8;

/// Apply the frame to tone 0.
pub const FRAME_FLAG_FORWARD0: u8 = 16;

/// Apply the frame to tone 1.
pub const FRAME_FLAG_FORWARD1: u8 = 32;

/// Clear the accumulator first.
pub const FRAME_FLAG_CLEAR: u8 = 64;

/// Add the rotation when the segment has ended.
pub const FRAME_FLAG_AT_END: u8 = 128;

/// Tone 0 begins at the global phase.
pub const KERNEL_PULSE_FLAG_SYNC0: u32 = 1;

/// Tone 1.
pub const KERNEL_PULSE_FLAG_SYNC1: u32 = 2;

/// Level of the output-enable pin of tone 0.
pub const KERNEL_PULSE_FLAG_ENABLE0: u32 = 4;

/// Tone 1.
pub const KERNEL_PULSE_FLAG_ENABLE1: u32 = 8;

/// Add the feed-forward to the phase of tone 0.
pub const KERNEL_PULSE_FLAG_FEED_FORWARD0: u32 = 16;

/// Tone 1.
pub const KERNEL_PULSE_FLAG_FEED_FORWARD1: u32 = 32;

/// Level of the general-purpose pin of tone 0.
pub const KERNEL_PULSE_FLAG_GPO0: u32 = 64;

/// Tone 1.
pub const KERNEL_PULSE_FLAG_GPO1: u32 = 128;

/// Clear the accumulator of frame 0 first.
pub const KERNEL_PULSE_FLAG_CLEAR0: u32 = 256;

/// Frame 1.
pub const KERNEL_PULSE_FLAG_CLEAR1: u32 = 512;

/// Add the rotation of frame 0 when the segment has ended.
pub const KERNEL_PULSE_FLAG_AT_END0: u32 = 1024;

/// Frame 1.
pub const KERNEL_PULSE_FLAG_AT_END1: u32 = 2048;

/// Apply frame 0 to tone 0.
pub const KERNEL_PULSE_FLAG_FORWARD00: u32 = 4096;

/// Apply frame 0 to tone 1.
pub const KERNEL_PULSE_FLAG_FORWARD01: u32 = 8192;

/// Apply frame 1 to tone 0.
pub const KERNEL_PULSE_FLAG_FORWARD10: u32 = 16384;

/// Apply frame 1 to tone 1.
pub const KERNEL_PULSE_FLAG_FORWARD11: u32 = 32768;

/// Negate frame 0 where it is applied to tone 0.
pub const KERNEL_PULSE_FLAG_INVERT00: u32 = 65536;

/// Negate frame 0 where it is applied to tone 1.
pub const KERNEL_PULSE_FLAG_INVERT01: u32 = 131072;

/// Negate frame 1 where it is applied to tone 0.
pub const KERNEL_PULSE_FLAG_INVERT10: u32 = 262144;

/// Negate frame 1 where it is applied to tone 1.
pub const KERNEL_PULSE_FLAG_INVERT11: u32 = 524288;

/// The core runs.
pub const CONTROL_ENABLE: u32 = 1;

/// Write 1: reset engines, frames and FIFOs to their state after power-up; tables are kept.
pub const CONTROL_RESET: u32 = 2;

/// Write 1: reset the global sample counter to 0.
pub const CONTROL_COUNTER_RESET: u32 = 4;

/// Hold an early trigger until all channels are armed.
pub const CONTROL_TRIGGER_STRICT: u32 = 8;

/// Hold the amplitudes when a channel runs out of segments.
pub const CONTROL_UNDERRUN_HOLD: u32 = 16;

/// A word of mode 0 was dropped.
pub const ERROR_MODE: u32 = 1;

/// A count exceeded the number of slots; all slots were used.
pub const ERROR_COUNT: u32 = 2;

/// A segment of 0 cycles was skipped.
pub const ERROR_TAU0: u32 = 4;

/// A trigger arrived before all channels were armed.
pub const ERROR_TRIGGER_EARLY: u32 = 8;

/// A branch timed out waiting for its result, and assumed 0.
pub const ERROR_BRANCH_TIMEOUT: u32 = 16;

/// Engines of a channel were at different positions.
pub const ERROR_MISALIGN: u32 = 32;

/// A channel ran out of segments.
pub const ERROR_UNDERRUN: u32 = 64;

/// A sample exceeded full scale and was limited.
pub const ERROR_SATURATED: u32 = 128;

/// A write beyond the end of a table was dropped.
pub const ERROR_ADDRESS: u32 = 256;

/// What a message calls them.
pub const ERROR_TEXTS: [(u32, &str); 9] = [
    (ERROR_MODE, "a word of no known mode was dropped"),
    (ERROR_COUNT, "a word counts more slots than it has"),
    (ERROR_TAU0, "a segment of no cycles was skipped"),
    (ERROR_TRIGGER_EARLY, "the trigger came before all channels were armed"),
    (ERROR_BRANCH_TIMEOUT, "a branch had no result in time and took 0"),
    (
        ERROR_MISALIGN,
        "parameters of a channel had pulses of different lengths",
    ),
    (ERROR_UNDERRUN, "a channel ran out of segments"),
    (ERROR_SATURATED, "a sample was limited to full scale"),
    (ERROR_ADDRESS, "a table was written beyond its end"),
];
