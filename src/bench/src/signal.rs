//! Signals between models: levels of pins, tones, light, and streams of photons.

use kairos_contracts::chips::shuttler;
use kairos_pulse::model::Tone as CoreTone;

/// Nanoseconds since power-up.
pub type Ns = u64;

/// The signal on a wire from some time on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Signal {
    /// A digital line; an undriven line is low.
    Level(bool),
    /// A radio frequency.
    Tone(Tone),
    /// A tone of a pulse core in the core's own units, from that time on.
    Core(CoreTone),
    /// A word that the gateware shows of an output of a Shuttler or Songbird.
    Word(u64),
    /// A laser beam.
    Light(Light),
    /// Photons per second, at random times (a Poisson process).
    Photons(f64),
    /// A voltage against ground.
    Volts(f64),
    /// A clock too fast to be modelled edge by edge; `None`: stopped.
    Clock(Option<Square>),
    /// Population of an ion's upper state: recorded only, never wired.
    Population(f64),
}

/// Latency from the outputs of a pulse core's engines to the connector of its converter: the logic
/// from phase to sample (14 cycles of 8 ns), and the serialisers (2 cycles).
pub const CORE_LATENCY: Ns = 16 * 8;

/// Latency from a trigger or a setting of a Shuttler to the connector of the output; a Songbird has the same.
pub const WAVEFORM_LATENCY: Ns = shuttler::LATENCY as Ns * 8;

/// A square wave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Square {
    /// Frequency in Hz.
    pub hz: f64,
    /// The time of a rising edge.
    pub edge: Ns,
}

/// A sine, fully specified from the time at which it arrives.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tone {
    /// Frequency in Hz.
    pub hz: f64,
    /// Power in dBm; negative infinity if it is off.
    pub dbm: f64,
    /// Phase in turns at that time.
    pub turns: f64,
}

impl Tone {
    /// No tone.
    pub const OFF: Self = Self {
        hz: 0.0,
        dbm: f64::NEG_INFINITY,
        turns: 0.0,
    };

    /// Whether `now`, `ns` later, is only the continuation of this tone.
    pub fn goes_on(&self, ns: Ns, now: &Self) -> bool {
        let off = now.turns - self.turns - turns_of(self.hz, ns);
        let same = (off + 0.5).rem_euclid(1.0) - 0.5;
        (self.hz, self.dbm) == (now.hz, now.dbm) && (self.dbm == f64::NEG_INFINITY || same.abs() < 1e-6)
    }
}

/// Light, from the time at which it arrives.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Light {
    /// Frequency offset in Hz from the laser.
    pub hz: f64,
    /// Power as a fraction of the maximum.
    pub power: f64,
    /// Phase in turns at that time.
    pub turns: f64,
}

/// Nanoseconds as seconds.
pub fn seconds(ns: Ns) -> f64 {
    ns as f64 * 1e-9
}

/// The phase in turns, 0 to 1, that a frequency accumulates over a time.
pub fn turns_of(hz: f64, ns: Ns) -> f64 {
    // Whole Hz and the fraction are computed separately, which is exact to 1e-7 turns after hours.
    let whole = hz.trunc() as i128 * i128::from(ns) % 1_000_000_000;
    (whole as f64 * 1e-9 + (hz.fract() * seconds(ns)).fract()).rem_euclid(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_stay_exact_for_hours() {
        assert!((turns_of(80e6, 3) - 0.24).abs() < 1e-12);
        let hour = 3_600_000_000_000;
        assert!((turns_of(80_000_000.25, hour + 3) - 0.24).abs() < 1e-7);
        assert!((turns_of(-1.0, 250_000_000) - 0.75).abs() < 1e-12);
    }
}
