//! The interface between a card and a DDS chip on it.

use serde_json::Value;

use crate::signal::{Ns, Square, Tone};

pub use super::ad9910::Lines;

/// A clock that synchronises chips.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SyncSignal {
    /// Its edges at the source, which are edges of the chips' system clock.
    pub wave: Square,
    /// Delay from the system clock in ps.
    pub skew_ps: f64,
}

impl SyncSignal {
    /// The signal after a further delay in ps.
    pub fn later(self, ps: f64) -> Self {
        let skew_ps = self.skew_ps + ps;
        Self { skew_ps, ..self }
    }
}

/// A DDS chip with a serial port. Returned texts are warnings for the owner of the bench.
pub trait Dds {
    /// Asserts the reset pin.
    fn reset(&mut self, at: Ns);

    /// Begins a message: the chip is selected, or its port is reset.
    fn begin(&mut self);

    /// Ends a message as the chip is deselected; warns if it is incomplete.
    fn end(&mut self) -> Option<String>;

    /// Names of registers that await an update with changed contents.
    fn waiting(&self) -> Vec<&'static str>;

    /// A rising edge of the serial clock with the input bit.
    fn rise(&mut self, at: Ns, bit: bool) -> Option<String>;

    /// A falling edge of the serial clock; returns the output bit, if the chip drives one.
    fn fall(&mut self) -> Option<bool>;

    /// An update: written values take effect.
    fn update(&mut self, at: Ns) -> Option<String>;

    /// The update line falls.
    fn end_update(&mut self, _at: Ns) -> Option<String> {
        None
    }

    /// Sets the reference at the chip's pin in Hz; 0: none.
    fn set_reference(&mut self, at: Ns, hz: f64) -> Option<String>;

    /// Sets the profile pins, if the chip has them.
    fn set_profile(&mut self, _at: Ns, _profile: usize) {}

    /// Sets further pins, if the chip has them.
    fn set_lines(&mut self, _at: Ns, _lines: Lines) {}

    /// Sets the clock at the SYNC_IN pins; `None`: stopped.
    fn set_sync(&mut self, _signal: Option<SyncSignal>) {}

    /// The clock at the SYNC_OUT pins, if it is generated.
    fn sync_out(&self) -> Option<SyncSignal> {
        None
    }

    /// Sets the gain after the output in dB; negative infinity: an open switch.
    fn set_gain(&mut self, at: Ns, gain_db: f64);

    /// The next time after `at` at which the chip acts by itself.
    fn next(&self, at: Ns) -> Option<Ns>;

    /// The time of the next change from the pipeline at the output.
    fn under_way(&self) -> Option<Ns> {
        None
    }

    /// Advances to `at`; returns whether earlier settings have just reached the output.
    fn act(&mut self, at: Ns) -> bool;

    /// Whether the chip reports that its PLL is locked.
    fn is_locked(&self, at: Ns) -> bool;

    /// Whether the chip reports that its ramp is at its end.
    fn is_over(&self, _at: Ns) -> bool {
        false
    }

    /// Whether the chip reports a violation of the synchronisation window.
    fn is_out_of_step(&self) -> bool {
        false
    }

    /// The output tone at time `at`; the chip must already be advanced to it.
    fn tone(&mut self, at: Ns) -> Tone;

    /// Takes the warnings since the last call.
    fn complaints(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Settings at `at`.
    fn report(&self, at: Ns) -> Value;
}
