//! Build options of a core, and values of its configuration registers.

use crate::units::Rates;
use crate::word::RunFormat;
use kairos_contracts::pulse as facts;

/// Configuration of a core. [`Config::default`] is the reference core.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Output channels, 1 to 8.
    pub channels: usize,
    /// Clock and samples per cycle.
    pub rates: Rates,
    /// Depth of a channel's input FIFO in words.
    pub input_fifo: usize,
    /// Depth of a parameter's FIFO in segments.
    pub segment_fifo: usize,
    /// Address bits of the tables as built; the fields of the words keep their widths.
    pub glut_bits: usize,
    pub mlut_bits: usize,
    pub plut_bits: usize,
    /// Number of memory map entries read per cycle.
    pub reads: usize,
    /// Format of the gate ids in a word.
    pub run_format: RunFormat,
    /// Latency, in cycles, of the complex multipliers of the crosstalk compensation; `None` if it
    /// is not built.
    pub crosstalk: Option<usize>,
    /// Value that frames accumulate at the end of a spline.
    pub frame_commit: FrameCommit,
    /// Behaviour of amplitudes when a channel underflows: the bit `underrun_hold`.
    pub underrun: Underrun,
    /// Remember an early trigger: the bit `trigger_strict`.
    pub trigger_strict: bool,
    /// Channels that must be armed for the trigger.
    pub trigger_channels: u8,
    /// Cycles for which engines of a channel may wait while others run; 0: no limit.
    pub misalign_limit: u64,
    /// Cycles for which a branch waits for its result; 0: no limit.
    pub branch_timeout: u64,
}

/// Value that is added to a frame's accumulator when a spline has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameCommit {
    /// The value after the last one, so that segments that begin at 0 continue without a step.
    #[default]
    Continuous,
    /// The last value, at once even if it was to be added at the end of the pulse: as in JaqalPaw's
    /// emulator, for comparison.
    Emulator,
}

/// Behaviour of amplitudes when a channel underflows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Underrun {
    /// Set to 0 in the next cycle.
    #[default]
    Mute,
    /// Keep the last value.
    Hold,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            channels: facts::CHANNELS,
            rates: Rates::REFERENCE,
            input_fifo: facts::INPUT_FIFO,
            segment_fifo: facts::SEGMENT_FIFO,
            glut_bits: facts::GLUT_ADDRESS_BITS,
            mlut_bits: facts::MLUT_ADDRESS_BITS,
            plut_bits: facts::PLUT_ADDRESS_BITS,
            reads: 1,
            run_format: RunFormat::Counted,
            crosstalk: None,
            frame_commit: FrameCommit::Continuous,
            underrun: Underrun::Mute,
            trigger_strict: false,
            trigger_channels: u8::MAX,
            misalign_limit: 0,
            branch_timeout: 0,
        }
    }
}
