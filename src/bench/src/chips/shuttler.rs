//! The two SPI buses of the Shuttler card: the relays after its outputs, and the ADC that measures
//! them.
//!
//! Both selects are active low. The connections between outputs and inputs of the ADC are not
//! published, so the bench file specifies the input voltages.

use serde_json::{json, Value};

use super::ad4115::Ad4115;
use super::shift::Shift;
use crate::model::{set_levels, Change, Model, Outbox};
use crate::signal::{Ns, Signal};

pub use super::ad4115::INPUTS as ADC_INPUTS;

/// Names of the input lines.
pub const INPUTS: [&str; 6] = ["relay_clk", "relay_mosi", "relay_cs0", "adc_clk", "adc_mosi", "adc_cs0"];
const RELAY: usize = 0;
const ADC: usize = 3;
/// Lines within a bus.
const CLK: usize = 0;
const MOSI: usize = 1;
const CS: usize = 2;
/// Names of the output lines.
pub const ANSWERS: [&str; 1] = ["adc_miso"];
const MISO: usize = 0;
const OUTPUTS: u32 = 16;

/// The card.
pub struct Shuttler {
    lines: [bool; INPUTS.len()],
    shift: Shift,
    relays: u64,
    adc: Ad4115,
    miso: bool,
}

impl Shuttler {
    /// The state after power-up: all relays open, these voltages at the inputs of the ADC.
    pub fn new(volts: [f64; ADC_INPUTS]) -> Self {
        Self {
            lines: [false; INPUTS.len()],
            shift: Shift::default(),
            relays: 0,
            adc: Ad4115::new(volts),
            miso: false,
        }
    }

    fn relay_bus(&mut self, before: &[bool], now: &[bool], out: &mut Outbox) {
        if !before[CLK] && now[CLK] && !now[CS] {
            self.shift.take(now[MOSI]);
        }
        match (before[CS], now[CS]) {
            (true, false) => self.shift = Shift::default(),
            (false, true) if self.shift.count == OUTPUTS => self.relays = self.shift.bits,
            (false, true) if self.shift.count > 0 => {
                let count = self.shift.count;
                out.warn(format!(
                    "relays: a message of {count} bits, of {OUTPUTS}: it is ignored"
                ));
            }
            _ => {}
        }
    }

    fn adc_bus(&mut self, at: Ns, before: &[bool], now: &[bool], out: &mut Outbox) {
        let told = match (before[CS], now[CS]) {
            (true, false) => {
                self.adc.begin();
                None
            }
            (false, true) => self.adc.end(),
            _ => None,
        };
        out.warnings.extend(told);
        match (before[CLK], now[CLK]) {
            (false, true) if !now[CS] => out.warnings.extend(self.adc.rise(at, now[MOSI])),
            (true, false) if !now[CS] => {
                let miso = self.adc.fall().unwrap_or(false);
                if miso != self.miso {
                    self.miso = miso;
                    out.send(MISO, Signal::Level(miso));
                }
            }
            _ => {}
        }
    }
}

impl Model for Shuttler {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let before = self.lines;
        set_levels(&mut self.lines, changes);
        let now = self.lines;
        if before[RELAY..ADC] != now[RELAY..ADC] {
            self.relay_bus(&before[RELAY..ADC], &now[RELAY..ADC], out);
        }
        if before[ADC..] != now[ADC..] {
            self.adc_bus(at, &before[ADC..], &now[ADC..], out);
        }
    }

    fn report(&self, _at: Ns) -> Value {
        json!({ "card": "Shuttler", "relays": self.relays, "adc": self.adc.report() })
    }
}
