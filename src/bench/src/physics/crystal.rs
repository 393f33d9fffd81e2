//! One or two ions with four levels each, and a mode of their motion, in light that drives the
//! qubits, cools, pumps and repumps.
//!
//! While no ion scatters light, the state is a wave function of qubits (`S-` and `D`) and mode.
//! Disturbances occur at random times: phase flips of a qubit (dephasing), small displacements
//! (heating), and quantum jumps out of `D` (decay, repumping); averaged over runs this is the
//! master equation. Scattered light projects the state ([`fluorescence`]).
//!
//! | modules | contents |
//! |---|---|
//! | [`wave`], [`period`], [`oscillator`] | wave function in light of one tone or two, operators |
//! | [`fluorescence`] | ions that scatter |
//! | [`doppler`] | effects of scattering on the motion |

use nalgebra::{DMatrix, DVector};
use rand_distr::{Distribution, Exp1, StandardNormal, StandardUniform};
use rand_pcg::Pcg64Mcg;
use serde_json::{json, Value};

use super::four_levels::Lights;
use crate::model::{Change, Model, Outbox};
use crate::signal::{seconds, turns_of, Light, Ns, Signal};
use doppler::{draw_quanta, draw_thermal, on_resonance, Cooling};
use fluorescence::{Fluorescence, Level, Shining};
pub use options::{Beam, Drive, Options};
use oscillator::{displacement, C};
use wave::{Propagators, Tone};

pub mod doppler;
pub mod fluorescence;
mod options;
pub mod oscillator;
pub mod period;
pub mod powers;
pub mod wave;

/// Input numbers: light that scatters and cools…
pub const COOLING: usize = 0;
/// …light that scatters from `S+` only…
pub const PUMPING: usize = 1;
/// …light that empties `D`…
pub const REPUMP: usize = 2;
/// …and from here on, beams that drive qubits.
pub const DRIVES: usize = 3;

/// Size of the displacements by heating while light drives qubits; its square is in quanta.
const KICK: f64 = 0.1;
/// Population of the highest simulated state of the mode that causes a warning.
const FULL: f64 = 0.01;

/// The ions: output 0 is their photons, followed by each ion's population of `D`, then by each
/// ion's photons.
pub struct Crystal {
    options: Options,
    random: Pcg64Mcg,
    propagators: Propagators,
    state: DVector<C>,
    /// Ions in `S+`, which the qubits' light does not affect; they count as lower in the state.
    pumped: usize,
    /// The number of quanta, while it exceeds the range of the wave function.
    hot: Option<u32>,
    /// Replaces the state while light is scattered.
    fluorescence: Option<Fluorescence>,
    at: Ns,
    lights: Vec<Light>,
    since: Vec<Ns>,
    kick: DMatrix<C>,
    detections: u64,
    photons: f64,
    upper: [f64; 2],
    warned: [bool; 2],
}

impl Crystal {
    /// Creates the ions in `S-`.
    pub fn new(options: Options, mut random: Pcg64Mcg) -> Self {
        let inputs = DRIVES + options.drives.len();
        let quanta = draw_thermal(options.quanta, &mut random);
        let mut crystal = Self {
            propagators: Propagators::new(options.mode),
            state: DVector::zeros(options.mode.size()),
            pumped: 0,
            hot: None,
            fluorescence: None,
            at: 0,
            lights: vec![Light::default(); inputs],
            since: vec![0; inputs],
            kick: displacement(C::new(KICK, 0.0), options.mode.states),
            detections: 0,
            photons: 0.0,
            upper: [0.0; 2],
            warned: [false; 2],
            random,
            options,
        };
        crystal.put(0, quanta);
        crystal
    }

    fn uniform(&mut self) -> f64 {
        StandardUniform.sample(&mut self.random)
    }

    /// Sets a basis state; bit n of `up`: ion n is in `D`.
    fn put(&mut self, up: usize, quanta: u32) {
        let highest = self.options.mode.states as u32 - 1;
        self.hot = (quanta > highest).then_some(quanta);
        self.state.fill(C::new(0.0, 0.0));
        self.state[up * self.options.mode.states + quanta.min(highest) as usize] = C::new(1.0, 0.0);
    }

    fn scatters(&self) -> bool {
        self.lights[COOLING].power > 0.0 || self.lights[PUMPING].power > 0.0
    }

    fn leaving(&self) -> f64 {
        self.options.levels.decay + self.options.repump * self.lights[REPUMP].power
    }

    /// The tones that drive qubits at the time of the state.
    fn tones(&self) -> Vec<Tone> {
        let mut tones = Vec::new();
        for (number, drive) in self.options.drives.iter().enumerate() {
            let light = self.lights[DRIVES + number];
            let ions = drive.ions & !self.pumped;
            if light.power > 0.0 && ions != 0 {
                let lasts = self.at - self.since[DRIVES + number];
                let turns = light.turns + turns_of(light.hz, lasts) - turns_of(drive.resonance_hz, self.at);
                tones.push(Tone {
                    rabi_hz: drive.rabi_hz * light.power.sqrt(),
                    detuning_hz: light.hz - drive.resonance_hz,
                    turns: turns.rem_euclid(1.0),
                    ions,
                });
            }
        }
        tones
    }

    /// Advances the state to `at`.
    fn advance(&mut self, at: Ns) {
        match &mut self.fluorescence {
            Some(fluorescence) => fluorescence.advance(at),
            None if at > self.at => self.turn(at),
            None => {}
        }
        self.at = at;
    }

    /// Advances the wave function to `at`, with all disturbances.
    fn turn(&mut self, at: Ns) {
        let in_light = !self.tones().is_empty();
        let kicks = if in_light {
            self.options.heating / KICK.powi(2)
        } else {
            0.0
        };
        let flips = self.options.levels.dephasing / 2.0;
        let ions = self.options.mode.ions;
        let rate = kicks + flips * ions as f64;
        let begin = self.at;
        while self.at < at {
            let wait: f64 = Exp1.sample(&mut self.random);
            let wait = if rate > 0.0 {
                (wait / rate * 1e9).min(1e18) as Ns + 1
            } else {
                Ns::MAX
            };
            let end = at.min(self.at.saturating_add(wait));
            self.fall(end);
            if end < at {
                let which = self.uniform() * rate;
                match which < kicks {
                    true => self.displace(),
                    false => self.flip(((which - kicks) / flips) as usize % ions),
                }
            }
        }
        if !in_light && self.options.heating > 0.0 {
            self.heat(self.options.heating * seconds(at - begin));
        }
    }

    /// Advances the wave function to `end`, with jumps out of `D` at their times.
    fn fall(&mut self, end: Ns) {
        let leaving = self.leaving();
        while self.at < end {
            let tones = self.tones();
            let time = end - self.at;
            let after = self.propagators.evolve(&self.state, &tones, leaving, time);
            let stays = after.norm_squared();
            // Without a possible jump the norm stays 1 except for rounding.
            let drawn = self.uniform();
            if stays > 1.0 - 1e-12 || drawn < stays {
                self.state = after / C::new(stays.sqrt(), 0.0);
                self.at = end;
                return;
            }
            // Finds the first nanosecond at which the squared norm is below the drawn number.
            let (mut low, mut high) = (0, time);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                let there = self.propagators.evolve(&self.state, &tones, leaving, middle);
                match there.norm_squared() > drawn {
                    true => low = middle,
                    false => high = middle,
                }
            }
            self.state = self.propagators.evolve(&self.state, &tones, leaving, high);
            self.at += high;
            self.jump();
        }
    }

    /// The population of `D` of an ion.
    fn share(&self, ion: usize) -> f64 {
        let up = (0..self.state.len()).filter(|row| self.options.mode.is_up(*row, ion));
        up.map(|row| self.state[row].norm_sqr()).sum()
    }

    /// Lets an ion jump out of `D`.
    fn jump(&mut self) {
        let states = self.options.mode.states;
        let first = self.share(0);
        let second = if self.options.mode.ions > 1 { self.share(1) } else { 0.0 };
        let ion = usize::from(self.uniform() * (first + second) >= first);
        let mut fallen = DVector::zeros(self.state.len());
        for (row, amplitude) in self.state.iter().enumerate() {
            if self.options.mode.is_up(row, ion) {
                fallen[row - (states << ion)] = *amplitude;
            }
        }
        self.state = fallen.normalize();
        let (repump, [lower, pumped, _]) = (
            self.leaving() - self.options.levels.decay,
            self.options.levels.branching,
        );
        if self.uniform() * self.leaving() < repump && self.uniform() * (lower + pumped) >= lower {
            self.pumped |= 1 << ion;
        }
    }

    /// Flips the phase of a qubit.
    fn flip(&mut self, ion: usize) {
        let mode = self.options.mode;
        for (row, amplitude) in self.state.iter_mut().enumerate() {
            if mode.is_up(row, ion) {
                *amplitude = -*amplitude;
            }
        }
    }

    /// Displaces the mode in a random direction.
    fn displace(&mut self) {
        let angle = self.uniform() * std::f64::consts::TAU;
        let (states, kick) = (self.options.mode.states, self.kick.clone());
        let turn = DVector::from_fn(states, |n, _| C::new(0.0, angle * n as f64).exp());
        self.mode_by(&DMatrix::from_fn(states, states, |row, column| {
            turn[row] * kick[(row, column)] * turn[column].conj()
        }));
    }

    /// Applies an operator to the mode; components outside of the simulated states are dropped.
    fn mode_by(&mut self, operator: &DMatrix<C>) {
        let states = self.options.mode.states;
        for inner in 0..1 << self.options.mode.ions {
            let part = operator * self.state.rows(inner * states, states);
            self.state.rows_mut(inner * states, states).copy_from(&part);
        }
        self.state = self.state.normalize();
    }

    /// Adds `quanta` to the mode on average, without light on the qubits.
    fn heat(&mut self, quanta: f64) {
        let held = self.options.mode.states as f64 / 8.0;
        if self.hot.is_none() && self.quanta() + quanta < held {
            // A noisy force: a displacement whose real and imaginary parts are normally
            // distributed.
            let part = |random: &mut Pcg64Mcg| -> f64 { StandardNormal.sample(random) };
            let scale = (quanta / 2.0).sqrt();
            let z = C::new(part(&mut self.random) * scale, part(&mut self.random) * scale);
            return self.mode_by(&displacement(z, self.options.mode.states));
        }
        let (up, before) = self.project();
        let after = draw_quanta(before, quanta, quanta, &mut self.random);
        self.put(up, after);
    }

    /// Mean quanta of the state.
    fn quanta(&self) -> f64 {
        let states = self.options.mode.states;
        let mean = self
            .state
            .iter()
            .enumerate()
            .map(|(row, a)| (row % states) as f64 * a.norm_sqr());
        self.hot.map_or_else(|| mean.sum(), f64::from)
    }

    /// Draws the result of a measurement of qubits and quanta: ions in `D` as bits, and quanta.
    fn project(&mut self) -> (usize, u32) {
        let mut drawn = self.uniform() * self.state.norm_squared();
        let states = self.options.mode.states;
        let found = self.state.iter().position(|amplitude| {
            drawn -= amplitude.norm_sqr();
            drawn < 0.0
        });
        let row = found.unwrap_or(0);
        (row / states, self.hot.unwrap_or((row % states) as u32))
    }

    /// The current scattering light.
    fn shining(&self) -> Shining {
        let options = &self.options;
        let rate = |input: usize, beam: &Beam| {
            let light = self.lights[input];
            let detuning_hz = light.hz - beam.resonance_hz;
            let lorentz = 1.0 / (1.0 + (2.0 * detuning_hz / options.linewidth_hz).powi(2));
            (
                on_resonance(options.linewidth_hz, beam.saturation * light.power) * lorentz,
                detuning_hz,
            )
        };
        let (cooling, detuning_hz) = rate(COOLING, &options.cooling);
        let moves = cooling > 0.0 && options.eta_cooling > 0.0;
        Shining {
            lights: Lights {
                cooling,
                pumping: rate(PUMPING, &options.pumping).0,
                repump: options.repump * self.lights[REPUMP].power,
                ..Lights::default()
            },
            cooling: moves.then_some(Cooling {
                linewidth_hz: options.linewidth_hz,
                detuning_hz,
                mode_hz: options.mode.hz,
                eta: options.eta_cooling,
            }),
            heating: options.heating,
        }
    }

    /// Begins scattering: projects the state.
    fn begin(&mut self) {
        let (up, quanta) = self.project();
        let level = |ion: usize| match (up >> ion & 1, self.pumped >> ion & 1) {
            (1, _) => Level::Metastable,
            (_, 1) => Level::Pumped,
            _ => Level::Lower,
        };
        let levels: Vec<Level> = (0..self.options.mode.ions).map(level).collect();
        self.detections += 1;
        self.fluorescence = Some(Fluorescence::new(
            self.options.levels,
            self.shining(),
            &levels,
            quanta,
            self.at,
        ));
    }

    /// Ends scattering: prepares the state that [`Fluorescence`] ends in.
    fn end(&mut self, fluorescence: Fluorescence) {
        let (levels, quanta) = fluorescence.end(&mut self.random);
        let bits = |wanted: Level| -> usize {
            let of = levels.iter().enumerate().filter(|(_, level)| **level == wanted);
            of.map(|(ion, _)| 1 << ion).sum()
        };
        self.pumped = bits(Level::Pumped);
        self.put(bits(Level::Metastable), quanta);
    }

    /// Populations of `D` for each ion, and mean quanta.
    fn populations(&self) -> (Vec<f64>, f64) {
        let waves = || {
            (
                (0..self.options.mode.ions).map(|ion| self.share(ion)).collect(),
                self.quanta(),
            )
        };
        self.fluorescence.as_ref().map_or_else(waves, Fluorescence::state)
    }

    fn report(&mut self, out: &mut Outbox) {
        let (upper, _) = self.populations();
        for (ion, population) in upper.into_iter().enumerate() {
            if (population - self.upper[ion]).abs() > 1e-6 {
                self.upper[ion] = population;
                out.send(1 + ion, Signal::Population(population));
            }
        }
        let each = self
            .fluorescence
            .as_ref()
            .map_or(Vec::new(), Fluorescence::photons_of_each);
        let photons: f64 = each.iter().sum();
        if (photons - self.photons).abs() > 5e-3 * self.photons.max(photons) {
            self.photons = photons;
            out.send(0, Signal::Photons(photons));
            for ion in 0..self.options.mode.ions {
                let of_it = each.get(ion).copied().unwrap_or(0.0);
                out.send(1 + self.options.mode.ions + ion, Signal::Photons(of_it));
            }
        }
    }

    /// Warns about situations that cannot be intended.
    fn warn(&mut self, out: &mut Outbox) {
        let tones = (0..self.options.drives.len()).filter(|n| self.lights[DRIVES + n].power > 0.0);
        if tones.count() > 2 && !self.warned[0] {
            self.warned[0] = true;
            out.warn("more than two beams drive its qubits at once: all but the first two are ignored");
        }
        let states = self.options.mode.states;
        let top: f64 = self
            .state
            .iter()
            .skip(states - 1)
            .step_by(states)
            .map(|a| a.norm_sqr())
            .sum();
        if self.fluorescence.is_none() && !self.tones().is_empty() && top > FULL && !self.warned[1] {
            self.warned[1] = true;
            out.warn(format!(
                "its mode has more quanta than are modelled (states = {states}): light on the qubits acts as with {}",
                states - 1
            ));
        }
    }
}

impl Model for Crystal {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        self.advance(at);
        for (input, signal) in changes {
            if let Signal::Light(light) = signal {
                self.lights[*input] = *light;
                self.since[*input] = at;
            }
        }
        match (self.fluorescence.take(), self.scatters()) {
            (None, true) => self.begin(),
            (Some(fluorescence), false) => self.end(fluorescence),
            (fluorescence, _) => self.fluorescence = fluorescence,
        }
        let shining = self.shining();
        if let Some(fluorescence) = &mut self.fluorescence {
            fluorescence.shine(shining, &mut self.random);
        }
        self.warn(out);
        self.report(out);
    }

    fn next(&self) -> Option<Ns> {
        self.fluorescence.as_ref().and_then(Fluorescence::next)
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        self.at = at;
        if let Some(fluorescence) = &mut self.fluorescence {
            fluorescence.act(at, &mut self.random);
        }
        self.report(out);
    }

    /// State as of the last change of the light.
    fn reseed(&mut self, random: Pcg64Mcg) {
        self.random = random;
    }

    fn report(&self, _at: Ns) -> Value {
        let (upper, quanta) = self.populations();
        let pumped: Vec<bool> = (0..self.options.mode.ions)
            .map(|ion| self.pumped >> ion & 1 != 0)
            .collect();
        json!({
            "part": "crystal",
            "upper_population": upper,
            "pumped": pumped,
            "quanta": quanta,
            "photons_hz": self.photons,
            "detections": self.detections,
        })
    }
}

#[cfg(test)]
#[path = "crystal_tests.rs"]
mod tests;
