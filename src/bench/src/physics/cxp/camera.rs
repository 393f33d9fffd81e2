//! The camera: a sensor behind CoaXPress.
//!
//! It is exposed by the rising edge of LinkTrigger 0, a fixed time after the event, by a pin, or by itself; a frame is
//! sent directly after its exposure, once the grabber has configured the connection. Nothing is sent
//! while there is nothing to say: idle words, which a transceiver keeps for itself, would cost time. Words arrive only
//! while the grabber receives at the camera's rate, at most one per cycle: at 6.25 Gbit/s as at 5.

use std::collections::VecDeque;

use kairos_contracts::chips::coaxpress as facts;
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

use super::line::{Arrived, Command, Line, CONTROL, IDLE};
use super::packets::{answer, image, DEPTHS};
use super::registers::{Rates, Registers, FORMAT, FRAMES};
use crate::model::{Change, Model, Outbox};
use crate::physics::sensor::{Options, Sensor};
use crate::signal::{Ns, Signal};

/// Names of the lines from the transceiver to the grabber: the bits of a word's four characters, their control bits, a
/// word arrives, words arrive at this rate.
#[rustfmt::skip]
pub const LINES: [&str; 38] = [
    "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7",
    "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15",
    "d16", "d17", "d18", "d19", "d20", "d21", "d22", "d23",
    "d24", "d25", "d26", "d27", "d28", "d29", "d30", "d31",
    "k0", "k1", "k2", "k3",
    "valid", "lock",
];
const CONTROLS: usize = 32;
const VALID: usize = 36;
const LOCK: usize = 37;
/// Lines from the grabber, with the numbers of the camera's inputs: that to the camera, and the grabber's rate.
pub const UPLINKS: [(&str, usize); 4] = [("tx", 0), ("rate0", 2), ("rate1", 3), ("rate2", 4)];
/// The input of a trigger.
pub const TRIGGER: usize = 1;
/// Inputs before those of photons.
pub const INPUTS: usize = 5;
/// Duration of a cycle, in which at most one word arrives.
const CYCLE: Ns = 8;
/// Bits of a word on the line.
const WORD_BITS: Ns = 40;
/// From a trigger's event to the exposure: longer than the longest way of its packet.
const TRIGGER_LATENCY: Ns = 4_000;
/// From the end of a command to the answer.
const ANSWER_LATENCY: Ns = 10_000;
/// Duration of a change of the format, which is announced.
const FORMAT_MS: u32 = 5;

/// The camera.
pub struct Camera {
    sensor: Sensor,
    registers: Registers,
    line: Line,
    /// Times of exposures that triggers have started.
    exposures: VecDeque<Ns>,
    /// Packets to be sent, with the earliest time of each.
    packets: VecDeque<(Ns, Vec<u16>)>,
    /// Number of the rate at which the camera is, and of the grabber's.
    rate: usize,
    received: usize,
    /// The time from which on the camera has the rate that its registers say.
    changes: Option<Ns>,
    /// End of what has been sent.
    busy: Ns,
    levels: [bool; LINES.len()],
    /// The grabber has configured the connection.
    configured: bool,
    triggers: [u64; 4],
    commands: u64,
    spoilt: u64,
}

impl Camera {
    /// A camera after power-up. depth: bits of a pixel.
    pub fn new(options: Options, depth: u32, rates: Rates, random: Pcg64Mcg) -> Self {
        let place = DEPTHS.iter().position(|known| *known == depth).unwrap_or_default();
        let registers = Registers::new(options.size, facts::MONO8 + place as u32, rates);
        Self {
            sensor: Sensor::new(options, random),
            registers,
            line: Line::default(),
            exposures: VecDeque::new(),
            packets: VecDeque::new(),
            rate: rates.discovery,
            received: 0,
            changes: Some(0),
            busy: 0,
            levels: [false; LINES.len()],
            configured: false,
            triggers: [0; 4],
            commands: 0,
            spoilt: 0,
        }
    }

    fn depth(&self) -> u32 {
        let place = self.registers.get(FORMAT) - facts::MONO8;
        DEPTHS[place as usize]
    }

    /// Executes a command, and queues its answer.
    fn execute(&mut self, at: Ns, command: &Command) {
        self.commands += 1;
        let ready = at + ANSWER_LATENCY;
        if command.operation == 0 {
            return match self.registers.read(command.address, command.length) {
                Ok(data) => self.answer(ready, command, facts::ANSWER_DATA, Some(&data)),
                Err(code) => self.answer(ready, command, code, None),
            };
        }
        if command.operation != 1 {
            return self.answer(ready, command, facts::ANSWER_OPERATION, None);
        }
        let done = self.registers.write(command.address, &command.data);
        let code = done.err().unwrap_or(facts::ANSWER_DONE);
        match (command.address, code) {
            (facts::CONNECTION_RESET, _) => {
                self.configured = false;
                self.packets.clear();
                self.changes = Some(at);
            }
            (FORMAT, facts::ANSWER_DONE) => {
                let time = FORMAT_MS.to_be_bytes();
                self.answer(ready, command, facts::ANSWER_WAIT, Some(&time));
                self.answer(ready + Ns::from(FORMAT_MS) * 1_000_000, command, code, None);
            }
            _ => {
                self.configured |= (command.address, code) == (facts::CONNECTION_CONFIG, facts::ANSWER_DONE);
                self.answer(ready, command, code, None);
            }
        }
    }

    fn answer(&mut self, ready: Ns, command: &Command, code: u32, data: Option<&[u8]>) {
        self.packets.push_back((ready, answer(command.tag, code, data)));
    }

    /// The time at which the next packet begins.
    fn departs(&self) -> Option<Ns> {
        let (ready, _) = self.packets.front()?;
        Some((*ready).max(self.busy).next_multiple_of(CYCLE))
    }

    /// The time that words take.
    fn duration(&self, words: usize) -> Ns {
        let mbit_s = Ns::from(facts::RATES[self.rate][0]);
        let exact = (words as Ns * WORD_BITS * 1000).div_ceil(mbit_s);
        exact.max(words as Ns * CYCLE).next_multiple_of(CYCLE)
    }

    /// Shows whether words arrive at the grabber's rate.
    fn lock(&mut self, out: &mut Outbox) {
        let lock = self.rate == self.received;
        if lock != self.levels[LOCK] {
            self.levels[LOCK] = lock;
            out.send(LOCK, Signal::Level(lock));
        }
    }

    /// Sends a packet from now on.
    fn send(&mut self, at: Ns, packet: &[u16], out: &mut Outbox) {
        let (words, _) = packet.as_chunks::<4>();
        self.busy = at + self.duration(words.len());
        if !self.levels[LOCK] {
            return;
        }
        let mut change = |levels: &mut [bool], line: usize, delay: Ns, level: bool| {
            if levels[line] != level {
                levels[line] = level;
                out.send_after(delay, line, Signal::Level(level));
            }
        };
        let mut ends = 0;
        for (n, word) in words.iter().enumerate().filter(|(_, word)| **word != IDLE) {
            let delay = self.duration(n);
            if delay > ends {
                change(&mut self.levels, VALID, ends, false);
            }
            for (place, character) in word.iter().enumerate() {
                for bit in 0..8 {
                    change(&mut self.levels, 8 * place + bit, delay, character >> bit & 1 != 0);
                }
                change(&mut self.levels, CONTROLS + place, delay, character & CONTROL != 0);
            }
            change(&mut self.levels, VALID, delay, true);
            ends = delay + CYCLE;
        }
        change(&mut self.levels, VALID, ends, false);
    }

    /// Queues the image of the sensor.
    fn send_image(&mut self, at: Ns) {
        if !self.configured {
            return;
        }
        let depth = self.depth();
        let most = self.registers.get(facts::STREAM_PACKET_SIZE) as usize;
        let characters = image(self.sensor.rows(), self.sensor.size(), depth, most);
        self.sensor
            .sends_until(at.max(self.busy) + self.duration(characters.len() / 4));
        self.registers.set(FRAMES, self.registers.get(FRAMES).wrapping_add(1));
        self.packets.push_back((at, characters));
    }

    fn take(&mut self, at: Ns, arrived: Arrived, out: &mut Outbox) {
        match arrived {
            Arrived::Trigger { number, event } => {
                self.triggers[number] += 1;
                if number == 0 {
                    self.exposures.push_back((event + TRIGGER_LATENCY).max(at));
                }
            }
            Arrived::Command(command) => self.execute(at, &command),
            Arrived::Spoilt => {
                self.spoilt += 1;
                out.warn("it has received a packet that is no command, or whose CRC is wrong: ignored");
            }
        }
    }
}

impl Model for Camera {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        self.sensor.count(at);
        for (input, signal) in changes {
            match signal {
                Signal::Photons(rate) if *input >= INPUTS => self.sensor.see(input - INPUTS, *rate),
                Signal::Level(level) if *input == 0 => {
                    for arrived in self.line.change(at, *level) {
                        self.take(at, arrived, out);
                    }
                }
                Signal::Level(level) if *input == TRIGGER => self.sensor.trigger(at, *level, out),
                Signal::Level(level) if *input < INPUTS => {
                    let bit = 1 << (input - UPLINKS[1].1);
                    self.received = self.received & !bit | if *level { bit } else { 0 };
                }
                _ => {}
            }
        }
        self.lock(out);
    }

    fn next(&self) -> Option<Ns> {
        let exposes = self.exposures.front().copied();
        let times = [self.sensor.next(), exposes, self.departs(), self.changes];
        times.into_iter().flatten().min()
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        self.sensor.most = ((1u32 << self.depth()) - 1) as u16;
        if self.sensor.end(at) {
            self.send_image(at);
        }
        self.sensor.begin(at, out);
        if self.exposures.pop_front_if(|start| *start == at).is_some() {
            self.sensor.expose(at, out);
        }
        if self.changes == Some(at) {
            self.changes = None;
            self.rate = self.registers.rate();
            self.lock(out);
        }
        if self.departs() == Some(at) {
            if let Some((_, packet)) = self.packets.pop_front() {
                self.send(at, &packet, out);
                // The answer to a change of the rate comes before it.
                if self.packets.is_empty() && self.rate != self.registers.rate() {
                    self.changes = Some(self.busy);
                }
            }
        }
    }

    fn reseed(&mut self, random: Pcg64Mcg) {
        self.sensor.reseed(random);
    }

    fn report(&self, _at: Ns) -> Value {
        let mut report = self.sensor.report();
        report["commands"] = self.commands.into();
        report["spoilt_commands"] = self.spoilt.into();
        report["link_triggers"] = self.triggers.to_vec().into();
        report["pixel_bits"] = self.depth().into();
        report["configured"] = self.configured.into();
        report["rate_mbit_s"] = facts::RATES[self.rate][0].into();
        report
    }
}

#[cfg(test)]
#[path = "camera_tests.rs"]
mod tests;
