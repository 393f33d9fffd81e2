//! What cards with ADCs share: amplifiers (AD8253) whose gains are set by a shift register, and the
//! times of a conversion that a pulse (CNV) starts.

use kairos_contracts::chips::sampler::{pgia, PGIA};

use super::shift::{mask, Shift};
use crate::model::{Change, Outbox};
use crate::signal::{Ns, Signal};

const GAINS: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];

/// The amplifiers of a card, and the register in front of them. A low level selects it.
pub struct Amplifiers {
    /// What was taken over.
    pub gains: u32,
    shift: Shift,
}

impl Default for Amplifiers {
    /// After power-up.
    fn default() -> Self {
        Self {
            gains: PGIA.reset,
            shift: Shift::default(),
        }
    }
}

impl Amplifiers {
    /// The gain of a channel.
    pub fn gain(&self, n: usize) -> f64 {
        GAINS[pgia::GAIN.at(n as u32).get(self.gains) as usize]
    }

    /// The register is selected: it has what was taken over.
    pub fn begin(&mut self) {
        self.shift = Shift {
            bits: self.gains.into(),
            count: 0,
        };
    }

    /// A bit comes.
    pub fn take(&mut self, bit: bool) {
        self.shift.take(bit);
    }

    /// It is no longer selected: what has come is taken over.
    pub fn end(&mut self, out: &mut Outbox) {
        let (width, count) = (PGIA.width, self.shift.count);
        if count == 0 {
            return;
        }
        if count != width {
            out.warn(format!("{count} bits for the amplifiers: there are {width}"));
        }
        self.gains = (self.shift.bits & mask(width)) as u32;
    }

    /// The bit that falls out of the register.
    pub fn bit(&self) -> bool {
        self.shift.bits >> (PGIA.width - 1) & 1 != 0
    }
}

/// Sets those voltages at a card's inputs, which stand from `first` on, that have changed.
pub fn set_volts(volts: &mut [f64], first: usize, changes: &[Change]) {
    for (input, signal) in changes {
        let channel = input.checked_sub(first).and_then(|channel| volts.get_mut(channel));
        if let (Some(own), Signal::Volts(volts)) = (channel, signal) {
            *own = *volts;
        }
    }
}

/// What an ADC's data sheet says of its times, in ns, and of the edge of CNV that starts a conversion.
pub struct Times {
    /// Least time that CNV is high.
    pub high: Ns,
    /// What is said of that time: `it samples for at least`.
    pub said: &'static str,
    /// Longest time from the edge of CNV to the end of the conversion.
    pub conversion: Ns,
    /// Least time from one conversion to the next.
    pub cycle: Ns,
    /// What CNV does to start one, and what it did: `falls`, `fell`.
    pub edge: [&'static str; 2],
}

/// An ADC's conversions.
pub struct Conversions {
    times: Times,
    /// When CNV rose.
    high: Option<Ns>,
    /// When the last conversion began.
    began: Option<Ns>,
    /// It has been told that the ADC is read too early, since then.
    scolded: bool,
    /// How many there were.
    pub count: u64,
}

impl Conversions {
    /// None so far.
    pub fn new(times: Times) -> Self {
        Self {
            times,
            high: None,
            began: None,
            scolded: false,
            count: 0,
        }
    }

    /// CNV rises.
    pub fn rise(&mut self, at: Ns) {
        self.high = Some(at);
    }

    /// CNV falls: whether it was high.
    pub fn fall(&mut self, at: Ns, out: &mut Outbox) -> bool {
        let Some(since) = self.high.take() else { return false };
        let (time, Times { high, said, .. }) = (at - since, &self.times);
        if time < *high {
            out.warn(format!("CNV is high for {time} ns: {said} {high} ns"));
        }
        true
    }

    /// A conversion begins.
    pub fn begin(&mut self, at: Ns, out: &mut Outbox) {
        let Times { cycle, edge, .. } = &self.times;
        if let Some(time) = self.began.map(|last| at - last).filter(|time| time < cycle) {
            let [does, did] = edge;
            out.warn(format!(
                "CNV {does} {time} ns after it {did} before: conversions are {cycle} ns apart at least"
            ));
        }
        (self.began, self.scolded) = (Some(at), false);
        self.count += 1;
    }

    /// The ADC is read: tells once for a conversion, not at each edge, that this is too early.
    pub fn read(&mut self, at: Ns, out: &mut Outbox) {
        let longest = self.times.conversion;
        let told = match self.began {
            None => "the ADC is read, but has not converted anything (CNV)".into(),
            Some(since) if at - since < longest => format!(
                "the ADC is read {} ns after CNV: a conversion takes up to {longest} ns",
                at - since
            ),
            Some(_) => return,
        };
        if !self.scolded {
            self.scolded = true;
            out.warn(told);
        }
    }
}
