//! The synthesiser ADF5356: registers, dividers, the oscillator's calibration and the lock.

use kairos_contracts::chips::adf5356::{self as chip, r0, r1, r13, r2, r4, r6};
use serde_json::{json, Value};

use crate::signal::{Ns, Tone};

const REGISTERS: usize = chip::LAST as usize + 1;
/// From the calibration to the lock: the driver waits for 0.2 ms, the loop's filter decides.
const LOCK: Ns = 200_000;
/// Output powers in dBm, by their number.
const POWERS: [f64; 4] = [-4.0, -1.0, 2.0, 5.0];
/// Fastest reference in Hz, single-ended and differential.
const FASTEST: [f64; 2] = [250e6, 600e6];

/// One chip.
pub struct Adf5356 {
    registers: [u32; REGISTERS],
    /// In Hz; 0: none.
    reference: f64,
    /// When it locks, and at which frequency of the oscillator.
    lock: Option<(Ns, f64)>,
    /// Behind the output, in dB; negative infinity: an open switch.
    pub gain_db: f64,
    writes: u64,
}

impl Adf5356 {
    /// With a reference in Hz.
    pub fn new(reference: f64) -> Self {
        Self {
            registers: [0; REGISTERS],
            reference,
            lock: None,
            gain_db: f64::NEG_INFINITY,
            writes: 0,
        }
    }

    /// The reference changes: what was locked is not any more.
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

    /// Frequency of the oscillator that the dividers ask for in Hz.
    fn asked(&self) -> f64 {
        let upper = self.registers[13];
        let second = |high, low: u32| f64::from(high << 14 | low);
        let frac2 = second(r13::FRAC2.get(upper), r2::FRAC2.get(self.registers[2]));
        let mod2 = second(r13::MOD2.get(upper), r2::MOD2.get(self.registers[2])).max(1.0);
        let fraction = f64::from(r1::FRAC1.get(self.registers[1])) + frac2 / mod2;
        let n = f64::from(r0::N.get(self.registers[0]));
        self.detector() * (n + fraction / f64::from(chip::MODULUS1))
    }

    /// A word comes. Texts: what the data sheet forbids.
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

    /// Register 0 ends an update: the oscillator is calibrated, or only the dividers change.
    fn tune(&mut self, at: Ns, word: u32) -> Vec<String> {
        let (detector, oscillator) = (self.detector(), self.asked());
        let mut told = Vec::new();
        let calibrates = r0::AUTOCAL.get(word) != 0;
        self.lock = None;
        if self.reference == 0.0 {
            return vec!["it has no reference: look at clk_sel of the card and its clocks here".into()];
        }
        let fastest = FASTEST[r4::REF_MODE.get(self.registers[4]) as usize];
        if self.reference > fastest {
            told.push(format!("its reference is at most {} MHz", fastest / 1e6));
        }
        if detector > chip::HIGHEST_PFD {
            told.push(format!(
                "its phase detector has {} MHz: at most 125 MHz",
                detector / 1e6
            ));
        }
        if calibrates && detector > chip::CALIBRATION_PFD {
            told.push(format!(
                "it is calibrated with {} MHz at the phase detector: at most 75 MHz",
                detector / 1e6
            ));
        }
        let prescaler = r0::PRESCALER.get(word);
        if prescaler == 0 && oscillator > chip::PRESCALED {
            told.push(format!(
                "the prescaler 4/5 is for up to 6 GHz, not {:.3} MHz",
                oscillator / 1e6
            ));
        }
        let (n, least) = (
            r0::N.get(word),
            [chip::LEAST_N, chip::LEAST_PRESCALED_N][prescaler as usize],
        );
        if n < least {
            told.push(format!(
                "the whole part of its divider is {n}: with its prescaler at least {least}"
            ));
        }
        if !(chip::LOWEST_VCO..=chip::HIGHEST_VCO).contains(&oscillator) {
            told.push(format!(
                "it cannot lock: {:.3} MHz is outside of its oscillator, 3400 to 6800 MHz",
                oscillator / 1e6
            ));
        }
        if told.is_empty() {
            self.lock = Some((at + LOCK, oscillator));
        }
        told
    }

    /// Whether it has locked.
    pub fn is_locked(&self, at: Ns) -> bool {
        self.lock.is_some_and(|lock| lock.0 <= at)
    }

    /// When it locks, behind `at`.
    pub fn next(&self, at: Ns) -> Option<Ns> {
        self.lock.map(|lock| lock.0).filter(|lock| *lock > at)
    }

    /// The level of the pin MUXOUT.
    pub fn muxout(&self, at: Ns) -> bool {
        match r4::MUXOUT.get(self.registers[4]) {
            r4::MUXOUT_HIGH => true,
            r4::MUXOUT_DIGITAL_LOCK | r4::MUXOUT_ANALOG_LOCK => self.is_locked(at),
            _ => false,
        }
    }

    /// What it gives at output A.
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

    /// Its settings at `at`.
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
        })
    }
}
