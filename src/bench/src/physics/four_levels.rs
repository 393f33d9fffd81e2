//! A four-level ion: both states of the ground level (`S-`, `S+`), the short-lived cooling level
//! (`P`) and the long-lived shelving level (`D`), described by populations and the coherence of the
//! qubit `S-`/`D`, and solved exactly while the light is constant.
//!
//! Light on `P` absorbs and emits at the rate R = (G s/2)/(1 + (2d/G)^2), whose steady state for
//! two levels is that of the optical Bloch equations, (s/2)/(1 + s + (2d/G)^2); coherences with `P`
//! decay within nanoseconds. No other coherence arises, so the master equation of 16 numbers
//! reduces to six with constant coefficients.

use std::f64::consts::TAU;

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

/// Indices of the state: populations of `S-`, `S+`, `P`, `D`, then real and imaginary part of the
/// density matrix element (`D`, `S-`).
pub const LOWER: usize = 0;
/// The other state of the ground level.
pub const PUMPED: usize = 1;
/// The level that scatters light.
pub const SCATTERING: usize = 2;
/// The level that does not scatter.
pub const METASTABLE: usize = 3;
const RE: usize = 4;
const IM: usize = 5;

/// Parameters of the ion, in rates per second.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Levels {
    /// Decay rate of `P`…
    pub linewidth: f64,
    /// …and the fractions of it that end in `S-`, `S+` and `D`.
    pub branching: [f64; 3],
    /// Decay rate of `D` to `S-`.
    pub decay: f64,
    /// Rate at which the qubit loses coherence, in addition to decay.
    pub dephasing: f64,
}

/// The light on the ion, constant for some time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Lights {
    /// Rabi frequency of the qubit in Hz.
    pub rabi_hz: f64,
    /// Detuning of the qubit's light from its transition in Hz.
    pub detuning_hz: f64,
    /// Phase of that light in turns at the beginning, in the transition's frame.
    pub turns: f64,
    /// Rate at which cooling light transfers either state of the ground level to `P`, 1/s.
    pub cooling: f64,
    /// Rate at which pumping light transfers `S+` to `P`, 1/s.
    pub pumping: f64,
    /// Rate at which repumping light transfers `D` to `P`, 1/s. It does not transfer `P` to `D`:
    /// real ions are repumped via another short-lived level, which cooling light leaves empty.
    pub repump: f64,
}

/// The state of an ion in `S-`.
pub fn ground() -> Vector6<f64> {
    Vector6::x()
}

/// The state after `time` s.
pub fn evolve(state: Vector6<f64>, levels: &Levels, lights: &Lights, time: f64) -> Vector6<f64> {
    let end = (lights.turns + lights.detuning_hz * time).rem_euclid(1.0);
    let there = turned(state, lights.turns);
    turned((generator(levels, lights) * time).exp() * there, -end)
}

/// Rotates the coherence into the frame of light with this phase.
fn turned(mut state: Vector6<f64>, turns: f64) -> Vector6<f64> {
    let (sin, cos) = (TAU * turns).sin_cos();
    (state[RE], state[IM]) = (cos * state[RE] - sin * state[IM], sin * state[RE] + cos * state[IM]);
    state
}

/// Rates between populations: (from, to, 1/s).
fn rates(levels: &Levels, lights: &Lights) -> [(usize, usize, f64); 9] {
    let [to_lower, to_pumped, to_metastable] = levels.branching.map(|part| part * levels.linewidth);
    let plus = lights.cooling + lights.pumping;
    [
        (LOWER, SCATTERING, lights.cooling),
        (SCATTERING, LOWER, lights.cooling),
        (PUMPED, SCATTERING, plus),
        (SCATTERING, PUMPED, plus),
        (METASTABLE, SCATTERING, lights.repump),
        (SCATTERING, LOWER, to_lower),
        (SCATTERING, PUMPED, to_pumped),
        (SCATTERING, METASTABLE, to_metastable),
        (METASTABLE, LOWER, levels.decay),
    ]
}

fn generator(levels: &Levels, lights: &Lights) -> Matrix6<f64> {
    let (rabi, detuning) = (TAU * lights.rabi_hz, TAU * lights.detuning_hz);
    let mut matrix = Matrix6::zeros();
    let mut lost = levels.dephasing;
    for (from, to, rate) in rates(levels, lights) {
        matrix[(to, from)] += rate;
        matrix[(from, from)] -= rate;
        if from == LOWER || from == METASTABLE {
            lost += rate / 2.0;
        }
    }
    matrix[(LOWER, IM)] += rabi;
    matrix[(METASTABLE, IM)] -= rabi;
    matrix[(RE, RE)] = -lost;
    matrix[(IM, IM)] = -lost;
    matrix[(RE, IM)] = -detuning;
    matrix[(IM, RE)] = detuning;
    matrix[(IM, LOWER)] = -rabi / 2.0;
    matrix[(IM, METASTABLE)] = rabi / 2.0;
    matrix
}

/// Populations of `S-`, `S+` and `P` after `time` s, on the condition that the ion has not gone to
/// `D`; their sum is the probability of that.
pub fn evolve_bright(populations: Vector3<f64>, levels: &Levels, lights: &Lights, time: f64) -> Vector3<f64> {
    let mut matrix = Matrix3::zeros();
    for (from, to, rate) in rates(levels, lights) {
        if from < METASTABLE {
            matrix[(from, from)] -= rate;
            if to < METASTABLE {
                matrix[(to, from)] += rate;
            }
        }
    }
    (matrix * time).exp() * populations
}

/// Rate at which an ion in `P` decays to `D`, 1/s.
pub fn to_metastable(levels: &Levels) -> f64 {
    levels.branching[2] * levels.linewidth
}

#[cfg(test)]
#[path = "four_levels_tests.rs"]
mod tests;
