//! What a card needs of a DDS chip on it, whatever chip that is.

use serde_json::Value;

use crate::signal::{Ns, Square, Tone};

pub use super::ad9910::Lines;

/// A clock for the synchronisation of chips.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SyncSignal {
    /// Its edges where it is made, which are those of the chips' system clock.
    pub wave: Square,
    /// How much later than the system clock it is, in ps.
    pub skew_ps: f64,
}

impl SyncSignal {
    /// As it is where it comes so much later, in ps.
    pub fn later(self, ps: f64) -> Self {
        let skew_ps = self.skew_ps + ps;
        Self { skew_ps, ..self }
    }
}

/// A DDS chip behind a serial port. Texts are complaints for the owner of the bench.
pub trait Dds {
    /// The reset pin.
    fn reset(&mut self, at: Ns);

    /// The chip is selected, or its port is reset: a message begins.
    fn begin(&mut self);

    /// The chip is no longer selected: what is wrong with the message, if it was cut.
    fn end(&mut self) -> Option<String>;

    /// Names of registers to which something else was written, which waits for an update.
    fn waiting(&self) -> Vec<&'static str>;

    /// A rising edge of the serial clock, with the bit that comes.
    fn rise(&mut self, at: Ns, bit: bool) -> Option<String>;

    /// A falling edge: the bit that the chip sends, if it does.
    fn fall(&mut self) -> Option<bool>;

    /// An update: what was written takes effect.
    fn update(&mut self, at: Ns) -> Option<String>;

    /// The update line falls.
    fn end_update(&mut self, _at: Ns) -> Option<String> {
        None
    }

    /// The reference at its pin changes; Hz, 0: none.
    fn set_reference(&mut self, at: Ns, hz: f64) -> Option<String>;

    /// The profile pins change, if the chip has such.
    fn set_profile(&mut self, _at: Ns, _profile: usize) {}

    /// Further pins change, if the chip has such.
    fn set_lines(&mut self, _at: Ns, _lines: Lines) {}

    /// The clock at its pins SYNC_IN changes; none: they rest.
    fn set_sync(&mut self, _signal: Option<SyncSignal>) {}

    /// The clock at its pins SYNC_OUT, if it makes one.
    fn sync_out(&self) -> Option<SyncSignal> {
        None
    }

    /// What is behind its output, in dB; negative infinity: an open switch.
    fn set_gain(&mut self, at: Ns, gain_db: f64);

    /// When it next does something by itself, behind `at`.
    fn next(&self, at: Ns) -> Option<Ns>;

    /// When the next change comes out that is on its way.
    fn under_way(&self) -> Option<Ns> {
        None
    }

    /// It has come to `at`: whether what was set before is at the output for the first time.
    fn act(&mut self, at: Ns) -> bool;

    /// Whether it tells that its PLL has locked.
    fn is_locked(&self, at: Ns) -> bool;

    /// Whether its ramp has come to its end, if the chip tells.
    fn is_over(&self, _at: Ns) -> bool {
        false
    }

    /// Whether it tells that it is not in step with its synchronisation clock.
    fn is_out_of_step(&self) -> bool {
        false
    }

    /// What it gives at `at`, to which it has come.
    fn tone(&mut self, at: Ns) -> Tone;

    /// What else there is to be told since it was asked.
    fn complaints(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Its settings at `at`.
    fn report(&self, at: Ns) -> Value;
}
