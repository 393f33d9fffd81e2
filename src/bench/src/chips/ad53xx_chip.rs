//! The DACs AD5360 to AD5373 with 16 or 14 bits: serial port, registers of each channel, offset
//! DACs, updates by LDAC, read-back.
//!
//! A received code is first converted with the gain and offset of its channel, which takes
//! [`CONVERSION`]; an LDAC in the meantime is remembered. Not modelled: checked transfers (PEC),
//! the monitor, the general purpose pin.

use kairos_contracts::chips::ad53xx::{self as chip, control, select, word};

use serde::Deserialize;
use serde_json::{json, Value};

use super::shift::{Sent, Shift};
use crate::signal::Ns;

/// Bits of a register on the bus; chips with fewer bits use the upper ones.
const WORD: u32 = chip::word::DATA.mask().count_ones();
/// Addresses per group of channels.
const ADDRESSES_PER_GROUP: usize = 8;
/// Time until a code is ready for LDAC (data sheet of the AD5372, t10: BUSY is low for at most 1.5
/// us).
const CONVERSION: Ns = 1500;
/// Minimum period of the serial clock in ns, to write and to read (data sheet, t1 and its note on
/// read-back).
const PERIODS: [Ns; 2] = [20, 50];
/// Codes per step of the offset DACs, and span of the outputs in references.
const STEP: i64 = 4;
const SPANS: f64 = 4.0;

/// The member of the family, with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Kind {
    /// Its part number, such as 5372.
    pub part: u32,
    pub channels: usize,
    /// Bits of a code.
    bits: u32,
    /// Channels per group.
    per_group: usize,
    /// Reset value of its offset DACs.
    offset: u32,
}

/// The largest one, with 40 channels of 16 bits.
pub const AD5370: Kind = Kind::of(5370);
/// The chip on a Zotino.
pub const AD5372: Kind = Kind::of(5372);

impl Kind {
    /// The chip with this part number, which must be in the table.
    const fn of(number: u32) -> Self {
        let mut row = 0;
        while chip::CHIPS[row][0] != number {
            row += 1;
        }
        let [part, channels, bits, per_group, offset] = chip::CHIPS[row];
        Self {
            part,
            channels: channels as usize,
            bits,
            per_group: per_group as usize,
            offset,
        }
    }

    /// Mask of the implemented bits of a word.
    const fn mask(self) -> u16 {
        u16::MAX << (WORD - self.bits)
    }

    /// The channels at an address: all, those of a group, or one.
    fn channels_at(self, address: u32) -> std::ops::Range<usize> {
        let groups = self.channels / self.per_group;
        let of_group = |group: usize| group * self.per_group..(group + 1) * self.per_group;
        match address.checked_sub(chip::FIRST_CHANNEL) {
            None if address == 0 => 0..self.channels,
            None if address as usize <= groups => of_group(address as usize - 1),
            Some(address)
                if (address as usize) < ADDRESSES_PER_GROUP * groups
                    && address as usize % ADDRESSES_PER_GROUP < self.per_group =>
            {
                let n = of_group(address as usize / ADDRESSES_PER_GROUP).start + address as usize % ADDRESSES_PER_GROUP;
                n..n + 1
            }
            _ => 0..0,
        }
    }
}

impl TryFrom<String> for Kind {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let parts = || chip::CHIPS.iter().map(|row| row[0]);
        let known = parts().find(|part| name == format!("ad{part}")).map(Self::of);
        known.ok_or_else(|| {
            let names: Vec<String> = parts().map(|part| format!("ad{part}")).collect();
            format!("there is no chip {name}: use one of {}", names.join(", "))
        })
    }
}

/// Registers of a channel.
#[derive(Debug, Clone, Copy)]
struct Channel {
    /// X1A and X1B.
    x1: [u16; 2],
    gain: u16,
    offset: u16,
    /// The converted code, and the code in the DAC.
    x2: u16,
    dac: u16,
}

/// One chip.
pub struct Ad53xx {
    kind: Kind,
    vref: f64,
    channels: Vec<Channel>,
    /// Time at which the last conversion is ready, and whether an update waits for it.
    ready: Ns,
    updates: bool,
    offsets: [u32; 2],
    control: u32,
    shift: Shift,
    /// The answer of the next transfer.
    answer: Option<u32>,
    sent: Option<Sent>,
    last_edge: Option<Ns>,
    too_fast: bool,
}

impl Ad53xx {
    /// The state after power-up, with a reference of `vref` volts: outputs at ground.
    pub fn new(kind: Kind, vref: f64) -> Self {
        let ground = (kind.offset * STEP as u32) as u16;
        let channel = Channel {
            x1: [ground; 2],
            gain: kind.mask(),
            offset: 0x8000,
            x2: ground,
            dac: ground,
        };
        Self {
            kind,
            vref,
            channels: vec![channel; kind.channels],
            ready: 0,
            updates: false,
            offsets: [kind.offset; 2],
            control: chip::CONTROL.reset,
            shift: Shift::default(),
            answer: None,
            sent: None,
            last_edge: None,
            too_fast: false,
        }
    }

    /// SYNC goes low: begins a transfer.
    pub fn begin(&mut self) {
        self.shift = Shift::default();
        self.sent = self.answer.take().map(|word| Sent::new(word.into(), chip::WORD.width));
        (self.last_edge, self.too_fast) = (None, false);
    }

    /// Handles a rising clock edge; returns the output bit, if the chip drives one.
    pub fn rise(&mut self) -> Option<bool> {
        self.sent.as_mut().map(Sent::take)
    }

    /// Handles a falling clock edge with the input bit.
    pub fn fall(&mut self, at: Ns, bit: bool) {
        let least = PERIODS[usize::from(self.sent.is_some())];
        self.too_fast |= self.last_edge.is_some_and(|last| at - last < least);
        self.last_edge = Some(at);
        self.shift.take(bit);
    }

    /// SYNC goes high: executes the transfer. Returns a warning for the owner of the bench.
    pub fn end(&mut self, at: Ns) -> Option<String> {
        let Shift { bits, count } = std::mem::take(&mut self.shift);
        if count == 0 {
            return None;
        }
        if count != chip::WORD.width {
            return Some(format!(
                "a transfer of {count} bits instead of {}: ignored",
                chip::WORD.width
            ));
        }
        let said = self.write(at, bits as u32 & 0xff_ffff);
        let least = PERIODS[usize::from(self.sent.is_some())];
        said.or(self
            .too_fast
            .then(|| format!("a clock faster than its minimum period of {least} ns")))
    }

    fn write(&mut self, at: Ns, bits: u32) -> Option<String> {
        let (mode, target, data) = (word::MODE.get(bits), word::TARGET.get(bits), word::DATA.get(bits));
        if mode == word::MODE_SPECIAL {
            return self.special(target, data);
        }
        let chosen = self.kind.channels_at(target);
        if chosen.is_empty() {
            return Some(format!(
                "there is no channel at the address {target}: an AD{} has {}",
                self.kind.part, self.kind.channels
            ));
        }
        let (select_b, data) = (self.select_b(), data as u16 & self.kind.mask());
        for channel in &mut self.channels[chosen] {
            match mode {
                word::MODE_DATA => channel.x1[select_b] = data,
                word::MODE_OFFSET => channel.offset = data,
                _ => channel.gain = data,
            }
            channel.x2 = converted(self.kind, channel, select_b);
        }
        self.ready = at + CONVERSION;
        None
    }

    fn special(&mut self, target: u32, data: u32) -> Option<String> {
        match target {
            0 => {}
            word::TARGET_CONTROL => {
                self.control =
                    data & (control::SELECT_B.mask() | control::THERMAL_SHUTDOWN.mask() | control::POWER_DOWN.mask());
                let select_b = self.select_b();
                for channel in &mut self.channels {
                    channel.x2 = converted(self.kind, channel, select_b);
                }
            }
            word::TARGET_OFS0 => self.offsets[0] = chip::ofs::OFFSET.get(data),
            word::TARGET_OFS1 => self.offsets[1] = chip::ofs::OFFSET.get(data),
            word::TARGET_READ => return self.ask(data),
            other => return Some(format!("the special function {other} is not modelled")),
        }
        None
    }

    /// Selects the register that the next transfer reads.
    fn ask(&mut self, data: u32) -> Option<String> {
        let (group, address) = (select::REGISTER.get(data), select::CHANNEL.get(data));
        // Groups cannot be read.
        let addressed = self.kind.channels_at(address);
        let channel = self.channels[addressed]
            .first()
            .filter(|_| address >= chip::FIRST_CHANNEL);
        let word = match (group, address) {
            (select::REGISTER_OTHER, select::CHANNEL_CONTROL) => Some(self.control),
            (select::REGISTER_OTHER, select::CHANNEL_OFS0) => Some(self.offsets[0]),
            (select::REGISTER_OTHER, select::CHANNEL_OFS1) => Some(self.offsets[1]),
            (select::REGISTER_X1A, _) => channel.map(|channel| channel.x1[0].into()),
            (select::REGISTER_X1B, _) => channel.map(|channel| channel.x1[1].into()),
            (select::REGISTER_OFFSET, _) => channel.map(|channel| channel.offset.into()),
            (select::REGISTER_GAIN, _) => channel.map(|channel| channel.gain.into()),
            _ => None,
        };
        self.answer = Some(word.unwrap_or(0));
        match word {
            Some(_) => None,
            None => Some(format!("there is no readable register at {data:#06x}")),
        }
    }

    /// Index of the active register of X1A and X1B.
    fn select_b(&self) -> usize {
        control::SELECT_B.get(self.control) as usize
    }

    /// LDAC is or goes low at `at`: updates the outputs, immediately or once pending codes are
    /// ready.
    pub fn load(&mut self, at: Ns) {
        match at >= self.ready {
            true => {
                self.channels.iter_mut().for_each(|channel| channel.dac = channel.x2);
                self.updates = false;
            }
            false => self.updates = true,
        }
    }

    /// The time of a pending update.
    pub fn next(&self) -> Option<Ns> {
        self.updates.then_some(self.ready)
    }

    /// The output voltage of a channel.
    pub fn volts(&self, n: usize) -> f64 {
        if control::POWER_DOWN.get(self.control) != 0 {
            return 0.0;
        }
        let offset = STEP * i64::from(self.offsets[usize::from(n >= self.kind.per_group)]);
        SPANS * self.vref * (i64::from(self.channels[n].dac) - offset) as f64 / 65536.0
    }

    /// The registers of the chip, by name.
    pub fn named(&self) -> Value {
        json!({ "CONTROL": self.control, "OFS0": self.offsets[0], "OFS1": self.offsets[1] })
    }

    /// The registers of a channel, by name.
    pub fn named_of(&self, n: usize) -> Value {
        let Channel { x1, gain, offset, .. } = self.channels[n];
        json!({ "X1A": x1[0], "X1B": x1[1], "GAIN": gain, "OFFSET": offset })
    }

    /// The code in the DAC of a channel.
    pub fn code(&self, n: usize) -> u16 {
        self.channels[n].dac
    }
}

/// Converts the registers of a channel to a DAC code.
fn converted(kind: Kind, channel: &Channel, select_b: usize) -> u16 {
    let unused = WORD - kind.bits;
    let [code, gain, offset] =
        [channel.x1[select_b], channel.gain, channel.offset].map(|word| i64::from(word >> unused));
    let scaled = (code * (gain + 1)) >> kind.bits;
    let (half, top) = (1 << (kind.bits - 1), (1 << kind.bits) - 1);
    ((scaled + offset - half).clamp(0, top) as u16) << unused
}
