//! What a card needs of a DDS chip on it, whatever chip that is.

use serde_json::Value;

use crate::signal::{Ns, Tone};

/// A DDS chip behind a serial port. Texts are complaints for the owner of the bench.
pub trait Dds {
    /// The reset pin.
    fn reset(&mut self);

    /// The chip is selected, or its port is reset: a message begins.
    fn begin(&mut self);

    /// The chip is no longer selected: what is wrong with the message, if it was cut.
    fn end(&mut self) -> Option<String>;

    /// Names of registers to which something else was written, which waits for an update.
    fn waiting(&self) -> Vec<&'static str>;

    /// A rising edge of the serial clock, with the bit that comes.
    fn rise(&mut self, bit: bool) -> Option<String>;

    /// A falling edge: the bit that the chip sends, if it does.
    fn fall(&mut self) -> Option<bool>;

    /// An update: what was written takes effect.
    fn update(&mut self, at: Ns) -> Option<String>;

    /// The reference at its pin changes; Hz, 0: none.
    fn set_reference(&mut self, at: Ns, hz: f64) -> Option<String>;

    /// The profile pins change, if the chip has such.
    fn set_profile(&mut self, _at: Ns, _profile: usize) {}

    /// What is behind its output, in dB; negative infinity: an open switch.
    fn set_gain(&mut self, gain_db: f64);

    /// When its PLL locks, if that is still to come at `at`.
    fn locks(&self, at: Ns) -> Option<Ns>;

    /// Whether it tells that its PLL has locked.
    fn is_locked(&self, at: Ns) -> bool;

    /// Brings its phase accumulator to `at`.
    fn settle(&mut self, at: Ns);

    /// What it gives from `at` on; it has been settled there.
    fn tone(&self, at: Ns) -> Tone;

    /// Its settings at `at`.
    fn report(&self, at: Ns) -> Value;
}
