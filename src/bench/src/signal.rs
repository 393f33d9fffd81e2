//! What passes between models: levels of pins, tones, light, and streams of photons.

use kairos_pulse::model::Tone as CoreTone;

/// Nanoseconds since power-up.
pub type Ns = u64;

/// What a wire carries from some time on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Signal {
    /// A digital line; one that nobody drives is low.
    Level(bool),
    /// A radio frequency.
    Tone(Tone),
    /// A tone of a pulse core in its own units, from that time on.
    Core(CoreTone),
    /// A laser beam.
    Light(Light),
    /// Photons per second, at random times.
    Photons(f64),
    /// A voltage against ground.
    Volts(f64),
    /// A clock, too fast to be told of edge by edge; none: it stands still.
    Clock(Option<Square>),
    /// How much of an ion is in its upper state: for the record, no wire takes it.
    Population(f64),
}

/// From what the engines of a pulse core show to the connector of its converter: the logic from
/// phase to sample (14 cycles of 8 ns), and its serialisers (2).
pub const CORE_LATENCY: Ns = 16 * 8;

/// A square wave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Square {
    /// Frequency in Hz.
    pub hz: f64,
    /// The time of a rising edge.
    pub edge: Ns,
}

/// A sine, in full from the time on at which it comes.
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
    /// Silence.
    pub const OFF: Self = Self {
        hz: 0.0,
        dbm: f64::NEG_INFINITY,
        turns: 0.0,
    };

    /// Whether it has only gone on, if so much later it is `now`.
    pub fn goes_on(&self, ns: Ns, now: &Self) -> bool {
        let off = now.turns - self.turns - turns_of(self.hz, ns);
        let same = (off + 0.5).rem_euclid(1.0) - 0.5;
        (self.hz, self.dbm) == (now.hz, now.dbm) && (self.dbm == f64::NEG_INFINITY || same.abs() < 1e-6)
    }
}

/// Light, from the time on at which it comes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Light {
    /// Frequency in Hz, less that of the laser.
    pub hz: f64,
    /// Power as a fraction of what there is at most.
    pub power: f64,
    /// Phase in turns at that time.
    pub turns: f64,
}

/// Nanoseconds as seconds.
pub fn seconds(ns: Ns) -> f64 {
    ns as f64 * 1e-9
}

/// The phase in turns, 0 to 1, that a frequency has collected over a time.
pub fn turns_of(hz: f64, ns: Ns) -> f64 {
    // Whole Hz and whole seconds apart, so that it is exact to 1e-7 turns after hours.
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
