//! The DDS AD9910: serial port, registers behind an update, the clock's PLL, single tones of the eight profiles.
//!
//! What is written waits in buffers until an update; what is read are the registers in effect. A tone changes with the update,
//! without the latency of the chip's pipeline. The RAM keeps its words but does not play them. Not here: ramp, shift keying, parallel port, synchronisation of several chips.

use kairos_contracts::chips::ad9910::{self as chip, cfr1, cfr2, cfr3, instruction, profile, ram_profile};
use kairos_contracts::chips::WideRegister;
use serde_json::{json, Value};

use super::dds::Dds;
use super::shift::{Sent, Shift};
use crate::signal::{Ns, Tone};

/// Words of the RAM.
const RAM: usize = 1024;
/// Registers of the serial port: an instruction has five bits for them.
const REGISTERS: usize = 32;
const RAM_ADDRESS: usize = chip::RAM.address as usize;
/// From the setting of the PLL to its lock: 1 ms. The data sheet gives no time, the loop's filter decides.
const LOCK: Ns = 1_000_000;
/// Full scale at the output of an Urukul with its attenuator at 0 dB (its data sheet: 10 dBm).
const FULL_SCALE_DBM: f64 = 10.0;
/// Fastest clock of the core, and fastest reference of the PLL (data sheet, table 1).
const FASTEST: [f64; 2] = [1e9, 60e6];

const NO_CLOCK: &str = "a tone is set but the chip has no clock: look at clk_sel of the card and its clocks here";

/// Where a message stands.
#[derive(Debug, Clone, Copy, Default)]
enum Port {
    /// The first byte.
    #[default]
    Instruction,
    /// Data for a register.
    Write(usize),
    /// A register goes out.
    Read(usize, Sent),
}

/// One chip.
pub struct Ad9910 {
    /// In effect, by address.
    registers: [u64; REGISTERS],
    /// Written, and waiting for an update.
    written: [Option<u64>; REGISTERS],
    ram: Box<[u32; RAM]>,
    /// The next word of the RAM in this message.
    ram_at: usize,
    shift: Shift,
    port: Port,
    /// Reference at the chip's pin in Hz; 0: none.
    reference: f64,
    /// When the PLL locks, or has locked.
    lock: Option<Ns>,
    /// The phase accumulator, in 2^-32 turns, at a time.
    accumulator: (u64, Ns),
    /// The selected profile.
    profile: usize,
    /// What is behind its output.
    gain_db: f64,
    /// Times that a register was written, and updates.
    counts: [u64; 2],
}

/// Width of the register at an address, if there is one.
fn width(address: usize) -> Option<u32> {
    register(address).map(|register| register.width)
}

fn register(address: usize) -> Option<WideRegister> {
    let has = |register: &&WideRegister| {
        let first = usize::from(register.address);
        (first..first + usize::from(register.count)).contains(&address)
    };
    chip::ALL.iter().find(has).copied()
}

impl Ad9910 {
    /// After its reset.
    pub fn new() -> Self {
        let mut registers = [0; REGISTERS];
        for (address, value) in registers.iter_mut().enumerate() {
            *value = register(address).map_or(0, |register| register.reset);
        }
        Self {
            registers,
            written: [None; REGISTERS],
            ram: Box::new([0; RAM]),
            ram_at: 0,
            shift: Shift::default(),
            port: Port::default(),
            reference: 0.0,
            lock: None,
            accumulator: (0, 0),
            profile: 0,
            gain_db: f64::NEG_INFINITY,
            counts: [0; 2],
        }
    }

    /// What goes out when a register is read.
    fn sent(&self, address: usize, width: u32) -> Sent {
        match address {
            RAM_ADDRESS => Sent::new(self.ram[self.ram_at].into(), width),
            _ => Sent::new(self.registers[address], width),
        }
    }

    /// On to the next word of the profile's range in the RAM.
    fn next_word(&mut self) {
        let word = self.tone_word();
        self.ram_at = match self.ram_at == ram_profile::END.get(word) as usize {
            true => ram_profile::START.get(word) as usize,
            false => (self.ram_at + 1) % RAM,
        };
    }

    fn register(&self, register: WideRegister) -> u64 {
        self.registers[usize::from(register.address)]
    }

    /// The PLL is set: it locks, or it cannot.
    fn start_clock(&mut self, at: Ns) -> Option<String> {
        self.lock = None;
        let word = self.register(chip::CFR3);
        if cfr3::PLL_ENABLE.get(word) == 0 || cfr3::PFD_RESET.get(word) != 0 {
            return None;
        }
        if self.reference == 0.0 {
            return Some(
                "its PLL is on but the card has no clock: look at clk_sel of the card and its clocks here".into(),
            );
        }
        let reference = self.divided(word);
        if reference > FASTEST[1] {
            return Some(format!("its PLL takes at most 60 MHz, not {} MHz", reference / 1e6));
        }
        let frequency = reference * cfr3::PLL_N.get(word) as f64;
        let Some([low, high]) = chip::OSCILLATORS.get(cfr3::VCO_SEL.get(word) as usize) else {
            return Some("its PLL has no oscillator selected (vco_sel)".into());
        };
        if !(*low..=*high).contains(&frequency) {
            let [frequency, low, high] = [frequency, *low, *high].map(|hz| hz / 1e6);
            return Some(format!(
                "its PLL cannot lock: {frequency} MHz is outside of its oscillator, {low} to {high} MHz"
            ));
        }
        self.lock = Some(at + LOCK);
        None
    }

    /// The reference behind the divider by two.
    fn divided(&self, cfr3: u64) -> f64 {
        match cfr3::REFCLK_DIVIDER_BYPASS.get(cfr3) {
            0 => self.reference / 2.0,
            _ => self.reference,
        }
    }

    /// Its system clock in Hz; 0 if it has none.
    pub fn clock(&self, at: Ns) -> f64 {
        let word = self.register(chip::CFR3);
        if cfr3::PLL_ENABLE.get(word) == 0 {
            return self.divided(word).min(FASTEST[0]);
        }
        match self.is_locked(at) {
            true => self.divided(word) * cfr3::PLL_N.get(word) as f64,
            false => 0.0,
        }
    }

    fn tone_word(&self) -> u64 {
        self.registers[usize::from(chip::PROFILE.address) + self.profile]
    }

    /// Of full scale.
    fn amplitude(&self) -> f64 {
        match cfr2::ASF_PROFILE_ENABLE.get(self.register(chip::CFR2)) {
            0 => 1.0,
            _ => profile::ASF.get(self.tone_word()) as f64 / 16383.0,
        }
    }
}

impl Dds for Ad9910 {
    fn reset(&mut self) {
        let (reference, gain_db, profile) = (self.reference, self.gain_db, self.profile);
        *self = Self {
            reference,
            gain_db,
            profile,
            ..Self::new()
        };
    }

    fn begin(&mut self) {
        (self.shift, self.port) = Default::default();
    }

    fn end(&mut self) -> Option<String> {
        let (count, port) = (self.shift.count, self.port);
        self.begin();
        match port {
            Port::Write(address) if address != RAM_ADDRESS || count != 0 => Some(format!(
                "a message ended after {count} of the {} bits for its register {}: look at the chip select and the length",
                width(address).unwrap_or(0),
                register(address).map_or("", |register| register.name),
            )),
            Port::Instruction if count != 0 => Some(format!(
                "a message ended after {count} of the 8 bits of its instruction: look at the chip select and the length"
            )),
            _ => None,
        }
    }

    fn waiting(&self) -> Vec<&'static str> {
        let differs = |(address, written): (usize, &Option<u64>)| {
            let register = register(address)?;
            // Whether the next update clears the phase is told behind each one by drivers that track it.
            let kept = match register == chip::CFR1 {
                true => !cfr1::PHASE_AUTOCLEAR.mask(),
                false => u64::MAX,
            };
            (((*written)? ^ self.registers[address]) & kept != 0).then_some(register.name)
        };
        self.written.iter().enumerate().filter_map(differs).collect()
    }

    fn rise(&mut self, bit: bool) -> Option<String> {
        self.shift.take(bit);
        match self.port {
            Port::Instruction => {
                let word = self.shift.message(chip::INSTRUCTION.width)?;
                let address = instruction::REGISTER.get(word) as usize;
                let Some(width) = width(address) else {
                    return Some(format!("there is no register {address:#04x}"));
                };
                self.ram_at = ram_profile::START.get(self.tone_word()) as usize;
                self.port = match instruction::READ.get(word) {
                    0 => Port::Write(address),
                    _ => Port::Read(address, self.sent(address, width)),
                };
            }
            // Word for word until the chip is selected anew.
            Port::Write(RAM_ADDRESS) => {
                self.ram[self.ram_at] = self.shift.message(chip::RAM.width)? as u32;
                self.next_word();
            }
            Port::Read(RAM_ADDRESS, _) => {
                self.shift.message(chip::RAM.width)?;
                self.next_word();
                self.port = Port::Read(RAM_ADDRESS, self.sent(RAM_ADDRESS, chip::RAM.width));
            }
            Port::Write(address) => {
                let word = self.shift.message(width(address)?)?;
                self.written[address] = Some(word);
                self.counts[0] += 1;
                self.port = Port::Instruction;
            }
            Port::Read(address, _) => {
                self.shift.message(width(address)?)?;
                self.port = Port::Instruction;
            }
        }
        None
    }

    fn fall(&mut self) -> Option<bool> {
        match &mut self.port {
            Port::Read(_, sent) => Some(sent.take()),
            _ => None,
        }
    }

    fn set_reference(&mut self, at: Ns, hz: f64) -> Option<String> {
        if hz == self.reference {
            return None;
        }
        self.settle(at);
        self.reference = hz;
        self.start_clock(at)
    }

    fn set_profile(&mut self, at: Ns, profile: usize) {
        self.settle(at);
        self.profile = profile;
    }

    fn update(&mut self, at: Ns) -> Option<String> {
        self.counts[1] += 1;
        self.settle(at);
        let clocked = self.written[usize::from(chip::CFR3.address)].is_some();
        let tuned = self.written[usize::from(chip::PROFILE.address) + self.profile].is_some();
        for (value, written) in self.registers.iter_mut().zip(&mut self.written) {
            *value = written.take().unwrap_or(*value);
        }
        let cfr1 = self.register(chip::CFR1);
        if cfr1::PHASE_AUTOCLEAR.get(cfr1) | cfr1::PHASE_CLEAR.get(cfr1) != 0 {
            self.accumulator.0 = 0;
        }
        if clocked {
            return self.start_clock(at);
        }
        // Settings that are meant to be heard.
        let set = profile::FTW.get(self.tone_word()) != 0 && cfr3::PLL_ENABLE.get(self.register(chip::CFR3)) == 0;
        (tuned && set && self.reference == 0.0).then(|| NO_CLOCK.into())
    }

    fn locks(&self, at: Ns) -> Option<Ns> {
        self.lock.filter(|lock| *lock > at)
    }

    fn is_locked(&self, at: Ns) -> bool {
        self.lock.is_some_and(|lock| lock <= at)
    }

    fn settle(&mut self, at: Ns) {
        let (phase, since) = self.accumulator;
        // An integer number of Hz: exact for as long as it runs.
        let cycles = u128::from(at - since) * (self.clock(at).round() as u128) / 1_000_000_000;
        let turned = u128::from(profile::FTW.get(self.tone_word())) * cycles;
        let mut phase = (u128::from(phase) + turned) as u64 & 0xffff_ffff;
        if cfr1::PHASE_CLEAR.get(self.register(chip::CFR1)) != 0 {
            phase = 0;
        }
        self.accumulator = (phase, at);
    }

    fn tone(&self, at: Ns) -> Tone {
        let (word, clock) = (self.tone_word(), self.clock(at));
        let amplitude = self.amplitude();
        let off = cfr1::POWER_DOWN.get(self.register(chip::CFR1)) & 0b1100 != 0;
        // What does not change does not pass the transformer at the output.
        let still = profile::FTW.get(word) == 0;
        if clock == 0.0 || amplitude == 0.0 || off || still || self.gain_db == f64::NEG_INFINITY {
            return Tone::OFF;
        }
        let phase = self.accumulator.0 as f64 / 4_294_967_296.0 + profile::POW.get(word) as f64 / 65_536.0;
        Tone {
            hz: profile::FTW.get(word) as f64 / 4_294_967_296.0 * clock,
            dbm: FULL_SCALE_DBM + 20.0 * amplitude.log10() + self.gain_db,
            turns: phase.rem_euclid(1.0),
        }
    }

    fn report(&self, at: Ns) -> Value {
        let (word, clock) = (self.tone_word(), self.clock(at));
        let waiting = self.written.iter().any(Option::is_some);
        json!({
            "chip": "AD9910",
            "profile": self.profile,
            "frequency_hz": profile::FTW.get(word) as f64 / 4_294_967_296.0 * clock,
            "phase_turns": profile::POW.get(word) as f64 / 65_536.0,
            "amplitude": self.amplitude(),
            "clock_hz": clock,
            "reference_hz": self.reference,
            "pll_locked": self.is_locked(at),
            "waits_for_update": waiting,
            "writes": self.counts[0],
            "updates": self.counts[1],
        })
    }

    fn set_gain(&mut self, gain_db: f64) {
        self.gain_db = gain_db;
    }
}

impl Default for Ad9910 {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
#[path = "ad9910_tests.rs"]
mod tests;
