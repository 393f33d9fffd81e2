//! The DACs AD5360 to AD5373: serial port, registers of each channel, offset DACs, updates by LDAC, read-back.
//!
//! A code that comes is converted with gain and offset of its channel first, which takes [`CONVERSION`]; an LDAC that comes
//! meanwhile is remembered. Not here: checked transfers (PEC), the monitor, the general purpose pin.

use kairos_contracts::chips::ad53xx::{self as chip, control, select, word};

use super::shift::{Sent, Shift};
use crate::signal::Ns;

/// Channels: the 32 of an AD5370 or AD5372.
pub const CHANNELS: usize = 32;
/// Until a code is ready for LDAC (data sheet of the AD5372, t10: BUSY is low for at most 1.5 us).
const CONVERSION: Ns = 1500;
/// Least period of the serial clock in ns, to write and to read (data sheet, t1 and its note on read-back).
const PERIODS: [Ns; 2] = [20, 50];
/// Codes that a step of the offset DACs is worth, and references in the range of the outputs.
const STEP: i64 = 4;
const SPANS: f64 = 4.0;

/// One chip.
pub struct Ad53xx {
    vref: f64,
    /// Registers X1A and X1B of each channel, gain, offset.
    x1: [[u16; 2]; CHANNELS],
    gain: [u16; CHANNELS],
    offset: [u16; CHANNELS],
    /// What the conversion has made of them, and what is in the DACs.
    x2: [u16; CHANNELS],
    dac: [u16; CHANNELS],
    /// When the last conversion is ready; whether an update waits for it.
    ready: Ns,
    updates: bool,
    offsets: [u32; 2],
    control: u32,
    shift: Shift,
    /// What the next transfer reads.
    answer: Option<u32>,
    sent: Option<Sent>,
    last_edge: Option<Ns>,
    too_fast: bool,
}

impl Ad53xx {
    /// After power-up, with a reference of `vref` volts: outputs at ground.
    pub fn new(vref: f64) -> Self {
        let ground = (chip::OFS.reset * STEP as u32) as u16;
        Self {
            vref,
            x1: [[ground; 2]; CHANNELS],
            gain: [0xffff; CHANNELS],
            offset: [0x8000; CHANNELS],
            x2: [ground; CHANNELS],
            dac: [ground; CHANNELS],
            ready: 0,
            updates: false,
            offsets: [chip::OFS.reset; 2],
            control: chip::CONTROL.reset,
            shift: Shift::default(),
            answer: None,
            sent: None,
            last_edge: None,
            too_fast: false,
        }
    }

    /// SYNC goes low: a transfer begins.
    pub fn begin(&mut self) {
        self.shift = Shift::default();
        self.sent = self.answer.take().map(|word| Sent::new(word.into(), chip::WORD.width));
        (self.last_edge, self.too_fast) = (None, false);
    }

    /// A rising edge of the clock: the bit that it sends, if it does.
    pub fn rise(&mut self) -> Option<bool> {
        self.sent.as_mut().map(Sent::take)
    }

    /// A falling edge, with the bit that comes.
    pub fn fall(&mut self, at: Ns, bit: bool) {
        let least = PERIODS[usize::from(self.sent.is_some())];
        self.too_fast |= self.last_edge.is_some_and(|last| at - last < least);
        self.last_edge = Some(at);
        self.shift.take(bit);
    }

    /// SYNC goes high: what has come is done. Complaints are for the owner of the bench.
    pub fn end(&mut self, at: Ns) -> Option<String> {
        let Shift { bits, count } = std::mem::take(&mut self.shift);
        if count == 0 {
            return None;
        }
        if count != chip::WORD.width {
            return Some(format!(
                "a transfer of {count} bits: one has {}, and is ignored",
                chip::WORD.width
            ));
        }
        let said = self.write(at, bits as u32 & 0xff_ffff);
        let least = PERIODS[usize::from(self.sent.is_some())];
        said.or(self
            .too_fast
            .then(|| format!("a clock faster than its least period of {least} ns")))
    }

    fn write(&mut self, at: Ns, bits: u32) -> Option<String> {
        let (mode, target, data) = (word::MODE.get(bits), word::TARGET.get(bits), word::DATA.get(bits));
        if mode == word::MODE_SPECIAL {
            return self.special(target, data);
        }
        let chosen = channels(target);
        if chosen.is_empty() {
            return Some(format!("there is no channel at the address {target}"));
        }
        let select_b = control::SELECT_B.get(self.control) as usize;
        for n in chosen {
            match mode {
                word::MODE_DATA => self.x1[n][select_b] = data as u16,
                word::MODE_OFFSET => self.offset[n] = data as u16,
                _ => self.gain[n] = data as u16,
            }
            self.x2[n] = self.converted(n);
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
                (0..CHANNELS).for_each(|n| self.x2[n] = self.converted(n));
            }
            word::TARGET_OFS0 => self.offsets[0] = chip::ofs::OFFSET.get(data),
            word::TARGET_OFS1 => self.offsets[1] = chip::ofs::OFFSET.get(data),
            word::TARGET_READ => return self.ask(data),
            other => return Some(format!("the special function {other} is not modelled")),
        }
        None
    }

    /// A register is to be read by the next transfer.
    fn ask(&mut self, data: u32) -> Option<String> {
        let (group, place) = (select::REGISTER.get(data), select::CHANNEL.get(data));
        let channel = (place.wrapping_sub(chip::FIRST_CHANNEL)) as usize;
        let word = match (group, place) {
            (select::REGISTER_OTHER, select::CHANNEL_CONTROL) => Some(self.control),
            (select::REGISTER_OTHER, select::CHANNEL_OFS0) => Some(self.offsets[0]),
            (select::REGISTER_OTHER, select::CHANNEL_OFS1) => Some(self.offsets[1]),
            (select::REGISTER_X1A, _) => self.x1.get(channel).map(|x1| x1[0].into()),
            (select::REGISTER_X1B, _) => self.x1.get(channel).map(|x1| x1[1].into()),
            (select::REGISTER_OFFSET, _) => self.offset.get(channel).map(|word| (*word).into()),
            (select::REGISTER_GAIN, _) => self.gain.get(channel).map(|word| (*word).into()),
            _ => None,
        };
        self.answer = Some(word.unwrap_or(0));
        match word {
            Some(_) => None,
            None => Some(format!("there is no register to be read at {data:#06x}")),
        }
    }

    fn converted(&self, n: usize) -> u16 {
        let code = i64::from(self.x1[n][control::SELECT_B.get(self.control) as usize]);
        let scaled = (code * (i64::from(self.gain[n]) + 1)) >> 16;
        (scaled + i64::from(self.offset[n]) - 0x8000).clamp(0, 0xffff) as u16
    }

    /// LDAC is low at `at`, or goes low: outputs follow their codes, at once or when these are ready.
    pub fn load(&mut self, at: Ns) {
        match at >= self.ready {
            true => (self.dac, self.updates) = (self.x2, false),
            false => self.updates = true,
        }
    }

    /// When an update that waits takes place.
    pub fn next(&self) -> Option<Ns> {
        self.updates.then_some(self.ready)
    }

    /// Volts of a channel.
    pub fn volts(&self, n: usize) -> f64 {
        if control::POWER_DOWN.get(self.control) != 0 {
            return 0.0;
        }
        let offset = STEP * i64::from(self.offsets[usize::from(n >= 8)]);
        SPANS * self.vref * (i64::from(self.dac[n]) - offset) as f64 / 65536.0
    }

    /// The code in the DAC of a channel.
    pub fn code(&self, n: usize) -> u16 {
        self.dac[n]
    }
}

/// Channels at an address: all, those of a group of eight, or one.
fn channels(target: u32) -> std::ops::Range<usize> {
    let groups = CHANNELS as u32 / 8;
    match target {
        0 => 0..CHANNELS,
        group if group <= groups => 8 * (group as usize - 1)..8 * group as usize,
        one if (chip::FIRST_CHANNEL..chip::FIRST_CHANNEL + CHANNELS as u32).contains(&one) => {
            let n = (one - chip::FIRST_CHANNEL) as usize;
            n..n + 1
        }
        _ => 0..0,
    }
}
