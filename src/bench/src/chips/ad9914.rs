//! The AD9914 DDS with its 16-bit parallel port: buffered registers, a single tone from profile 0
//! or the programmable modulus, calibration of the DAC.
//!
//! Ramps, the other profiles, the PLL, and the latency of the pipeline are not modelled.

use kairos_contracts::chips::ad9914::{self as chip, cfr1, cfr2, cfr4, profile_output, usr0};
use kairos_contracts::chips::Register;
use serde_json::{json, Map, Value};

use crate::signal::{Ns, Tone};

/// Number of registers.
const REGISTERS: usize = 0x1c;
/// The registers that the driver uses, with names for messages.
const NAMED: [(&str, Register); 9] = [
    ("CFR1", chip::CFR1),
    ("CFR2", chip::CFR2),
    ("CFR4", chip::CFR4),
    ("MODULUS_FTW", chip::MODULUS_FTW),
    ("MODULUS_DENOMINATOR", chip::MODULUS_DENOMINATOR),
    ("MODULUS_NUMERATOR", chip::MODULUS_NUMERATOR),
    ("PROFILE_FREQUENCY", chip::PROFILE_FREQUENCY),
    ("PROFILE_OUTPUT", chip::PROFILE_OUTPUT),
    ("USR0", chip::USR0),
];
/// Full scale at the output.
const FULL_SCALE_DBM: f64 = 0.0;
/// Accumulator bits below those of a frequency word, for the fraction of the modulus.
const FINE: u32 = 64;
/// Mask of the accumulator, which has 32 + `FINE` bits.
const TURN: u128 = (1 << (32 + FINE)) - 1;

/// State of the DAC's calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dac {
    Raw,
    /// Started at this time.
    Calibrating(Ns),
    Calibrated,
}

/// One chip.
pub struct Ad9914 {
    clock: f64,
    /// Whether SYNC_IN is connected.
    synchronised: bool,
    /// Values in effect, and written values.
    active: [u32; REGISTERS],
    written: [u32; REGISTERS],
    /// Whether each register was written since the last update.
    waits: [bool; REGISTERS],
    was_reset: bool,
    dac: Dac,
    /// The phase accumulator, and its time.
    accumulator: (u128, Ns),
    counts: [u64; 2],
}

impl Ad9914 {
    /// The state after power-up, with a system clock in Hz; 0: none.
    pub fn new(clock: f64, synchronised: bool) -> Self {
        let mut active = [0; REGISTERS];
        for (_, register) in NAMED {
            active[usize::from(register.address)] = register.reset;
        }
        Self {
            clock,
            synchronised,
            active,
            written: active,
            waits: [false; REGISTERS],
            was_reset: false,
            dac: Dac::Raw,
            accumulator: (0, 0),
            counts: [0; 2],
        }
    }

    /// Handles a rising edge of MASTER_RESET.
    pub fn reset(&mut self, at: Ns) {
        let counts = self.counts;
        *self = Self::new(self.clock, self.synchronised);
        (self.was_reset, self.counts, self.accumulator.1) = (true, counts, at);
    }

    /// Handles a write at the port. Returns a warning about invalid addresses.
    pub fn write(&mut self, address: u32, word: u32) -> Option<String> {
        self.counts[0] += 1;
        let (number, half) = ((address / chip::ADDRESSES) as usize, address % chip::ADDRESSES);
        if number >= REGISTERS {
            return Some(format!("there is no register at {address:#04x}"));
        }
        let shift = match half {
            chip::LOWER_HALF => 0,
            chip::UPPER_HALF => 16,
            _ => {
                return Some(format!(
                    "a word of 16 bits for {address:#04x}: such words have odd addresses"
                ))
            }
        };
        let register = &mut self.written[number];
        *register = *register & !(0xffff << shift) | (word & 0xffff) << shift;
        self.waits[number] = true;
        None
    }

    /// Handles a rising edge of IO_UPDATE: written values take effect.
    pub fn update(&mut self, at: Ns) -> Vec<String> {
        self.counts[1] += 1;
        self.advance_phase(at);
        let before = self.active;
        self.active = self.written;
        let tuned = [chip::PROFILE_FREQUENCY, chip::MODULUS_FTW]
            .iter()
            .any(|register| self.waits[usize::from(register.address)]);
        self.waits = [false; REGISTERS];
        if cfr1::PHASE_AUTOCLEAR.get(self.get(chip::CFR1)) != 0 || self.is_cleared() {
            self.accumulator.0 = 0;
        }
        let mut warnings = Vec::new();
        if !self.was_reset {
            self.was_reset = true; // once is enough
            warnings.push("it was not reset since power-up: its registers may hold anything".into());
        }
        warnings.extend(self.calibrate(at, before[usize::from(chip::CFR4.address)]));
        if tuned {
            warnings.extend(self.tuned());
        }
        warnings
    }

    /// Names of registers that were written and await an update.
    pub fn waiting(&self) -> Vec<&'static str> {
        let waits = NAMED
            .iter()
            .filter(|(_, register)| self.waits[usize::from(register.address)]);
        waits.map(|(name, _)| *name).collect()
    }

    fn get(&self, register: Register) -> u32 {
        self.active[usize::from(register.address)]
    }

    fn is_cleared(&self) -> bool {
        cfr1::PHASE_CLEAR.get(self.get(chip::CFR1)) != 0
    }

    /// Starts or ends the calibration of the DAC if an update changes its enable bit.
    fn calibrate(&mut self, at: Ns, before: u32) -> Option<String> {
        let [was, is] = [before, self.get(chip::CFR4)].map(|word| cfr4::DAC_CAL_ENABLE.get(word) != 0);
        match (was, is, self.dac) {
            (false, true, _) if usr0::CAL_WITH_SYNC.get(self.get(chip::USR0)) != 0 && !self.synchronised => {
                self.dac = Dac::Raw;
                Some("its calibration waits for a signal at SYNC_IN, which is not connected (sync_in)".into())
            }
            (false, true, _) => {
                self.dac = Dac::Calibrating(at);
                None
            }
            (true, false, Dac::Calibrating(since)) => {
                // Without a clock it never ends.
                let takes = f64::from(chip::CALIBRATION_CYCLES) / self.clock * 1e6;
                let took = (at - since) as f64 / 1e3;
                self.dac = if took < takes { Dac::Raw } else { Dac::Calibrated };
                let cut = self.dac == Dac::Raw && self.clock != 0.0;
                cut.then(|| format!("the calibration of its DAC was stopped after {took} us: it takes {takes:.1} us"))
            }
            _ => None,
        }
    }

    /// Warning about a tone that has been set.
    fn tuned(&self) -> Option<String> {
        if self.clock == 0.0 {
            return Some("a tone is set but the chip has no clock: check its clock here (clock_hz)".into());
        }
        if !(chip::SMALLEST_CLOCK..=chip::LARGEST_CLOCK).contains(&self.clock) {
            return Some(format!(
                "its clock is between 500 MHz and 3.5 GHz, not {} MHz",
                self.clock / 1e6
            ));
        }
        if self.dac != Dac::Calibrated {
            return Some("a tone is set, but its DAC has not been calibrated (init)".into());
        }
        if self.is_ramping() {
            return Some("its ramp generator is on: ramps are not modelled".into());
        }
        let half = self.word() >> (31 + FINE) != 0;
        half.then(|| "its frequency is above half of its clock".into())
    }

    fn is_by_modulus(&self) -> bool {
        cfr2::MODULUS_ENABLE.get(self.get(chip::CFR2)) != 0 && self.is_ramping_on()
    }

    fn is_ramping_on(&self) -> bool {
        cfr2::DRG_ENABLE.get(self.get(chip::CFR2)) != 0
    }

    fn is_ramping(&self) -> bool {
        self.is_ramping_on() && cfr2::MODULUS_ENABLE.get(self.get(chip::CFR2)) == 0
    }

    /// The accumulator's increment per clock cycle.
    fn word(&self) -> u128 {
        if self.is_by_modulus() {
            let [whole, a, b] = [chip::MODULUS_FTW, chip::MODULUS_NUMERATOR, chip::MODULUS_DENOMINATOR]
                .map(|register| u128::from(self.get(register)));
            return (whole << FINE) + (a << FINE).checked_div(b).unwrap_or(0);
        }
        match cfr2::PROFILE_ENABLE.get(self.get(chip::CFR2)) {
            0 => 0,
            _ => u128::from(self.get(chip::PROFILE_FREQUENCY)) << FINE,
        }
    }

    /// Advances the phase accumulator to a time.
    fn advance_phase(&mut self, at: Ns) {
        let (phase, since) = self.accumulator;
        let cycles = |at: Ns| u128::from(at) * self.clock.round() as u128 / 1_000_000_000;
        let turned = self.word().wrapping_mul(cycles(at) - cycles(since));
        let phase = if self.is_cleared() {
            0
        } else {
            phase.wrapping_add(turned) & TURN
        };
        self.accumulator = (phase, at);
    }

    fn frequency(&self) -> f64 {
        self.word() as f64 / (TURN as f64) * self.clock
    }

    /// The amplitude as a fraction of full scale.
    fn amplitude(&self) -> f64 {
        let settings = self.get(chip::CFR1);
        match (cfr1::OSK_ENABLE.get(settings), cfr1::EXTERNAL_OSK.get(settings)) {
            (0, _) => 1.0,
            // External OSK: the pin, which is not driven
            (_, 1) => 0.0,
            _ => f64::from(profile_output::ASF.get(self.get(chip::PROFILE_OUTPUT))) / 4095.0,
        }
    }

    fn turns(&self) -> f64 {
        f64::from(profile_output::POW.get(self.get(chip::PROFILE_OUTPUT))) / 65536.0
    }

    /// The output tone at a time.
    pub fn tone(&mut self, at: Ns) -> Tone {
        self.advance_phase(at);
        let settings = self.get(chip::CFR1);
        let off = cfr1::DIGITAL_POWER_DOWN.get(settings)
            | cfr1::DAC_POWER_DOWN.get(settings)
            | cfr1::REFCLK_POWER_DOWN.get(settings);
        let amplitude = self.amplitude();
        if self.clock == 0.0 || self.word() == 0 || off != 0 || amplitude == 0.0 {
            return Tone::OFF;
        }
        Tone {
            hz: self.frequency(),
            dbm: FULL_SCALE_DBM + 20.0 * amplitude.log10(),
            turns: (self.accumulator.0 as f64 / TURN as f64 + self.turns()).rem_euclid(1.0),
        }
    }

    /// Settings.
    pub fn report(&self) -> Value {
        let modulus = [chip::MODULUS_FTW, chip::MODULUS_NUMERATOR, chip::MODULUS_DENOMINATOR];
        json!({
            "chip": "AD9914",
            "frequency_hz": self.frequency(),
            "amplitude": self.amplitude(),
            "phase_turns": self.turns(),
            "clock_hz": self.clock,
            "ftw": self.get(chip::PROFILE_FREQUENCY),
            "modulus": modulus.map(|register| self.get(register)),
            "calibrated": self.dac == Dac::Calibrated,
            "waits_for_update": self.waits.contains(&true),
            "writes": self.counts[0],
            "updates": self.counts[1],
            "registers": NAMED.map(|(name, register)| (name.into(), self.get(register).into())).into_iter().collect::<Map<String, Value>>(),
        })
    }
}

#[cfg(test)]
#[path = "ad9914_tests.rs"]
mod tests;
