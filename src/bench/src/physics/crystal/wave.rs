//! The wave function of up to two qubits and a mode of motion in light of one or two tones.
//!
//! Qubits are in the rotating frame of their transition, the oscillator is not in a rotating frame.
//! Times are whole nanoseconds. In a single tone the Hamiltonian is constant in the light's frame,
//! so the evolution is a product of powers of two of the propagator of one nanosecond. In two tones
//! it has the period of their beat, so the evolution consists of whole periods, computed likewise,
//! and remainders at both ends. Propagators are cached by the settings of the light, which recur in
//! each shot of an experiment.

use std::collections::HashMap;
use std::f64::consts::TAU;

use nalgebra::{DMatrix, DVector};

use super::oscillator::{kick, C};
use super::period::Period;
use super::powers::Powers;
use crate::signal::{seconds, Ns};

/// Maximum number of cached settings.
const KEPT: usize = 64;

/// A mode of motion and its ions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Number of ions, 1 or 2, which all participate equally.
    pub ions: usize,
    /// Number of simulated states of the mode; the highest has one quantum less.
    pub states: usize,
    /// Frequency in Hz.
    pub hz: f64,
    /// Lamb-Dicke parameter of the qubits' light.
    pub eta: f64,
}

impl Mode {
    /// Length of the wave function.
    pub fn size(&self) -> usize {
        self.states << self.ions
    }

    /// Whether an ion is in `D` in a row of the wave function.
    pub fn is_up(&self, row: usize, ion: usize) -> bool {
        (row / self.states) & (1 << ion) != 0
    }
}

/// Light on qubits.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Tone {
    /// Rabi frequency in Hz of an ion at rest.
    pub rabi_hz: f64,
    /// Detuning of the light from the transition in Hz.
    pub detuning_hz: f64,
    /// Phase in turns at the beginning, in the transition's frame.
    pub turns: f64,
    /// Bit n: the light illuminates ion n.
    pub ions: usize,
}

/// Cached propagators by settings of the light.
pub struct Propagators {
    mode: Mode,
    kick: DMatrix<C>,
    one: HashMap<[u64; 4], Powers>,
    two: HashMap<[u64; 7], Period>,
}

impl Propagators {
    /// An empty cache.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            kick: kick(mode.eta, mode.states),
            one: HashMap::new(),
            two: HashMap::new(),
        }
    }

    /// The state after `time`. With `leaving`, the rate in 1/s at which each qubit leaves its upper
    /// state, this is the state without any such jump, and its squared norm the probability of
    /// that. Only the first two tones act.
    pub fn evolve(&mut self, state: &DVector<C>, tones: &[Tone], leaving: f64, time: Ns) -> DVector<C> {
        match tones {
            [] => self.free(state, leaving, time),
            [tone] => self.in_one(state, tone, leaving, time),
            [first, second, ..] if first.detuning_hz < second.detuning_hz => {
                self.in_two(state, first, second, leaving, time)
            }
            [first, second, ..] => self.in_two(state, second, first, leaving, time),
        }
    }

    fn free(&self, state: &DVector<C>, leaving: f64, time: Ns) -> DVector<C> {
        let time = seconds(time);
        let turn = diagonal(&self.mode, 0.0, leaving).map(|rate| (rate * C::new(0.0, -time)).exp());
        turn.component_mul(state)
    }

    fn in_one(&mut self, state: &DVector<C>, tone: &Tone, leaving: f64, time: Ns) -> DVector<C> {
        let there = turned(&self.mode, state, tone.turns);
        let key = [
            tone.rabi_hz.to_bits(),
            tone.detuning_hz.to_bits(),
            tone.ions as u64,
            leaving.to_bits(),
        ];
        if self.one.len() >= KEPT && !self.one.contains_key(&key) {
            self.one.clear();
        }
        let powers = self.one.entry(key).or_insert_with(|| {
            let coupling = coupling(&self.mode, &self.kick, tone);
            let hamiltonian = DMatrix::from_diagonal(&diagonal(&self.mode, tone.detuning_hz, leaving))
                + coupling.adjoint()
                + coupling;
            Powers::of((hamiltonian * C::new(0.0, -1e-9)).exp())
        });
        let there = powers.apply(there, time);
        turned(
            &self.mode,
            &there,
            -(tone.turns + tone.detuning_hz * seconds(time)).rem_euclid(1.0),
        )
    }

    /// Evolution in two tones, the first of which is not above the second.
    fn in_two(&mut self, state: &DVector<C>, first: &Tone, second: &Tone, leaving: f64, time: Ns) -> DVector<C> {
        let phase = (second.turns - first.turns).rem_euclid(1.0);
        let beat = second.detuning_hz - first.detuning_hz;
        // Without a beat the phase is a setting; otherwise it is the position in the period at the
        // beginning.
        let setting = if beat == 0.0 { phase } else { 0.0 };
        let key = [
            first.rabi_hz.to_bits(),
            first.detuning_hz.to_bits(),
            second.rabi_hz.to_bits(),
            second.detuning_hz.to_bits(),
            (first.ions | second.ions << 8) as u64,
            leaving.to_bits(),
            setting.to_bits(),
        ];
        if self.two.len() >= KEPT && !self.two.contains_key(&key) {
            self.two.clear();
        }
        let period = self.two.entry(key).or_insert_with(|| {
            let rates = diagonal(&self.mode, first.detuning_hz, leaving);
            let of = |tone| coupling(&self.mode, &self.kick, tone);
            let turned = of(second) * C::new(0.0, -TAU * setting).exp();
            let fastest = first.detuning_hz.abs() + 4.0 * self.mode.hz;
            Period::new(rates, of(first), turned, beat, fastest)
        });
        let there = turned(&self.mode, state, first.turns);
        let there = period.apply(there, phase, seconds(time));
        turned(
            &self.mode,
            &there,
            -(first.turns + first.detuning_hz * seconds(time)).rem_euclid(1.0),
        )
    }
}

/// The diagonal of the Hamiltonian over h-bar in the light's frame, in rad/s, with minus half of
/// the leaving rate as imaginary part.
fn diagonal(mode: &Mode, detuning_hz: f64, leaving: f64) -> DVector<C> {
    DVector::from_fn(mode.size(), |row, _| {
        let up = f64::from((row / mode.states).count_ones());
        let quanta = (row % mode.states) as f64;
        C::new(TAU * (mode.hz * quanta - detuning_hz * up), -leaving / 2.0 * up)
    })
}

/// The part of the Hamiltonian by which a tone excites its ions and kicks them; its adjoint must be
/// added.
fn coupling(mode: &Mode, kick: &DMatrix<C>, tone: &Tone) -> DMatrix<C> {
    let states = mode.states;
    let mut coupling = DMatrix::zeros(mode.size(), mode.size());
    for ion in (0..mode.ions).filter(|ion| tone.ions >> ion & 1 != 0) {
        for low in (0..1 << mode.ions).filter(|inner| inner >> ion & 1 == 0) {
            let corner = ((low | 1 << ion) * states, low * states);
            let strength = C::new(TAU * tone.rabi_hz / 2.0, 0.0);
            coupling
                .view_mut(corner, (states, states))
                .copy_from(&(kick * strength));
        }
    }
    coupling
}

/// Rotates the state into the frame of light with this phase.
fn turned(mode: &Mode, state: &DVector<C>, turns: f64) -> DVector<C> {
    let one = C::new(0.0, TAU * turns).exp();
    let by = [C::new(1.0, 0.0), one, one * one];
    DVector::from_fn(state.len(), |row, _| {
        state[row] * by[(row / mode.states).count_ones() as usize]
    })
}

#[cfg(test)]
#[path = "wave_tests.rs"]
mod tests;
