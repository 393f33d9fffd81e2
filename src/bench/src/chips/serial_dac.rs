//! An AD53xx DAC on an SPI bus: alone, or on a Zotino card, which is an AD5372 with eight LEDs at a
//! shift register. Both selects are active low.

use serde_json::{json, Value};

use super::ad53xx_chip::{Ad53xx, Kind};
use super::shift::{mask, Shift, UnselectedMessage};
use crate::model::{set_levels, Change, Model, Outbox};
use crate::signal::{Ns, Signal};

/// Names of the input lines.
pub const INPUTS: [&str; 6] = ["clk", "mosi", "cs0", "cs1", "ldac", "clr"];
const CLK: usize = 0;
const MOSI: usize = 1;
const CS_DAC: usize = 2;
const CS_LED: usize = 3;
const LDAC: usize = 4;
const CLR: usize = 5;
/// Names of the output lines.
pub const ANSWERS: [&str; 1] = ["miso"];
const LEDS: u32 = 8;

/// Options of the DAC or card.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The DAC.
    pub chip: Kind,
    /// With LEDs: a Zotino.
    pub leds: bool,
    /// Other chips share the bus, so messages that select neither DAC nor LEDs are not mistakes.
    pub shares: bool,
    /// Reference in volts.
    pub vref: f64,
    /// Whether LDAC and CLR are connected to the device; otherwise LDAC is low and CLR high.
    pub wired: [bool; 2],
    /// Whether its select is connected; otherwise it is never selected.
    pub selected: bool,
}

/// The card.
pub struct SerialDac {
    options: Options,
    lines: [bool; INPUTS.len()],
    dac: Ad53xx,
    leds: u64,
    led_shift: Shift,
    volts: Vec<f64>,
    miso: bool,
    unselected_message: UnselectedMessage,
}

impl SerialDac {
    /// The state after power-up: all outputs at ground.
    pub fn new(options: Options) -> Self {
        let mut lines = [false; INPUTS.len()];
        lines[CS_DAC] = !options.selected;
        lines[CS_LED] = !options.leds;
        Self {
            dac: Ad53xx::new(options.chip, options.vref),
            options,
            lines,
            leds: 0,
            led_shift: Shift::default(),
            volts: vec![0.0; options.chip.channels],
            miso: false,
            unselected_message: UnselectedMessage::default(),
        }
    }

    fn name(&self) -> String {
        match self.options.leds {
            true => "Zotino".into(),
            false => format!("AD{}", self.options.chip.part),
        }
    }

    fn is_cleared(&self) -> bool {
        self.options.wired[1] && !self.lines[CLR]
    }

    fn is_loading(&self) -> bool {
        !self.options.wired[0] || !self.lines[LDAC]
    }

    /// Sends the voltages of channels that have changed.
    fn show(&mut self, out: &mut Outbox) {
        for n in 0..self.volts.len() {
            let volts = if self.is_cleared() { 0.0 } else { self.dac.volts(n) };
            if volts != self.volts[n] {
                self.volts[n] = volts;
                out.send(n, Signal::Volts(volts));
            }
        }
    }

    fn bus(&mut self, at: Ns, before: &[bool; INPUTS.len()], out: &mut Outbox) {
        match (before[CS_DAC], self.lines[CS_DAC]) {
            (true, false) => self.dac.begin(),
            (false, true) => {
                if let Some(text) = self.dac.end(at) {
                    out.warn(text);
                }
            }
            _ => {}
        }
        match (before[CS_LED], self.lines[CS_LED]) {
            (true, false) => self.led_shift = Shift::default(),
            (false, true) if self.led_shift.count > 0 => self.leds = self.led_shift.bits & mask(LEDS),
            _ => {}
        }
        if before[CS_DAC..=CS_LED] != self.lines[CS_DAC..=CS_LED] {
            self.unselected_message.end();
        }
        match (before[CLK], self.lines[CLK]) {
            (false, true) => {
                if self.lines[CS_DAC] && self.lines[CS_LED] && !self.options.shares {
                    self.unselected_message.bit(out);
                }
                if !self.lines[CS_LED] {
                    self.led_shift.take(self.lines[MOSI]);
                }
                let miso = !self.lines[CS_DAC] && self.dac.rise().unwrap_or(false);
                if miso != self.miso {
                    self.miso = miso;
                    // This output follows those of the channels.
                    out.send(self.volts.len(), Signal::Level(miso));
                }
            }
            (true, false) if !self.lines[CS_DAC] => self.dac.fall(at, self.lines[MOSI]),
            _ => {}
        }
    }
}

impl Model for SerialDac {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let before = self.lines;
        set_levels(&mut self.lines, changes);
        self.bus(at, &before, out);
        if before[CS_DAC..] != self.lines[CS_DAC..] {
            if self.is_loading() {
                self.dac.load(at);
            }
            self.show(out);
        }
    }

    fn next(&self) -> Option<Ns> {
        self.dac.next()
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        self.dac.load(at);
        self.show(out);
    }

    fn report(&self, _at: Ns) -> Value {
        let mut report = json!({ "card": self.name(), "leds": self.leds, "registers": self.dac.named() });
        if self.options.leds {
            report["registers"]["LEDS"] = self.leds.into();
        }
        for n in 0..self.volts.len() {
            let registers = self.dac.named_of(n);
            report[format!("ch{n}")] =
                json!({ "volts": self.volts[n], "code": self.dac.code(n), "registers": registers });
        }
        report
    }
}

#[cfg(test)]
#[path = "serial_dac_tests.rs"]
mod tests;
