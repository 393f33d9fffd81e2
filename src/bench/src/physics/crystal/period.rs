//! The wave function in light of two tones, whose Hamiltonian has the period of their beat.

use std::f64::consts::TAU;

use nalgebra::{DMatrix, DVector};

use super::oscillator::C;
use super::powers::Powers;

/// Parts of a period whose propagators are cached.
const CELLS: usize = 32;
/// Maximum steps per period for caching.
const LONGEST: usize = 8192;
/// Turns of the fastest term per step: the error of a step is of fifth order.
const STEP: f64 = 0.015;

/// The Hamiltonian D + A + B exp(-i beat t) + adjoint of A and B, and its propagators.
pub struct Period {
    rates: DVector<C>,
    constant: DMatrix<C>,
    beating: DMatrix<C>,
    /// Beat frequency in Hz; 0 or more.
    beat: f64,
    /// Duration of a step in s.
    step: f64,
    kept: Option<Kept>,
}

/// Propagators of the parts of a period, and of the whole period.
struct Kept {
    parts: Vec<DMatrix<C>>,
    whole: Powers,
}

impl Period {
    /// Takes D, A, B in rad/s, the beat in Hz, and the fastest frequency in Hz of the terms in the
    /// interaction picture of D.
    pub fn new(rates: DVector<C>, first: DMatrix<C>, second: DMatrix<C>, beat: f64, fastest: f64) -> Self {
        let mut period = Self {
            rates,
            constant: first.adjoint() + first,
            beating: second,
            beat,
            step: STEP / (fastest + beat),
            kept: None,
        };
        if beat > 0.0 && 1.0 / beat / period.step < LONGEST as f64 {
            period.kept = Some(period.keep());
        }
        period
    }

    fn keep(&self) -> Kept {
        let size = self.rates.len();
        let cell = 1.0 / self.beat / CELLS as f64;
        let parts: Vec<DMatrix<C>> = (0..CELLS)
            .map(|n| {
                let mut part = DMatrix::identity(size, size);
                self.integrate(&mut part, n as f64 * cell, cell);
                part
            })
            .collect();
        let whole = parts
            .iter()
            .fold(DMatrix::identity(size, size), |whole, part| part * whole);
        Kept {
            parts,
            whole: Powers::of(whole),
        }
    }

    /// The state after `time` s, if the phase of the beat is `phase` turns (0 to 1) at the
    /// beginning.
    pub fn apply(&mut self, state: DVector<C>, phase: f64, time: f64) -> DVector<C> {
        let begin = if self.beat > 0.0 { phase / self.beat } else { 0.0 };
        let Some(mut kept) = self.kept.take() else {
            return self.integrated(state, begin, time);
        };
        let state = self.with(&mut kept, state, begin, time);
        self.kept = Some(kept);
        state
    }

    /// Uses the cached propagators: integrates to the next boundary of a part, applies parts and
    /// whole periods, and integrates the rest.
    fn with(&self, kept: &mut Kept, mut state: DVector<C>, begin: f64, time: f64) -> DVector<C> {
        let part = 1.0 / self.beat / CELLS as f64;
        let end = begin + time;
        let (first, last) = ((begin / part).ceil(), (end / part).floor());
        if last < first {
            return self.integrated(state, begin, time);
        }
        state = self.integrated(state, begin, first * part - begin);
        let (mut at, last_part) = (first as u64, last as u64);
        while at < last_part {
            let periods = (last_part - at) / CELLS as u64;
            if at.is_multiple_of(CELLS as u64) && periods > 0 {
                state = kept.whole.apply(state, periods);
                at += periods * CELLS as u64;
            } else {
                state = &kept.parts[(at % CELLS as u64) as usize] * state;
                at += 1;
            }
        }
        self.integrated(state, last * part, end - last * part)
    }

    fn integrated(&self, state: DVector<C>, begin: f64, time: f64) -> DVector<C> {
        let mut matrix = DMatrix::from_column_slice(state.len(), 1, state.as_slice());
        self.integrate(&mut matrix, begin, time);
        matrix.column(0).into_owned()
    }

    /// Integrates each column of `state` over `time` s from `begin` on, by the fourth-order
    /// Runge-Kutta method in the interaction picture of D.
    fn integrate(&self, state: &mut DMatrix<C>, begin: f64, time: f64) {
        let steps = (time / self.step).ceil().max(0.0);
        if steps == 0.0 {
            return;
        }
        let step = time / steps;
        let turn = |time: f64| self.rates.map(|rate| (rate * C::new(0.0, -time)).exp());
        let (half, back) = (turn(step / 2.0), turn(-step / 2.0));
        let scale = |state: &DMatrix<C>, by: &DVector<C>| {
            DMatrix::from_fn(state.nrows(), state.ncols(), |row, column| {
                state[(row, column)] * by[row]
            })
        };
        // The interaction picture of a step refers to its middle: D acts for half a step before and
        // after.
        for n in 0..steps as u64 {
            let at = begin + n as f64 * step;
            let (early, middle, late) = (self.light(at), self.light(at + step / 2.0), self.light(at + step));
            let start = scale(state, &half);
            let k1 = scale(&(&early * &*state), &half);
            let k2 = &middle * (&start + &k1 * C::new(step / 2.0, 0.0));
            let k3 = &middle * (&start + &k2 * C::new(step / 2.0, 0.0));
            let there = scale(&(&start + &k3 * C::new(step, 0.0)), &half);
            let k4 = scale(&(&late * there), &back);
            let sum = k1 + (k2 + k3) * C::new(2.0, 0.0) + k4;
            *state = scale(&(start + sum * C::new(step / 6.0, 0.0)), &half);
        }
    }

    /// Minus i times the light's contribution to the Hamiltonian at a time.
    fn light(&self, at: f64) -> DMatrix<C> {
        let beating = &self.beating * C::new(0.0, -TAU * self.beat * at).exp();
        (&self.constant + beating.adjoint() + beating) * C::new(0.0, -1.0)
    }
}
