//! The ADF5356 synthesiser: registers, dividers, calibration of the oscillator, and lock.

use kairos_contracts::chips::adf5356::{self as chip, r0, r1, r13, r2, r4, r6, r9};
use serde_json::{json, Value};

use super::reported::named;
use crate::signal::{Ns, Tone};

const REGISTERS: usize = chip::LAST as usize + 1;
/// Time from calibration to lock: the driver waits for 0.2 ms; it depends on the loop filter.
const LOCK: Ns = 200_000;
/// Output powers in dBm, by register value.
const POWERS: [f64; 4] = [-4.0, -1.0, 2.0, 5.0];
/// Maximum reference in Hz: single-ended and differential, and with the doubler.
const FASTEST: [f64; 2] = [250e6, 600e6];
const FASTEST_DOUBLED: f64 = 100e6;

/// One chip.
pub struct Adf5356 {
    registers: [u32; REGISTERS],
    /// In Hz; 0: none.
    reference: f64,
    /// Time of the lock, and the oscillator's frequency.
    lock: Option<(Ns, f64)>,
    /// Gain after the output in dB; negative infinity: an open switch.
    pub gain_db: f64,
    writes: u64,
}

impl Adf5356 {
    /// A chip with a reference in Hz.
    pub fn new(reference: f64) -> Self {
        Self {
            registers: [0; REGISTERS],
            reference,
            lock: None,
            gain_db: f64::NEG_INFINITY,
            writes: 0,
        }
    }

    /// Sets the reference; a change loses the lock.
    pub fn set_reference(&mut self, hz: f64) {
        if hz != self.reference {
            (self.reference, self.lock) = (hz, None);
        }
    }

    /// Frequency of the phase detector in Hz.
    fn detector(&self) -> f64 {
        let word = self.registers[4];
        let doubled = self.reference * f64::from(1 + r4::R_DOUBLER.get(word));
        doubled / f64::from(r4::R_COUNTER.get(word).max(1) * (1 + r4::R_DIV2.get(word)))
    }

    /// Numerator and denominator of the second fraction.
    fn second(&self) -> [u32; 2] {
        let (upper, lower) = (self.registers[13], self.registers[2]);
        [
            r13::FRAC2.get(upper) << 14 | r2::FRAC2.get(lower),
            r13::MOD2.get(upper) << 14 | r2::MOD2.get(lower),
        ]
    }

    /// The oscillator's frequency according to the dividers, in Hz.
    fn asked(&self) -> f64 {
        let [numerator, denominator] = self.second().map(f64::from);
        let fraction = f64::from(r1::FRAC1.get(self.registers[1])) + numerator / denominator.max(1.0);
        let n = f64::from(r0::N.get(self.registers[0]));
        self.detector() * (n + fraction / f64::from(chip::MODULUS1))
    }

    /// Handles a written word. Returns violations of the data sheet.
    pub fn write(&mut self, at: Ns, word: u32) -> Vec<String> {
        let number = (word & 0xf) as usize;
        self.writes += 1;
        if number >= REGISTERS {
            return vec![format!("there is no register {number}")];
        }
        self.registers[number] = word;
        match number {
            0 => self.tune(at, word),
            _ => Vec::new(),
        }
    }

    /// Handles register 0, which ends an update: calibrates the oscillator, or changes only the
    /// dividers.
    fn tune(&mut self, at: Ns, word: u32) -> Vec<String> {
        let (detector, oscillator) = (self.detector(), self.asked());
        let mut warnings = Vec::new();
        let calibrates = r0::AUTOCAL.get(word) != 0;
        self.lock = None;
        if self.reference == 0.0 {
            return vec!["it has no reference: check clk_sel of the card and its clocks here".into()];
        }
        if r0::N.get(word) == 0 {
            // Its registers are loaded before there is a frequency.
            return warnings;
        }
        warnings.extend(self.referred());
        warnings.extend(self.divided(calibrates));
        if detector > chip::HIGHEST_PFD {
            warnings.push(format!(
                "its phase detector runs at {} MHz: at most 125 MHz",
                detector / 1e6
            ));
        }
        if calibrates && detector > chip::CALIBRATION_PFD {
            warnings.push(format!(
                "it is calibrated with {} MHz at the phase detector: at most 75 MHz",
                detector / 1e6
            ));
        }
        let prescaler = r0::PRESCALER.get(word);
        if prescaler == 0 && oscillator > chip::PRESCALED {
            warnings.push(format!(
                "the prescaler 4/5 is for up to 6 GHz, not {:.3} MHz",
                oscillator / 1e6
            ));
        }
        let (n, least) = (
            r0::N.get(word),
            [chip::LEAST_N, chip::LEAST_PRESCALED_N][prescaler as usize],
        );
        if n < least {
            warnings.push(format!(
                "the integer part of its divider is {n}: its prescaler needs at least {least}"
            ));
        }
        if !(chip::LOWEST_VCO..=chip::HIGHEST_VCO).contains(&oscillator) {
            warnings.push(format!(
                "it cannot lock: {:.3} MHz is outside the range of its oscillator, 3400 to 6800 MHz",
                oscillator / 1e6
            ));
        }
        if warnings.is_empty() {
            self.lock = Some((at + LOCK, oscillator));
        }
        warnings
    }

    /// Warnings about the reference.
    fn referred(&self) -> Vec<String> {
        let word = self.registers[4];
        let mut warnings = Vec::new();
        let fastest = FASTEST[r4::REF_MODE.get(word) as usize];
        if self.reference > fastest {
            warnings.push(format!("its reference is at most {} MHz", fastest / 1e6));
        }
        if r4::R_DOUBLER.get(word) != 0 && self.reference > FASTEST_DOUBLED {
            warnings.push("its doubler takes a reference of at most 100 MHz (r_doubler)".into());
        }
        if r4::R_COUNTER.get(word) == 0 {
            warnings.push("its reference divider is 0: at least 1 (r_counter)".into());
        }
        warnings
    }

    /// Warnings about the second fraction and the band selection clock.
    fn divided(&self, calibrates: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        let [numerator, denominator] = self.second();
        if numerator >= denominator {
            warnings.push(format!(
                "its second fraction is {numerator}/{denominator}: it must be less than 1"
            ));
        }
        if calibrates && r9::BAND_DIVIDER.get(self.registers[9]) == 0 {
            warnings.push("the divider of its band selection is 0: at least 1 (band_divider)".into());
        }
        warnings
    }

    /// Whether the PLL is locked.
    pub fn is_locked(&self, at: Ns) -> bool {
        self.lock.is_some_and(|lock| lock.0 <= at)
    }

    /// The time of the lock, if it is after `at`.
    pub fn next(&self, at: Ns) -> Option<Ns> {
        self.lock.map(|lock| lock.0).filter(|lock| *lock > at)
    }

    /// The level of the MUXOUT pin.
    pub fn muxout(&self, at: Ns) -> bool {
        match r4::MUXOUT.get(self.registers[4]) {
            r4::MUXOUT_HIGH => true,
            r4::MUXOUT_DIGITAL_LOCK | r4::MUXOUT_ANALOG_LOCK => self.is_locked(at),
            _ => false,
        }
    }

    /// The tone at output A.
    pub fn tone(&self, at: Ns) -> Tone {
        let outputs = self.registers[6];
        let down = r4::POWER_DOWN.get(self.registers[4]) != 0;
        let Some((_, hz)) = self
            .lock
            .filter(|lock| lock.0 <= at && r6::ENABLE.get(outputs) != 0 && !down)
        else {
            return Tone::OFF;
        };
        if self.gain_db == f64::NEG_INFINITY {
            return Tone::OFF;
        }
        Tone {
            hz: hz / f64::from(1 << r6::RF_DIVIDER.get(outputs).min(6)),
            dbm: POWERS[r6::POWER.get(outputs) as usize] + self.gain_db,
            turns: 0.0,
        }
    }

    /// Settings at `at`.
    pub fn report(&self, at: Ns) -> Value {
        let outputs = self.registers[6];
        json!({
            "chip": "ADF5356",
            "frequency_hz": self.asked() / f64::from(1 << r6::RF_DIVIDER.get(outputs).min(6)),
            "oscillator_hz": self.asked(),
            "detector_hz": self.detector(),
            "locked": self.is_locked(at),
            "output": r6::ENABLE.get(outputs) != 0,
            "power_dbm": POWERS[r6::POWER.get(outputs) as usize],
            "muxout": self.muxout(at),
            "writes": self.writes,
            "registers": named("R", &self.registers),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::vectors;

    /// Words of the vectors, in their order: the chip locks at the frequency that they were computed for.
    #[test]
    fn words_of_the_vectors_give_their_frequency() {
        let mut tuned = 0;
        for vector in vectors("adf5356") {
            let Some(hz) = vector["f"].as_f64() else {
                continue;
            };
            let mut chip = Adf5356::new(vector["refclk"].as_f64().unwrap());
            chip.gain_db = 0.0;
            let words = vector["words"].as_str().unwrap().split_whitespace();
            let words = words.filter_map(|word| u32::from_str_radix(word, 16).ok());
            let warnings: Vec<String> = words.flat_map(|word| chip.write(0, word)).collect();
            assert_eq!(warnings, Vec::<String>::new());
            let tone = chip.tone(LOCK);
            assert!((tone.hz - hz).abs() < 0.1 && chip.is_locked(LOCK), "{hz}: {tone:?}");
            tuned += 1;
        }
        assert_eq!(tuned, 5);
    }
}
