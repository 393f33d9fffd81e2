//! Errors: the sticky bits read by software.

use super::channel::PARAMETERS;
use kairos_contracts::pulse::{self as facts, CHANNELS};

/// Errors since the last clear.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Bits of `Error`.
    pub errors: u32,
    /// Channels that have underflowed.
    pub underrun_channels: u8,
    /// Parameters of each channel that have underflowed.
    pub underrun_parameters: [u8; CHANNELS],
    /// The cycle of the first underrun or misalignment of each channel.
    pub first_cycle: [Option<u64>; CHANNELS],
    /// Channels with a saturated sample.
    pub saturated: u8,
}

const CYCLES: u64 = (1 << facts::CYCLE_COUNTER_BITS) - 1;
const _: () = assert!(PARAMETERS == 8 && CHANNELS == 8);

impl Status {
    /// Records an underflow: engines of a channel had no further segment in this cycle.
    pub(super) fn underrun(&mut self, channel: usize, parameters: u8, cycle: u64) {
        self.errors |= facts::ERROR_UNDERRUN;
        self.underrun_channels |= 1 << channel;
        self.underrun_parameters[channel] |= parameters;
        self.stopped(channel, cycle);
    }

    /// Records that engines of a channel are misaligned.
    pub(super) fn misaligned(&mut self, channel: usize, cycle: u64) {
        self.errors |= facts::ERROR_MISALIGN;
        self.stopped(channel, cycle);
    }

    /// Records a saturated sample of a channel.
    pub(super) fn saturate(&mut self, channel: usize) {
        self.errors |= facts::ERROR_SATURATED;
        self.saturated |= 1 << channel;
    }

    fn stopped(&mut self, channel: usize, cycle: u64) {
        self.first_cycle[channel].get_or_insert(cycle & CYCLES);
    }
}
