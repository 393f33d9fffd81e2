//! Common parts of cards with ADCs: amplifiers (AD8253) whose gains are set by a shift register,
//! and the timing of conversions started by a pulse (CNV).

use kairos_contracts::chips::sampler::{pgia, PGIA};

use super::shift::{mask, Shift};
use crate::model::{Change, Outbox};
use crate::signal::{Ns, Signal};

const GAINS: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];

/// The amplifiers of a card and their shift register, which is selected by a low level.
pub struct Amplifiers {
    /// The latched gains.
    pub gains: u32,
    shift: Shift,
}

impl Default for Amplifiers {
    /// The state after power-up.
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

    /// Selects the register, which loads the latched gains.
    pub fn begin(&mut self) {
        self.shift = Shift {
            bits: self.gains.into(),
            count: 0,
        };
    }

    /// Shifts in a bit.
    pub fn take(&mut self, bit: bool) {
        self.shift.take(bit);
    }

    /// Latches the shift register as the select is released.
    pub fn end(&mut self, out: &mut Outbox) {
        let (width, count) = (PGIA.width, self.shift.count);
        if count == 0 {
            return;
        }
        if count != width {
            out.warn(format!("{count} bits for the amplifiers: they have {width}"));
        }
        self.gains = (self.shift.bits & mask(width)) as u32;
    }

    /// The bit shifted out of the register.
    pub fn bit(&self) -> bool {
        self.shift.bits >> (PGIA.width - 1) & 1 != 0
    }
}

/// Updates the voltages at a card's inputs, which begin at input `first`, from changes.
pub fn set_volts(volts: &mut [f64], first: usize, changes: &[Change]) {
    for (input, signal) in changes {
        let channel = input.checked_sub(first).and_then(|channel| volts.get_mut(channel));
        if let (Some(own), Signal::Volts(volts)) = (channel, signal) {
            *own = *volts;
        }
    }
}

/// Timing of an ADC from its data sheet, in ns, and the edge of CNV that starts a conversion.
pub struct Times {
    /// Minimum high time of CNV.
    pub high: Ns,
    /// Message text before that time: `it samples for at least`.
    pub said: &'static str,
    /// Maximum time from the edge of CNV to the end of the conversion.
    pub conversion: Ns,
    /// Minimum time between conversions.
    pub cycle: Ns,
    /// The starting edge of CNV in messages: `falls`, `fell`.
    pub edge: [&'static str; 2],
}

/// The conversions of an ADC.
pub struct Conversions {
    times: Times,
    /// Time of CNV's rising edge while it is high.
    high: Option<Ns>,
    /// Time of the last conversion's start.
    began: Option<Ns>,
    /// The warning that the ADC is read too early has been given for this conversion.
    scolded: bool,
    /// Number of conversions.
    pub count: u64,
}

impl Conversions {
    /// Creates the state before the first conversion.
    pub fn new(times: Times) -> Self {
        Self {
            times,
            high: None,
            began: None,
            scolded: false,
            count: 0,
        }
    }

    /// Handles a rising edge of CNV.
    pub fn rise(&mut self, at: Ns) {
        self.high = Some(at);
    }

    /// Handles a falling edge of CNV; returns whether CNV was high.
    pub fn fall(&mut self, at: Ns, out: &mut Outbox) -> bool {
        let Some(since) = self.high.take() else { return false };
        let (time, Times { high, said, .. }) = (at - since, &self.times);
        if time < *high {
            out.warn(format!("CNV is high for {time} ns: {said} {high} ns"));
        }
        true
    }

    /// Starts a conversion.
    pub fn begin(&mut self, at: Ns, out: &mut Outbox) {
        let Times { cycle, edge, .. } = &self.times;
        if let Some(time) = self.began.map(|last| at - last).filter(|time| time < cycle) {
            let [does, did] = edge;
            out.warn(format!(
                "CNV {does} {time} ns after it last {did}: conversions must be at least {cycle} ns apart"
            ));
        }
        (self.began, self.scolded) = (Some(at), false);
        self.count += 1;
    }

    /// Handles a read of the ADC; warns once per conversion, not per edge, if it is too early.
    pub fn read(&mut self, at: Ns, out: &mut Outbox) {
        let longest = self.times.conversion;
        let warnings = match self.began {
            None => "the ADC is read, but has not converted anything (CNV)".into(),
            Some(since) if at - since < longest => format!(
                "the ADC is read {} ns after CNV: a conversion takes up to {longest} ns",
                at - since
            ),
            Some(_) => return,
        };
        if !self.scolded {
            self.scolded = true;
            out.warn(warnings);
        }
    }
}
