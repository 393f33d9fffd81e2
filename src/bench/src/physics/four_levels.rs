//! An ion with four levels: both states of the ground level (`S-`, `S+`), the short-lived level of
//! cooling (`P`), and the long-lived one of shelving (`D`), as populations and the coherence of the
//! qubit `S-`/`D`, solved exactly while light is constant.
//!
//! Light on `P` acts at its rate R = (G s/2)/(1 + (2d/G)^2), absorbed and emitted alike: in the
//! steady state of two levels that is the optical Bloch equations' (s/2)/(1 + s + (2d/G)^2), and
//! what coherence there is with `P` is gone within nanoseconds. Then no other coherence comes into
//! being, and the master equation of 16 numbers is one of six with constant coefficients.

use std::f64::consts::TAU;

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

/// Numbers of the state: populations of `S-`, `S+`, `P`, `D`, then real and imaginary part of the
/// density matrix' element (`D`, `S-`).
pub const LOWER: usize = 0;
/// The other state of the ground level.
pub const PUMPED: usize = 1;
/// The level that scatters.
pub const SCATTERING: usize = 2;
/// The level that does not.
pub const SHELF: usize = 3;
const RE: usize = 4;
const IM: usize = 5;

/// What the ion is, in rates per second.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Levels {
    /// At which `P` decays…
    pub linewidth: f64,
    /// …and the parts of it that end in `S-`, `S+` and `D`.
    pub branching: [f64; 3],
    /// At which `D` decays to `S-`.
    pub decay: f64,
    /// At which the qubit loses coherence beyond what decay takes.
    pub dephasing: f64,
}

/// What acts on the ion, constant for some time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Lights {
    /// Rabi frequency of the qubit in Hz.
    pub rabi_hz: f64,
    /// Light of the qubit less its transition in Hz.
    pub detuning_hz: f64,
    /// Phase of that light in turns at the beginning, in the transition's frame.
    pub turns: f64,
    /// Rate at which cooling light takes either state of the ground level to `P`, 1/s.
    pub cooling: f64,
    /// Rate at which pumping light takes `S+` to `P`, 1/s.
    pub pumping: f64,
    /// Rate at which repumping light takes `D` to `P`, 1/s. It does not take `P` to `D`: in ions it
    /// goes by another level of short life, which cooling light leaves empty.
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

/// The coherence as light of this phase sees it.
fn turned(mut state: Vector6<f64>, turns: f64) -> Vector6<f64> {
    let (sin, cos) = (TAU * turns).sin_cos();
    (state[RE], state[IM]) = (cos * state[RE] - sin * state[IM], sin * state[RE] + cos * state[IM]);
    state
}

/// Rates between populations: (from, to, 1/s).
fn rates(levels: &Levels, lights: &Lights) -> [(usize, usize, f64); 9] {
    let [to_lower, to_pumped, to_shelf] = levels.branching.map(|part| part * levels.linewidth);
    let plus = lights.cooling + lights.pumping;
    [
        (LOWER, SCATTERING, lights.cooling),
        (SCATTERING, LOWER, lights.cooling),
        (PUMPED, SCATTERING, plus),
        (SCATTERING, PUMPED, plus),
        (SHELF, SCATTERING, lights.repump),
        (SCATTERING, LOWER, to_lower),
        (SCATTERING, PUMPED, to_pumped),
        (SCATTERING, SHELF, to_shelf),
        (SHELF, LOWER, levels.decay),
    ]
}

fn generator(levels: &Levels, lights: &Lights) -> Matrix6<f64> {
    let (rabi, detuning) = (TAU * lights.rabi_hz, TAU * lights.detuning_hz);
    let mut matrix = Matrix6::zeros();
    let mut lost = levels.dephasing;
    for (from, to, rate) in rates(levels, lights) {
        matrix[(to, from)] += rate;
        matrix[(from, from)] -= rate;
        if from == LOWER || from == SHELF {
            lost += rate / 2.0;
        }
    }
    matrix[(LOWER, IM)] += rabi;
    matrix[(SHELF, IM)] -= rabi;
    matrix[(RE, RE)] = -lost;
    matrix[(IM, IM)] = -lost;
    matrix[(RE, IM)] = -detuning;
    matrix[(IM, RE)] = detuning;
    matrix[(IM, LOWER)] = -rabi / 2.0;
    matrix[(IM, SHELF)] = rabi / 2.0;
    matrix
}

/// Populations of `S-`, `S+` and `P` after `time` s, of an ion that is known not to have gone to
/// `D`; their sum is the probability of that.
pub fn evolve_bright(populations: Vector3<f64>, levels: &Levels, lights: &Lights, time: f64) -> Vector3<f64> {
    let mut matrix = Matrix3::zeros();
    for (from, to, rate) in rates(levels, lights) {
        if from < SHELF {
            matrix[(from, from)] -= rate;
            if to < SHELF {
                matrix[(to, from)] += rate;
            }
        }
    }
    (matrix * time).exp() * populations
}

/// Rate at which an ion in `P` leaves for `D`, 1/s.
pub fn to_shelf(levels: &Levels) -> f64 {
    levels.branching[2] * levels.linewidth
}

#[cfg(test)]
#[path = "four_levels_tests.rs"]
mod tests;
