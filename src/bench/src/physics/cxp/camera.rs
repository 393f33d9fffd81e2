//! The camera: a sensor behind CoaXPress.
//!
//! It is exposed by the rising edge of LinkTrigger 0, a fixed time after the event, by a pin, or by itself; a frame is
//! sent directly after its exposure, once the grabber has configured the connection. Nothing is sent
//! while there is nothing to say: idle words, which a transceiver keeps for itself, would cost time.

use std::collections::VecDeque;

use kairos_contracts::chips::coaxpress as facts;
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

use super::line::{Arrived, Command, Line, CONTROL};
use super::packets::{answer, image, DEPTHS};
use super::registers::{Registers, FORMAT, FRAMES};
use crate::model::{Change, Model, Outbox};
use crate::physics::sensor::{Options, Sensor};
use crate::signal::{Ns, Signal};

/// Names of the lines from the transceiver to the grabber, and of the line to the camera.
pub const LINES: [&str; 10] = ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "k", "valid"];
pub const UPLINK: &str = "tx";
const VALID: usize = 9;
/// Inputs before those of photons: the line to the camera, and a trigger.
pub const INPUTS: usize = 2;
/// Duration of a character at 1.25 Gbit/s.
const CHARACTER: Ns = 8;
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
    pub fn new(options: Options, depth: u32, random: Pcg64Mcg) -> Self {
        let place = DEPTHS.iter().position(|known| *known == depth).unwrap_or_default();
        let registers = Registers::new(options.size, facts::MONO8 + place as u32);
        Self {
            sensor: Sensor::new(options, random),
            registers,
            line: Line::default(),
            exposures: VecDeque::new(),
            packets: VecDeque::new(),
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
        Some((*ready).max(self.busy).next_multiple_of(CHARACTER))
    }

    /// Sends the characters of a packet from now on.
    fn send(&mut self, at: Ns, packet: &[u16], out: &mut Outbox) {
        let mut delay = 0;
        for character in packet.iter().map(|character| Some(*character)).chain([None]) {
            let mut now = self.levels;
            now[VALID] = character.is_some();
            if let Some(character) = character {
                for (bit, line) in now[..8].iter_mut().enumerate() {
                    *line = character >> bit & 1 != 0;
                }
                now[8] = character & CONTROL != 0;
            }
            for line in (0..LINES.len()).filter(|line| now[*line] != self.levels[*line]) {
                out.send_after(delay, line, Signal::Level(now[line]));
            }
            self.levels = now;
            delay += CHARACTER;
        }
        self.busy = at + delay;
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
            .sends_until(at.max(self.busy) + characters.len() as Ns * CHARACTER);
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
                Signal::Level(level) if *input == 1 => self.sensor.trigger(at, *level, out),
                _ => {}
            }
        }
    }

    fn next(&self) -> Option<Ns> {
        let times = [self.sensor.next(), self.exposures.front().copied(), self.departs()];
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
        if self.departs() == Some(at) {
            if let Some((_, packet)) = self.packets.pop_front() {
                self.send(at, &packet, out);
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
        report
    }
}

#[cfg(test)]
#[path = "camera_tests.rs"]
mod tests;
