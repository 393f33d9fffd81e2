//! The registers of an AD9910: values in effect, values that await an update, and the clock that
//! they configure.

use kairos_contracts::chips::ad9910::{self as chip, cfr1, cfr3};
use kairos_contracts::chips::WideRegister;
use serde_json::{Map, Value};

use super::super::reported::used;

/// Number of registers: an instruction has five address bits.
const REGISTERS: usize = 32;
/// Maximum core clock, and maximum reference of the PLL (data sheet, table 1).
const FASTEST: [f64; 2] = [1e9, 60e6];

/// Range of the PLL's multiplier (data sheet, section "PLL charge pump" and table of CFR3).
const MULTIPLIERS: [u64; 2] = [12, 127];
const NO_CLOCK: &str = "a tone is set but the chip has no clock: check clk_sel of the card and its clocks here";

pub const NO_SYNC: &str =
    "it is set to follow its SYNC_IN, which has no clock: check sync_device, sync_div and sync_sel of the \
                       card; with sync_sel 1 the generator of ch0 must be on (en_sync_gen)";

/// The register at an address, if there is one.
pub fn register(address: usize) -> Option<WideRegister> {
    let has = |register: &&WideRegister| {
        let first = usize::from(register.address);
        (first..first + usize::from(register.count)).contains(&address)
    };
    chip::ALL.iter().find(has).copied()
}

/// Width of the register at an address, if there is one.
pub fn width(address: usize) -> Option<u32> {
    register(address).map(|register| register.width)
}

/// The register file.
pub struct Registers {
    /// Values in effect, by address.
    values: [u64; REGISTERS],
    /// Written values that await an update.
    written: [Option<u64>; REGISTERS],
}

impl Registers {
    /// The state after reset.
    pub fn new() -> Self {
        Self {
            values: std::array::from_fn(|address| register(address).map_or(0, |register| register.reset)),
            written: [None; REGISTERS],
        }
    }

    /// The value at an address in effect.
    pub fn at(&self, address: usize) -> u64 {
        self.values[address]
    }

    /// The value of a register in effect.
    pub fn word(&self, register: WideRegister) -> u64 {
        self.values[usize::from(register.address)]
    }

    /// The value of a profile in effect.
    pub fn profile(&self, number: usize) -> u64 {
        self.values[usize::from(chip::PROFILE.address) + number]
    }

    /// The values in effect, by name, and the words of the `ram` up to the last one that is not 0.
    pub fn named(&self, ram: &[u32]) -> Map<String, Value> {
        let mut found = Map::new();
        for register in chip::ALL.iter().filter(|register| **register != chip::RAM) {
            for n in 0..usize::from(register.count) {
                let name = match register.count {
                    1 => register.name.into(),
                    _ => format!("{}{n}", register.name),
                };
                found.insert(name, self.values[usize::from(register.address) + n].into());
            }
        }
        found.extend(used(chip::RAM.name, ram));
        found
    }

    /// Buffers a written value.
    pub fn write(&mut self, address: usize, word: u64) {
        self.written[address] = Some(word);
    }

    /// Whether any value awaits an update.
    pub fn is_waiting(&self) -> bool {
        self.written.iter().any(Option::is_some)
    }

    /// Whether the value at an address awaits an update.
    pub fn is_written(&self, address: usize) -> bool {
        self.written[address].is_some()
    }

    /// The names of registers that await an update with changed values.
    pub fn waiting(&self) -> Vec<&'static str> {
        let differs = |(address, written): (usize, &Option<u64>)| {
            let register = register(address)?;
            // Drivers that track the phase set the autoclear bit for the next update after each
            // one.
            let kept = match register == chip::CFR1 {
                true => !cfr1::PHASE_AUTOCLEAR.mask(),
                false => u64::MAX,
            };
            (((*written)? ^ self.values[address]) & kept != 0).then_some(register.name)
        };
        self.written.iter().enumerate().filter_map(differs).collect()
    }

    /// Puts buffered values in effect; returns whether the clock's register was written.
    pub fn update(&mut self) -> bool {
        let clocked = self.written[usize::from(chip::CFR3.address)].is_some();
        for (value, written) in self.values.iter_mut().zip(&mut self.written) {
            *value = written.take().unwrap_or(*value);
        }
        clocked
    }

    /// Whether the PLL is enabled.
    pub fn has_pll(&self) -> bool {
        cfr3::PLL_ENABLE.get(self.word(chip::CFR3)) != 0
    }

    /// The reference after the divider by two.
    fn divided(&self, reference: f64) -> f64 {
        match cfr3::REFCLK_DIVIDER_BYPASS.get(self.word(chip::CFR3)) {
            0 => reference / 2.0,
            _ => reference,
        }
    }

    /// Why the chip cannot run from the reference directly, if the PLL is off.
    pub fn unclocked(&self, reference: f64) -> Option<String> {
        let (hz, fastest) = (self.divided(reference), FASTEST[0]);
        match self.has_pll() {
            true => None,
            false if reference == 0.0 => Some(NO_CLOCK.into()),
            false => (hz > fastest).then(|| format!("its clock is at most 1 GHz, not {} MHz", hz / 1e6)),
        }
    }

    /// The clock without the PLL in Hz.
    pub fn direct(&self, reference: f64) -> f64 {
        self.divided(reference).min(FASTEST[0])
    }

    /// The PLL's frequency in Hz for a reference, `None` while it is held in reset; the error is
    /// the reason why it cannot lock.
    pub fn multiplied(&self, reference: f64) -> Result<Option<f64>, String> {
        let word = self.word(chip::CFR3);
        if cfr3::PFD_RESET.get(word) != 0 {
            return Ok(None);
        }
        if reference == 0.0 {
            return Err(
                "its PLL is on but the card has no clock: check clk_sel of the card and its clocks here".into(),
            );
        }
        let divided = self.divided(reference);
        if divided > FASTEST[1] {
            return Err(format!("its PLL takes at most 60 MHz, not {} MHz", divided / 1e6));
        }
        let (times, [least, most]) = (cfr3::PLL_N.get(word), MULTIPLIERS);
        if !(least..=most).contains(&times) {
            return Err(format!(
                "its PLL multiplies by {least} to {most}, not by {times} (pll_n)"
            ));
        }
        let frequency = divided * times as f64;
        let Some([low, high]) = chip::OSCILLATORS.get(cfr3::VCO_SEL.get(word) as usize) else {
            return Err("its PLL has no oscillator selected (vco_sel)".into());
        };
        if !(*low..=*high).contains(&frequency) {
            let [frequency, low, high] = [frequency, *low, *high].map(|hz| hz / 1e6);
            return Err(format!(
                "its PLL cannot lock: {frequency} MHz is outside the range of its oscillator, {low} to {high} MHz"
            ));
        }
        Ok(Some(frequency))
    }
}
