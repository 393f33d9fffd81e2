//! What a core is made with, and what its registers say.

use crate::units::Rates;
use crate::word::RunFormat;
use kairos_contracts::pulse as facts;

/// Constants of a core. [`Config::default`] is the reference core.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Output channels, 1 to 8.
    pub channels: usize,
    /// Clock and samples in a cycle.
    pub rates: Rates,
    /// Words in a channel's input FIFO.
    pub input_fifo: usize,
    /// Segments in a parameter's FIFO.
    pub segment_fifo: usize,
    /// Address bits of the tables that are built; those of the words stay.
    pub glut_bits: usize,
    pub mlut_bits: usize,
    pub plut_bits: usize,
    /// Entries of the memory map that are read in a cycle.
    pub reads: usize,
    /// How many gate ids a word has.
    pub run_format: RunFormat,
    /// Cycles that the complex multipliers of the crosstalk compensation take; none if it is not built.
    pub crosstalk: Option<usize>,
    /// What frames keep of a spline.
    pub frame_commit: FrameCommit,
    /// What amplitudes do when a channel runs out of segments: the bit `underrun_hold`.
    pub underrun: Underrun,
    /// An early trigger is remembered: the bit `trigger_strict`.
    pub trigger_strict: bool,
    /// Channels that must be armed when the trigger comes.
    pub trigger_channels: u8,
    /// Cycles that engines of a channel may wait while others of it run; 0: for ever.
    pub misalign_limit: u64,
    /// Cycles that a branch waits for its result; 0: for ever.
    pub branch_timeout: u64,
}

/// What is added to a frame's accumulator when a spline has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameCommit {
    /// The value behind the last one, so that segments that begin at 0 go on without a step.
    #[default]
    Continuous,
    /// The last value, at once even where the end of the pulse was asked for: as JaqalPaw's
    /// emulator has it, for comparison.
    Emulator,
}

/// What amplitudes do when a channel runs out of segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Underrun {
    /// They become 0 in the next cycle.
    #[default]
    Mute,
    /// They stay.
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
