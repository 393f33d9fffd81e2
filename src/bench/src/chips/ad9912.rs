//! The AD9912 DDS: byte-wise serial port with descending addresses, buffered registers, the PLL of
//! its clock, and a single tone.
//!
//! The output is that of the DAC; spur reduction, CMOS and HSTL outputs, and the full-scale current
//! are not modelled.

use kairos_contracts::chips::ad9912::{self as chip, instruction, n_divider, phase, pll, power, serial_config};
use kairos_contracts::chips::WideRegister;
use serde_json::{json, Map, Value};

use super::dds::Dds;
use super::shift::{Sent, Shift};
use crate::signal::{Ns, Tone};

/// Addresses of the register map.
const ADDRESSES: usize = 0x50a;
/// Registers up to this one take effect immediately (data sheet, table 12).
const LAST_LIVE: usize = 0x005;
/// Time from setting the PLL to its lock: 1 ms. The data sheet gives no time; it depends on the
/// loop filter.
const LOCK: Ns = 1_000_000;
/// Ranges of the PLL's oscillator in Hz: lower, upper, and both for automatic selection (data
/// sheet, register 0x022).
const RANGES: [[f64; 2]; 3] = [[700e6, 810e6], [900e6, 1000e6], [700e6, 1000e6]];
/// References of the PLL in Hz, without and with the doubler (data sheet, "System clock input").
const REFERENCES: [[f64; 2]; 2] = [[11e6, 200e6], [6e6, 100e6]];
/// Maximum core clock in Hz.
const FASTEST: f64 = 1e9;
/// Full scale at the output of an Urukul with its attenuator at 0 dB.
const FULL_SCALE_DBM: f64 = 10.0;
/// Accumulator steps per turn.
const TURN: f64 = (1u64 << 48) as f64;

/// State of the serial port within a message.
#[derive(Debug, Clone, Copy, Default)]
enum Port {
    #[default]
    Instruction,
    /// Data from this address on downwards; the number of bytes left, `None`: until the end of the
    /// message.
    Write(usize, Option<u64>),
    Read(usize, Option<u64>, Sent),
}

/// One chip.
pub struct Ad9912 {
    /// Values in effect, by address.
    bytes: [u8; ADDRESSES],
    /// Written values that await an update.
    written: Vec<(usize, u8)>,
    shift: Shift,
    port: Port,
    reference: f64,
    lock: Option<Ns>,
    /// The phase accumulator, in 2^-48 turns, at a time.
    accumulator: (u64, Ns),
    gain_db: f64,
    /// There was an update since the last call of `act`.
    fresh: bool,
    counts: [u64; 2],
    warnings: Vec<String>,
}

impl Ad9912 {
    /// The state after reset.
    pub fn new() -> Self {
        let mut bytes = [0; ADDRESSES];
        for register in chip::ALL.iter().filter(|register| register.count > 0) {
            put(&mut bytes, *register, register.reset);
        }
        put(&mut bytes, chip::PART_ID, chip::part_id::PART_AD9912);
        Self {
            bytes,
            written: Vec::new(),
            shift: Shift::default(),
            port: Port::default(),
            reference: 0.0,
            lock: None,
            accumulator: (0, 0),
            gain_db: f64::NEG_INFINITY,
            fresh: false,
            counts: [0; 2],
            warnings: Vec::new(),
        }
    }

    /// The value of a register in effect: its address is that of the highest byte; the others have
    /// lower addresses.
    fn get(&self, register: WideRegister) -> u64 {
        (0..register.width / 8).fold(0, |word, n| {
            word << 8 | u64::from(self.bytes[usize::from(register.address) - n as usize])
        })
    }

    /// The values of all registers in effect, by name.
    fn named(&self) -> Map<String, Value> {
        let known = chip::ALL.iter().filter(|register| register.count > 0);
        known
            .map(|register| (register.name.into(), self.get(*register).into()))
            .collect()
    }

    /// Handles a byte written to an address.
    fn store(&mut self, address: usize, byte: u8) {
        if address > LAST_LIVE {
            self.written.push((address, byte));
            return;
        }
        self.bytes[address] = byte;
        let resets = serial_config::SOFT_RESET.get(byte.into()) != 0;
        if address == usize::from(chip::SERIAL_CONFIG.address) && resets {
            self.reset(0);
            self.bytes[address] = byte & !(serial_config::SOFT_RESET.mask() as u8 | 0x04);
        }
    }

    /// The byte sent for an address.
    fn sent(&self, address: usize) -> Sent {
        Sent::new(self.bytes[address].into(), 8)
    }

    fn is_pll_on(&self) -> bool {
        power::PLL_OFF.get(self.get(chip::POWER)) == 0
    }

    /// The PLL's frequency in Hz; the error is the reason why it cannot lock.
    fn pll(&self) -> Result<f64, String> {
        if self.reference == 0.0 {
            return Err(
                "its PLL is on but the card has no clock: check clk_sel of the card and its clocks here".into(),
            );
        }
        let settings = self.get(chip::PLL);
        let doubler = pll::DOUBLER.get(settings) as usize;
        let ([least, most], mhz) = (REFERENCES[doubler], self.reference / 1e6);
        if !(least..=most).contains(&self.reference) {
            let [least, most] = [least, most].map(|hz| hz / 1e6);
            let how = ["without", "with"][doubler];
            return Err(format!(
                "its PLL takes {least} to {most} MHz {how} the doubler, not {mhz} MHz"
            ));
        }
        let reference = self.reference * (1 + doubler) as f64;
        let frequency = reference * 2.0 * (n_divider::N.get(self.get(chip::N_DIVIDER)) + 2) as f64;
        let range = match pll::VCO_AUTO_RANGE.get(settings) {
            0 => pll::VCO_HIGH_RANGE.get(settings) as usize,
            _ => 2,
        };
        let [low, high] = RANGES[range];
        if pll::CHARGE_PUMP.get(settings) == pll::CHARGE_PUMP_OFF {
            return Err("its PLL cannot lock: its charge pump is off".into());
        }
        match (low..=high).contains(&frequency) {
            true => Ok(frequency),
            false => {
                let [frequency, low, high] = [frequency, low, high].map(|hz| hz / 1e6);
                Err(format!(
                    "its PLL cannot lock: {frequency} MHz is outside the range of its oscillator, {low} to {high} MHz"
                ))
            }
        }
    }

    /// Applies the clock settings: the PLL locks, if it can.
    fn start_clock(&mut self, at: Ns) {
        self.lock = (self.is_pll_on() && self.pll().is_ok()).then_some(at + LOCK);
    }

    /// The system clock in Hz; 0 if there is none.
    fn clock(&self, at: Ns) -> f64 {
        match (self.is_pll_on(), self.lock) {
            (false, _) => self.reference,
            (true, Some(lock)) if lock <= at => self.pll().unwrap_or(0.0),
            _ => 0.0,
        }
    }

    /// Advances the phase accumulator to a time.
    fn advance_phase(&mut self, at: Ns) {
        let (phase, since) = self.accumulator;
        let cycles = u128::from(at - since) * (self.clock(at).round() as u128) / 1_000_000_000;
        let turned = u128::from(self.get(chip::FREQUENCY)) * cycles;
        self.accumulator = ((u128::from(phase) + turned) as u64 & ((1 << 48) - 1), at);
    }

    /// The phase offset in turns.
    fn turns(&self) -> f64 {
        phase::POW.get(self.get(chip::PHASE)) as f64 / 16384.0
    }
}

/// Whether an address belongs to one of a register's bytes.
fn is_of(register: WideRegister, address: usize) -> bool {
    let (last, bytes) = (usize::from(register.address), register.width as usize / 8);
    address <= last && address + bytes > last
}

fn put(bytes: &mut [u8; ADDRESSES], register: WideRegister, word: u64) {
    for n in 0..register.width / 8 {
        bytes[usize::from(register.address) - n as usize] = (word >> (register.width - 8 - 8 * n)) as u8;
    }
}

impl Dds for Ad9912 {
    fn reset(&mut self, _at: Ns) {
        let (reference, gain_db) = (self.reference, self.gain_db);
        *self = Self {
            reference,
            gain_db,
            ..Self::new()
        };
    }

    fn begin(&mut self) {
        (self.shift, self.port) = Default::default();
    }

    fn waiting(&self) -> Vec<&'static str> {
        let there = chip::ALL.iter().filter(|register| register.count > 0);
        let waits = there.filter(|register| self.written.iter().any(|(address, _)| is_of(**register, *address)));
        waits.map(|register| register.name).collect()
    }

    fn rise(&mut self, _at: Ns, bit: bool) -> Option<String> {
        self.shift.take(bit);
        let after = |left: Option<u64>| left.map(|left| left - 1);
        match self.port {
            Port::Instruction => {
                let word = self.shift.message(chip::INSTRUCTION.width)?;
                let address = instruction::REGISTER.get(word) as usize;
                let length = instruction::LENGTH.get(word);
                let left = (length != instruction::LENGTH_STREAM).then_some(length + 1);
                if address >= ADDRESSES {
                    return Some(format!("there is no register {address:#05x}"));
                }
                if instruction::READ.get(word) == 0 {
                    self.port = Port::Write(address, left);
                    return None;
                }
                self.port = Port::Read(address, left, self.sent(address));
                if serial_config::SDO_ACTIVE.get(self.get(chip::SERIAL_CONFIG)) == 0 {
                    return Some("it is read, but its data output pin is disabled (sdo_active)".into());
                }
            }
            Port::Write(_, Some(0)) | Port::Read(_, Some(0), _) => {}
            Port::Write(address, left) => {
                let byte = self.shift.message(8)? as u8;
                self.counts[0] += 1;
                self.port = Port::Write(address.saturating_sub(1), after(left));
                self.store(address, byte);
            }
            Port::Read(address, left, _) => {
                self.shift.message(8)?;
                let next = address.saturating_sub(1);
                self.port = Port::Read(next, after(left), self.sent(next));
            }
        }
        None
    }

    fn fall(&mut self) -> Option<bool> {
        let speaks = serial_config::SDO_ACTIVE.get(self.get(chip::SERIAL_CONFIG)) != 0;
        match &mut self.port {
            Port::Read(_, left, sent) if speaks && *left != Some(0) => Some(sent.take()),
            _ => None,
        }
    }

    fn update(&mut self, at: Ns) -> Option<String> {
        self.counts[1] += 1;
        self.fresh = true;
        self.advance_phase(at);
        let written = std::mem::take(&mut self.written);
        let has = |registers: &[WideRegister]| {
            let of_any = |address| registers.iter().any(|register| is_of(*register, address));
            written.iter().any(|(address, _)| of_any(*address))
        };
        let (clocked, tuned) = (has(&[chip::POWER, chip::N_DIVIDER, chip::PLL]), has(&[chip::FREQUENCY]));
        for (address, byte) in &written {
            self.bytes[*address] = *byte;
        }
        if clocked {
            self.start_clock(at);
        }
        if tuned && self.get(chip::FREQUENCY) > 1 << 47 {
            let hz = self.get(chip::FREQUENCY) as f64 / TURN * self.clock(at);
            self.warnings.push(format!(
                "its frequency, {:.3} MHz, is above half of its clock",
                hz / 1e6
            ));
        }
        // During reconfiguration the clock may be invalid; a new frequency is meant to be audible.
        match tuned && self.is_pll_on() {
            true => self.pll().err(),
            false if tuned && self.reference == 0.0 => {
                Some("a tone is set but the chip has no clock: check clk_sel of the card and its clocks here".into())
            }
            false if tuned && self.reference > FASTEST => {
                Some(format!("its clock is at most 1 GHz, not {} MHz", self.reference / 1e6))
            }
            false => None,
        }
    }

    fn end(&mut self) -> Option<String> {
        let (count, port) = (self.shift.count, self.port);
        self.begin();
        let what = match port {
            Port::Instruction if count != 0 => "within its instruction",
            Port::Write(_, Some(0)) if count == 0 => return None,
            Port::Write(_, Some(0)) => "later than its instruction says",
            Port::Write(_, Some(_)) => "before its last byte",
            Port::Write(_, None) if count != 0 => "within a byte",
            _ => return None,
        };
        Some(format!("a message ended {what}: check the chip select and the length"))
    }

    fn set_reference(&mut self, at: Ns, hz: f64) -> Option<String> {
        if hz != self.reference {
            self.advance_phase(at);
            self.reference = hz;
            self.start_clock(at);
        }
        None
    }

    fn set_gain(&mut self, _at: Ns, gain_db: f64) {
        self.gain_db = gain_db;
    }

    fn next(&self, at: Ns) -> Option<Ns> {
        self.lock.filter(|lock| *lock > at)
    }

    fn act(&mut self, at: Ns) -> bool {
        self.advance_phase(at);
        std::mem::take(&mut self.fresh)
    }

    /// The chip has no pin that reports the lock.
    fn is_locked(&self, _at: Ns) -> bool {
        false
    }

    fn tone(&mut self, at: Ns) -> Tone {
        self.advance_phase(at);
        let (clock, word) = (self.clock(at), self.get(chip::FREQUENCY));
        let settings = self.get(chip::POWER);
        let off = power::ALL_OFF.get(settings) | power::DIGITAL_OFF.get(settings) != 0;
        if clock == 0.0 || word == 0 || off || self.gain_db == f64::NEG_INFINITY {
            return Tone::OFF;
        }
        Tone {
            hz: word as f64 / TURN * clock,
            dbm: FULL_SCALE_DBM + self.gain_db,
            turns: (self.accumulator.0 as f64 / TURN + self.turns()).rem_euclid(1.0),
        }
    }

    fn complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    fn report(&self, at: Ns) -> Value {
        let clock = self.clock(at);
        json!({
            "chip": "AD9912",
            "frequency_hz": self.get(chip::FREQUENCY) as f64 / TURN * clock,
            "phase_turns": self.turns(),
            "clock_hz": clock,
            "reference_hz": self.reference,
            "waits_for_update": !self.written.is_empty(),
            "writes": self.counts[0],
            "updates": self.counts[1],
            "registers": self.named(),
        })
    }
}

impl Default for Ad9912 {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
#[path = "ad9912_tests.rs"]
mod tests;
