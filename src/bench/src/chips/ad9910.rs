//! The AD9910 DDS: serial port, buffered registers, the PLL of its clock, single tones of the eight
//! profiles, RAM, digital ramp, shift keying, and synchronisation with other chips.
//!
//! Written values stay in buffers until an update; reads return the registers in effect. An update takes effect at an
//! edge of SYNC_CLK and reaches the output after the latency of the pipeline. Not modelled: the parallel port,
//! internally generated updates, RAM phase changes at zero crossings, loading of the rate timers at an update.

use kairos_contracts::chips::ad9910::{self as chip, cfr1, cfr2, instruction, ram_profile};
use serde_json::Value;

mod clock;
mod clocking;
mod course;
mod generators;
mod limits;
mod output;
mod registers;
mod report;
mod sources;

use std::sync::Arc;

use self::clock::Clock;
use self::course::Course;
pub use self::generators::Lines;
use self::generators::{keyed, Player, Ramp};
use self::output::{soonest, Output, Wave};
use self::registers::{register, width, Registers, NO_SYNC};
use super::dds::{Dds, SyncSignal};
use super::shift::{Sent, Shift};
use crate::signal::{Ns, Tone};

/// Number of RAM words.
const RAM: usize = chip::RAM_WORDS as usize;
const RAM_ADDRESS: usize = chip::RAM.address as usize;
const FTW_ADDRESS: usize = chip::FTW.address as usize;
/// Time from setting the PLL to its lock: 1 ms. The data sheet gives no time; it depends on the
/// loop filter.
const LOCK: Ns = 1_000_000;
/// Full scale at the output of an Urukul with its attenuator at 0 dB (its data sheet: 10 dBm).
const FULL_SCALE_DBM: f64 = 10.0;
/// Period of SYNC_CLK above which a clock is none that an Urukul without PLLs is used with.
const SLOWEST_SYNC_NS: f64 = 8.0;
/// Amplitude word of full scale.
const FULL_SCALE: u32 = 0x3fff;
/// Frequency words per turn.
const TURN: f64 = 4_294_967_296.0;

/// State of the serial port within a message.
#[derive(Debug, Clone, Copy, Default)]
enum Port {
    /// Expects the instruction byte.
    #[default]
    Instruction,
    /// Receives data for a register.
    Write(usize),
    /// Sends a register.
    Read(usize, Sent),
}

/// One chip.
pub struct Ad9910 {
    registers: Registers,
    ram: Box<[u32; RAM]>,
    /// The next RAM word of this message.
    ram_at: usize,
    shift: Shift,
    port: Port,
    /// Reference at the chip's pin in Hz; 0: none.
    reference: f64,
    /// Time of the PLL's lock, and its frequency then.
    lock: Option<(Ns, f64)>,
    clock: Clock,
    /// Time of an edge of SYNC_CLK of an unsynchronised chip.
    edge: Ns,
    /// Signal at its SYNC_IN pins.
    sync: Option<SyncSignal>,
    /// The absence of SYNC_IN has been reported.
    alone: bool,
    /// An edge of SYNC_IN was too close to the sampling edge of the clock.
    out_of_step: bool,
    /// The selected profile.
    profile: usize,
    lines: Lines,
    player: Option<Player>,
    ramp: Ramp,
    key: Arc<Course>,
    output: Output,
    /// The output has changed since the last call of `act`.
    fresh: bool,
    due: Option<Ns>,
    /// Gain after its output.
    gain_db: f64,
    /// Number of register writes and of updates.
    counts: [u64; 2],
    /// Time of the last update that changed registers.
    updated: Option<Ns>,
    warnings: Vec<String>,
}

impl Ad9910 {
    /// The state after reset. `edge` is the time of an edge of SYNC_CLK of an unsynchronised chip,
    /// which is random in a real one.
    pub fn new(edge: Ns) -> Self {
        Self {
            registers: Registers::new(),
            ram: Box::new([0; RAM]),
            ram_at: 0,
            shift: Shift::default(),
            port: Port::default(),
            reference: 0.0,
            lock: None,
            clock: Clock::default(),
            edge,
            sync: None,
            alone: false,
            out_of_step: false,
            profile: 0,
            lines: Lines::default(),
            player: None,
            ramp: Ramp::new(),
            key: Arc::new(Course::still(0)),
            output: Output::new(),
            fresh: false,
            due: None,
            gain_db: f64::NEG_INFINITY,
            counts: [0; 2],
            updated: None,
            warnings: Vec::new(),
        }
    }

    /// The word sent when a register is read.
    fn sent(&self, at: Ns, address: usize, width: u32) -> Sent {
        let effective = cfr2::EFFECTIVE_FTW.get(self.registers.word(chip::CFR2)) != 0;
        match address {
            RAM_ADDRESS => Sent::new(self.ram[self.ram_at].into(), width),
            FTW_ADDRESS if effective && self.clock.hz != 0 => {
                let wave = self.output.waves.latest();
                Sent::new(wave.ftw.value(self.clock.cycle(at)).into(), width)
            }
            _ => Sent::new(self.registers.at(address), width),
        }
    }

    /// The address of the first word of a message to or from the RAM: the last of the profile's
    /// range, from which the serial port counts down (unlike playback).
    fn first_word(&self) -> usize {
        ram_profile::END.get(self.registers.profile(self.profile)) as usize
    }

    /// Advances to the next word of a message, one address down in the profile's range.
    fn next_word(&mut self) {
        let start = ram_profile::START.get(self.registers.profile(self.profile)) as usize;
        self.ram_at = match self.ram_at == start {
            true => self.first_word(),
            false => (self.ram_at + RAM - 1) % RAM,
        };
    }

    /// Whether read data appear at SDO, as an Urukul requires; after reset they appear at SDIO.
    fn has_output(&self) -> bool {
        cfr1::SDIO_INPUT_ONLY.get(self.registers.word(chip::CFR1)) != 0
    }

    fn has_ram(&self) -> bool {
        cfr1::RAM_ENABLE.get(self.registers.word(chip::CFR1)) != 0
    }

    /// Starts the generators in a cycle. `clears`: clears the phase accumulator.
    fn start(&mut self, cycle: u64, clears: bool) {
        let registers = &self.registers;
        let from = self.player.as_ref().map(|player| player.address(cycle));
        self.player = self
            .has_ram()
            .then(|| Player::new(registers, &self.ram, self.profile, cycle, from));
        self.ramp.update(registers, self.lines, cycle);
        self.press(cycle, self.key.value(cycle));
        self.apply(cycle, clears);
    }

    /// Starts the amplitude ramp from an amplitude after a change of the OSK pin or its settings.
    fn press(&mut self, cycle: u64, from: i64) {
        self.key = Arc::new(keyed(&self.registers, self.lines, cycle, from));
    }

    /// Applies the registers from a cycle on. `clears`: clears the phase accumulator.
    fn apply(&mut self, cycle: u64, clears: bool) {
        let cfr1 = self.registers.word(chip::CFR1);
        let held = cfr1::PHASE_CLEAR.get(cfr1) != 0;
        let turned = match clears || held {
            true => 0,
            false => self.output.waves.latest().accumulator(cycle),
        };
        let wave = Wave {
            start: cycle,
            turned,
            held,
            ftw: self.frequency(),
            pow: self.phase(),
        };
        let delays = self.latency();
        let level = self.amplitude();
        self.output.waves.push(&self.clock, cycle, delays[0], wave);
        self.output.levels.push(&self.clock, cycle, delays[1], level);
    }

    /// Amplitude as a fraction of full scale, according to the current registers.
    fn asked(&self, at: Ns) -> f64 {
        let word = self.output.levels.latest().value(self.clock.cycle(at));
        f64::from(word) / f64::from(FULL_SCALE)
    }

    /// Schedules the next event.
    fn plan(&mut self, at: Ns) {
        let fresh = [self.output.waves.advance(at), self.output.levels.advance(at)];
        self.fresh |= fresh[0] || fresh[1];
        let audible = self.gain_db != f64::NEG_INFINITY;
        self.due = self.output.next(&self.clock, at, audible);
    }
}

impl Dds for Ad9910 {
    fn reset(&mut self, at: Ns) {
        let fresh = Self::new(self.edge);
        self.registers = fresh.registers;
        (self.shift, self.port) = Default::default();
        self.out_of_step = false;
        self.start_clock(at);
        self.start(self.clock.edge(at), false);
        self.plan(at);
    }

    fn begin(&mut self) {
        (self.shift, self.port) = Default::default();
    }

    fn end(&mut self) -> Option<String> {
        let (count, port) = (self.shift.count, self.port);
        self.begin();
        match port {
            Port::Write(address) if address != RAM_ADDRESS || count != 0 => Some(format!(
                "a message ended after {count} of the {} bits for its register {}: check the chip select and the length",
                width(address).unwrap_or(0),
                register(address).map_or("", |register| register.name),
            )),
            Port::Instruction if count != 0 => Some(format!(
                "a message ended after {count} of the 8 bits of its instruction: check the chip select and the length"
            )),
            _ => None,
        }
    }

    fn waiting(&self) -> Vec<&'static str> {
        self.registers.waiting()
    }

    fn rise(&mut self, at: Ns, bit: bool) -> Option<String> {
        self.shift.take(bit);
        match self.port {
            Port::Instruction => {
                let word = self.shift.message(chip::INSTRUCTION.width)?;
                let address = instruction::REGISTER.get(word) as usize;
                let Some(width) = width(address) else {
                    return Some(format!("there is no register {address:#04x}"));
                };
                self.ram_at = self.first_word();
                self.port = match instruction::READ.get(word) {
                    0 => Port::Write(address),
                    _ => Port::Read(address, self.sent(at, address, width)),
                };
                if address == RAM_ADDRESS && self.has_ram() {
                    return Some("its RAM is written or read while it plays (ram_enable)".into());
                }
                if matches!(self.port, Port::Read(..)) && !self.has_output() {
                    return Some("it is read, but its data output pin is disabled (sdio_input_only)".into());
                }
            }
            // One word after another, until the end of the message.
            Port::Write(RAM_ADDRESS) => {
                self.ram[self.ram_at] = self.shift.message(chip::RAM.width)? as u32;
                self.next_word();
            }
            Port::Read(RAM_ADDRESS, _) => {
                self.shift.message(chip::RAM.width)?;
                self.next_word();
                self.port = Port::Read(RAM_ADDRESS, self.sent(at, RAM_ADDRESS, chip::RAM.width));
            }
            Port::Write(address) => {
                let word = self.shift.message(width(address)?)?;
                self.registers.write(address, word);
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
        let speaks = self.has_output();
        match &mut self.port {
            Port::Read(_, sent) if speaks => Some(sent.take()),
            _ => None,
        }
    }

    fn set_reference(&mut self, at: Ns, hz: f64) -> Option<String> {
        if hz == self.reference {
            return None;
        }
        self.reference = hz;
        let warnings = self.start_clock(at);
        self.plan(at);
        warnings
    }

    fn set_profile(&mut self, at: Ns, profile: usize) {
        if profile == self.profile {
            return;
        }
        self.profile = profile;
        if self.clock.hz == 0 {
            return;
        }
        let cycle = self.clock.edge(at);
        let through = cfr1::INTERNAL_PROFILE.get(self.registers.word(chip::CFR1)) != 0;
        if let Some(player) = self.player.as_ref().filter(|_| !through) {
            let from = Some(player.address(cycle));
            self.player = Some(Player::new(&self.registers, &self.ram, profile, cycle, from));
            self.warnings.extend(limits::complaints(&self.registers, profile));
        }
        self.apply(cycle, false);
        self.plan(at);
    }

    fn set_lines(&mut self, at: Ns, lines: Lines) {
        let before = std::mem::replace(&mut self.lines, lines);
        if before == lines || self.clock.hz == 0 {
            return;
        }
        let cycle = self.clock.edge(at);
        if (before.drctl, before.drhold) != (lines.drctl, lines.drhold) {
            self.ramp.set_lines(&self.registers, before, lines, cycle);
        }
        if before.osk != lines.osk {
            // A rising edge starts at zero, a falling one at the present value (data sheet, "Output
            // shift keying").
            self.press(cycle, if lines.osk { 0 } else { self.key.value(cycle) });
        }
        self.apply(cycle, false);
        self.plan(at);
    }

    fn set_sync(&mut self, signal: Option<SyncSignal>) {
        self.sync = signal;
        self.follow();
        self.validate();
    }

    fn sync_out(&self) -> Option<SyncSignal> {
        self.generated()
    }

    fn update(&mut self, at: Ns) -> Option<String> {
        self.counts[1] += 1;
        self.updated = self.registers.is_waiting().then_some(at);
        let tuned = self
            .registers
            .is_written(usize::from(chip::PROFILE.address) + self.profile);
        let clocked = self.registers.update();
        let warnings = if clocked { self.start_clock(at) } else { None };
        self.follow();
        self.validate();
        self.warnings.extend(limits::complaints(&self.registers, self.profile));
        let cycle = self.clock.edge(at);
        let cfr1 = self.registers.word(chip::CFR1);
        self.start(cycle, cfr1::PHASE_AUTOCLEAR.get(cfr1) != 0);
        self.plan(at);
        // Warnings about settings that are meant to be audible.
        let word = self.output.waves.latest().ftw.value(cycle);
        let tone = self.registers.profile(self.profile);
        self.warnings
            .extend(limits::too_high(tone, word, self.clock.hz).filter(|_| tuned));
        warnings.or_else(|| {
            (tuned && word != 0)
                .then(|| self.registers.unclocked(self.reference))
                .flatten()
        })
    }

    fn end_update(&mut self, at: Ns) -> Option<String> {
        let time = at - self.updated.take()?;
        let short = self.clock.hz != 0 && (time as f64) < self.clock.sync_ns();
        // A driver's updates fit the clock that its init() sets; without the PLL, that is the reference itself.
        let advice = match !self.registers.has_pll() && self.clock.sync_ns() > SLOWEST_SYNC_NS {
            true => "; its PLL is off, as after power-up: initialise it with init()",
            false => "",
        };
        short.then(|| {
            format!(
                "an update of {time} ns: it must last longer than a period of SYNC_CLK, {} ns{advice}",
                self.clock.sync_ns()
            )
        })
    }

    fn set_gain(&mut self, at: Ns, gain_db: f64) {
        if gain_db != self.gain_db {
            self.gain_db = gain_db;
            self.plan(at);
        }
    }

    fn next(&self, at: Ns) -> Option<Ns> {
        soonest(self.lock.map(|lock| lock.0).filter(|lock| *lock > at), self.due)
    }

    fn under_way(&self) -> Option<Ns> {
        soonest(self.output.waves.next(), self.output.levels.next())
    }

    fn act(&mut self, at: Ns) -> bool {
        if let Some((_, hz)) = self.lock.filter(|lock| lock.0 <= at && self.clock.hz == 0) {
            self.run(at, hz);
            self.plan(at);
        }
        if self.due.is_some_and(|due| due <= at) {
            self.plan(at);
            self.fresh = true;
        }
        std::mem::take(&mut self.fresh)
    }

    fn is_locked(&self, at: Ns) -> bool {
        self.lock.is_some_and(|lock| lock.0 <= at)
    }

    fn is_over(&self, at: Ns) -> bool {
        self.clock.hz != 0 && self.ramp.is_over(&self.registers, self.lines, self.clock.cycle(at))
    }

    fn is_out_of_step(&self) -> bool {
        self.out_of_step
    }

    fn tone(&mut self, at: Ns) -> Tone {
        let cycle = self.clock.cycle(at);
        let (level, seen) = self.output.levels.shown(cycle);
        let amplitude = f64::from(level.value(seen)) / f64::from(FULL_SCALE);
        let (wave, seen) = self.output.waves.shown(cycle);
        let word = wave.ftw.value(seen);
        // A constant signal does not pass the transformer at the output.
        let still = word == 0 || self.clock.hz == 0;
        if amplitude == 0.0 || still || self.gain_db == f64::NEG_INFINITY {
            return Tone::OFF;
        }
        Tone {
            hz: f64::from(word) / TURN * self.clock.hz as f64,
            dbm: FULL_SCALE_DBM + 20.0 * (amplitude * self.full_scale()).log10() + self.gain_db,
            turns: wave.turns(seen),
        }
    }

    fn complaints(&mut self) -> Vec<String> {
        // Checked late, as the same update may have started the generator that the chip follows.
        let alone = self.is_left_alone();
        if alone && !self.alone {
            self.warnings.push(NO_SYNC.into());
        }
        self.alone = alone;
        std::mem::take(&mut self.warnings)
    }

    fn report(&self, at: Ns) -> Value {
        self.state(at)
    }
}

#[cfg(test)]
#[path = "ad9910_tests.rs"]
mod tests;

#[cfg(test)]
mod ramp_tests;
