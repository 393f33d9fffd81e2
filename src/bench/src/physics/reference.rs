//! Results of QuTiP for comparison in tests, computed and described by
//! `tests/physics/reference.py`.

use serde::Deserialize;

use super::crystal::oscillator::C;
use super::crystal::wave::{Mode, Tone};
use super::four_levels::{Levels, Lights};

/// All results.
#[derive(Deserialize)]
pub struct Reference {
    pub levels: Levels,
    pub four_levels: Vec<FourLevels>,
    pub waves: Vec<Wave>,
    pub disturbed: Vec<Disturbed>,
}

#[derive(Deserialize)]
pub struct FourLevels {
    pub what: String,
    pub lights: Lights,
    pub time: f64,
    pub begin: [f64; 6],
    pub end: [f64; 6],
}

/// Ions, a mode, the light on them, and the initial state.
#[derive(Deserialize)]
pub struct System {
    pub what: String,
    ions: usize,
    states: usize,
    mode_hz: f64,
    eta: f64,
    pub tones: Vec<Tone>,
    pub up: usize,
    pub quanta: usize,
    pub time_ns: u64,
}

#[derive(Deserialize)]
pub struct Wave {
    #[serde(flatten)]
    pub system: System,
    end: Vec<(f64, f64)>,
}

#[derive(Deserialize)]
pub struct Disturbed {
    #[serde(flatten)]
    pub system: System,
    pub heating: f64,
    pub dephasing: f64,
    pub leaving: f64,
    pub upper: f64,
    pub mean_quanta: f64,
}

impl System {
    pub fn mode(&self) -> Mode {
        Mode {
            ions: self.ions,
            states: self.states,
            hz: self.mode_hz,
            eta: self.eta,
        }
    }
}

impl Wave {
    pub fn end(&self) -> Vec<C> {
        self.end.iter().map(|(re, im)| C::new(*re, *im)).collect()
    }
}

pub fn reference() -> Reference {
    serde_json::from_str(include_str!("qutip.json")).expect("what the script wrote")
}
