//! Events as a value change dump (IEEE 1364-2005, clause 18), generated in parts: for pins the
//! level, x while a pin is an input; for other channels the last word written; and the slack of
//! outputs. Time 0 is the first event.

use std::collections::BTreeMap;
use std::io;

use kairos_contracts::analyzer::Message;
use kairos_contracts::descriptor::ChannelKind;
use kairos_proto::analyzer::Event;
use vcd::{IdCode, SimulationCommand, TimescaleUnit, Value, VarType, Writer};

use super::record::Unit;
use crate::registers::{Channel, Gateware};

/// Size in bytes at which a part is emitted.
const PART: usize = 64 * 1024;
/// Width in bits of signals that are not pins.
const WORD: u32 = 64;
/// RTIO addresses of a TTL channel.
const LEVEL: u32 = 0;
const DRIVEN: u32 = 1;

/// The signal of a channel.
struct Line {
    id: IdCode,
    is_pin: bool,
    level: bool,
    driven: bool,
}

/// A file being generated.
pub struct File {
    writer: Writer<Vec<u8>>,
    /// Events with a timestamp, in time order.
    events: std::vec::IntoIter<Event>,
    lines: BTreeMap<u32, Line>,
    slack: IdCode,
    origin: u64,
    /// Time units of the file per machine unit.
    steps: u64,
    time: Option<u64>,
}

impl File {
    /// Converts events in the order received; `wanted` selects the channels.
    pub fn new(units: &[Unit], gateware: &Gateware, wanted: impl Fn(&Channel) -> bool) -> io::Result<Self> {
        let timed = |event: &Event| matches!(event.kind, Message::Output | Message::Input);
        let mut events: Vec<_> = units.iter().map(Event::decode).filter(timed).collect();
        // Stable: of simultaneous events, the last one submitted takes effect.
        events.sort_by_key(|event| event.timestamp);
        let origin = events.first().map_or(0, |event| event.timestamp);
        let (unit, steps) = timescale(gateware.machine_hertz());
        let mut writer = Writer::new(Vec::new());
        writer.version("Kairos")?;
        writer.timescale(unit.0, unit.1)?;
        let mut scopes: BTreeMap<&str, Vec<&Channel>> = BTreeMap::new();
        for channel in gateware.channels().iter().filter(|channel| wanted(channel)) {
            scopes.entry(scope(channel)).or_default().push(channel);
        }
        let (mut lines, mut initial) = (BTreeMap::new(), Vec::new());
        for (scope, channels) in scopes {
            writer.add_module(scope)?;
            for channel in channels {
                let is_pin = channel.is_ttl();
                let id = writer.add_wire(if is_pin { 1 } else { WORD }, &channel.name)?;
                let driven = channel.is(ChannelKind::TtlOut);
                initial.push((id, is_pin, if driven { Value::V0 } else { Value::X }));
                let line = Line {
                    id,
                    is_pin,
                    level: false,
                    driven,
                };
                lines.insert(channel.number, line);
            }
            writer.upscope()?;
        }
        writer.add_module("rtio")?;
        let slack = writer.add_var(VarType::Integer, WORD, "rtio_slack", None)?;
        initial.push((slack, false, Value::X));
        writer.upscope()?;
        writer.enddefinitions()?;
        writer.begin(SimulationCommand::Dumpvars)?;
        for (id, is_scalar, value) in initial {
            match is_scalar {
                true => writer.change_scalar(id, value)?,
                false => writer.change_vector(id, [value])?,
            }
        }
        writer.end()?;
        Ok(Self {
            writer,
            events: events.into_iter(),
            lines,
            slack,
            origin,
            steps,
            time: None,
        })
    }

    fn add(&mut self, event: &Event) -> io::Result<()> {
        let Some(line) = self.lines.get_mut(&event.channel) else {
            return Ok(());
        };
        let time = (event.timestamp - self.origin).saturating_mul(self.steps);
        if self.time != Some(time) {
            self.writer.timestamp(time)?;
            self.time = Some(time);
        }
        let is_output = event.kind == Message::Output;
        match (line.is_pin, event.address) {
            (false, _) => self.writer.change_vector(line.id, bits(event.data))?,
            // Data read from a pin is its level.
            (true, _) if !is_output => self.writer.change_scalar(line.id, event.data & 1 == 1)?,
            (true, LEVEL | DRIVEN) => {
                let bit = event.data & 1 == 1;
                match event.address {
                    LEVEL => line.level = bit,
                    _ => line.driven = bit,
                }
                let value = if line.driven { line.level.into() } else { Value::X };
                self.writer.change_scalar(line.id, value)?;
            }
            (true, _) => {}
        }
        if is_output {
            let slack = event.timestamp.wrapping_sub(event.counter);
            self.writer.change_vector(self.slack, bits(slack))?;
        }
        Ok(())
    }
}

impl Iterator for File {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        while self.writer.writer().len() < PART {
            let Some(event) = self.events.next() else { break };
            // Writing to memory cannot fail.
            let _ = self.add(&event);
        }
        let part = std::mem::take(self.writer.writer());
        (!part.is_empty()).then_some(part)
    }
}

fn scope(channel: &Channel) -> &'static str {
    match channel {
        channel if channel.is_ttl() => "ttl",
        channel if channel.is(ChannelKind::TtlClockgen) => "ttl_clkgen",
        channel if channel.is(ChannelKind::SpiMaster) => "spi2",
        _ => "word",
    }
}

/// The bits of a number, most significant first, without leading zeros.
fn bits(number: u64) -> impl Iterator<Item = Value> {
    let count = (u64::BITS - number.leading_zeros()).max(1);
    (0..count).rev().map(move |bit| (number >> bit & 1 == 1).into())
}

/// The largest power of ten as time unit of which a machine unit is a multiple, and the factor.
fn timescale(machine_hertz: f64) -> ((u32, TimescaleUnit), u64) {
    let mut picoseconds = match machine_hertz > 0.0 {
        true => (1e12 / machine_hertz).round().max(1.0) as u64,
        false => 1000,
    };
    let mut power = 0;
    while picoseconds.is_multiple_of(10) && power < 8 {
        picoseconds /= 10;
        power += 1;
    }
    let unit = match power / 3 {
        0 => TimescaleUnit::PS,
        1 => TimescaleUnit::NS,
        _ => TimescaleUnit::US,
    };
    ((10u32.pow(power % 3), unit), picoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timescale_represents_the_clock_exactly() {
        let found = [1e9, 0.8e9, 1e8, 0.0].map(timescale);
        let expected = [
            (1, TimescaleUnit::NS, 1),
            (10, TimescaleUnit::PS, 125),
            (10, TimescaleUnit::NS, 1),
        ];
        for (((count, unit), steps), expected) in found.into_iter().zip(expected.into_iter().chain([expected[0]])) {
            assert_eq!((count, unit, steps), expected);
        }
    }

    #[test]
    fn numbers_have_no_leading_zeros() {
        let text = |number| bits(number).map(|bit| bit.to_string()).collect::<String>();
        assert_eq!([text(0), text(1), text(10)], ["0", "1", "1010"]);
        assert_eq!(text(u64::MAX), "1".repeat(64));
    }
}
