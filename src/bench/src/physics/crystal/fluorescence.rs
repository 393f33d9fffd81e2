//! Ions that scatter light: which of them are dark, how bright the others are, and the effect on
//! their motion.
//!
//! Scattered photons reveal whether an ion is in `D`, and with how many quanta the mode oscillates,
//! so in this light an ion either is in `D` or is not, and the mode has a number of quanta.
//! Populations of the other levels follow rate equations; ions change between dark and bright at
//! random times.

use nalgebra::Vector3;
use rand_distr::{Distribution, Exp1, StandardUniform};
use rand_pcg::Pcg64Mcg;

use super::super::four_levels::{evolve_bright, to_metastable, Levels, Lights, SCATTERING};
use super::doppler::{draw_quanta, Cooling};
use crate::signal::{seconds, Ns};

/// The first step after a change, short compared to optical pumping.
const FIRST: Ns = 32;
/// The longest step while the state changes.
const LONGEST: Ns = 100_000;
/// Relative change in the longest step below which the state is considered steady.
const STEADY: f64 = 1e-3;

/// The light on the ions.
#[derive(Debug, Clone, Copy)]
pub struct Shining {
    /// Rates for ions at rest.
    pub lights: Lights,
    /// The cooling light's effect on the motion; `None`: no effect.
    pub cooling: Option<Cooling>,
    /// Heating rate in quanta per second.
    pub heating: f64,
}

/// An ion.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shown {
    /// In `D`.
    Dark,
    /// Not in `D`, with these populations of `S-`, `S+` and `P`.
    Bright(Vector3<f64>),
}

/// The ions in scattering light.
pub struct Fluorescence {
    levels: Levels,
    shining: Shining,
    ions: Vec<Shown>,
    /// Mean quanta while the motion is large, an integer while it is small.
    quanta: f64,
    at: Ns,
    step: Ns,
    /// End of the step; `None`: steady state.
    end: Option<Ns>,
    /// Time at which an ion changes between dark and bright, and its index.
    jump: Option<(Ns, usize)>,
    /// Photons scattered since quanta were drawn, by all ions…
    scattered: f64,
    /// …and since when.
    drawn: Ns,
}

/// The state of an ion: `D`, `S-` or `S+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Dark.
    Metastable,
    /// Lower state of the qubit.
    Lower,
    /// Other state of the ground level.
    Pumped,
}

impl Fluorescence {
    /// Creates ions in these states, with `quanta` quanta, from `at` on.
    pub fn new(levels: Levels, shining: Shining, of_ions: &[Level], quanta: u32, at: Ns) -> Self {
        let ions = of_ions.iter().map(|level| match level {
            Level::Metastable => Shown::Dark,
            Level::Lower => Shown::Bright(Vector3::x()),
            Level::Pumped => Shown::Bright(Vector3::y()),
        });
        Self {
            levels,
            shining,
            ions: ions.collect(),
            quanta: quanta.into(),
            at,
            step: FIRST,
            end: None,
            jump: None,
            scattered: 0.0,
            drawn: at,
        }
    }

    /// Changes the light; the state must already be advanced to the present by [`Self::advance`].
    pub fn shine(&mut self, shining: Shining, random: &mut Pcg64Mcg) {
        self.draw(random);
        self.shining = shining;
        self.step = FIRST;
        self.plan(random);
    }

    /// The time of the next event.
    pub fn next(&self) -> Option<Ns> {
        let jump = self.jump.map(|(at, _)| at);
        self.end.into_iter().chain(jump).min()
    }

    /// Photons per second of all ions.
    pub fn photons(&self) -> f64 {
        self.photons_of_each().iter().sum()
    }

    /// Photons per second of each ion.
    pub fn photons_of_each(&self) -> Vec<f64> {
        let visible = 1.0 - self.levels.branching[2];
        self.ions.iter().map(|ion| self.rate(ion) * visible).collect()
    }

    /// Spontaneous emissions of an ion per second.
    fn rate(&self, ion: &Shown) -> f64 {
        match ion {
            Shown::Dark => 0.0,
            Shown::Bright(populations) => self.levels.linewidth * populations[SCATTERING],
        }
    }

    /// The light's rates for moving ions.
    fn lights(&self) -> Lights {
        let mut lights = self.shining.lights;
        if let Some(cooling) = self.moving() {
            lights.cooling *= cooling.absorption(self.quanta) / cooling.absorption(0.0);
        }
        lights
    }

    /// The cooling light, while the motion is large.
    fn moving(&self) -> Option<Cooling> {
        self.shining.cooling.filter(|cooling| !cooling.is_small(self.quanta))
    }

    /// Advances the state to `at`, which must not be beyond [`Self::next`].
    pub fn advance(&mut self, at: Ns) {
        let time = seconds(at - self.at);
        if time > 0.0 {
            let lights = self.lights();
            let mut photons = 0.0;
            for ion in &mut self.ions {
                if let Shown::Bright(populations) = ion {
                    let after = evolve_bright(*populations, &self.levels, &lights, time);
                    let after = after / after.sum();
                    photons += self.levels.linewidth * (populations[SCATTERING] + after[SCATTERING]) / 2.0 * time;
                    *populations = after;
                }
            }
            self.scattered += photons;
            if let Some(cooling) = self.moving() {
                let gained = photons * cooling.per_photon(self.quanta) + self.shining.heating * time;
                self.quanta = (self.quanta + gained).max(0.0);
                (self.scattered, self.drawn) = (0.0, at);
            }
        }
        self.at = at;
    }

    /// Acts at the time that [`Self::next`] returned.
    pub fn act(&mut self, at: Ns, random: &mut Pcg64Mcg) {
        let before = (self.photons(), self.quanta);
        self.advance(at);
        if let Some((_, ion)) = self.jump.filter(|(jump, _)| *jump <= at) {
            self.change(ion, random);
            self.step = FIRST;
            return self.plan(random);
        }
        let now = (self.photons(), self.quanta);
        let changed = |before: f64, now: f64| ((now - before) / (before + now).max(1e-300)).abs();
        let most = changed(before.0, now.0).max(changed(before.1, now.1));
        let steady = most < STEADY * (self.step as f64 / LONGEST as f64).max(1e-2) && self.moving().is_none();
        if most < 0.02 {
            self.step = (2 * self.step).min(LONGEST);
        } else if most > 0.1 {
            self.step = (self.step / 2).max(FIRST);
        }
        self.plan(random);
        if steady {
            self.end = None;
        }
    }

    /// Changes an ion between dark and bright.
    fn change(&mut self, ion: usize, random: &mut Pcg64Mcg) {
        self.ions[ion] = match self.ions[ion] {
            Shown::Bright(_) => Shown::Dark,
            Shown::Dark => {
                let repump = self.shining.lights.repump;
                let drawn: f64 = StandardUniform.sample(random);
                let pumped = drawn * (repump + self.levels.decay) < repump;
                Shown::Bright(if pumped { Vector3::z() } else { Vector3::x() })
            }
        };
    }

    /// Draws the end of the next step and the next change of an ion. An earlier draw may be
    /// discarded, as waiting times are memoryless.
    fn plan(&mut self, random: &mut Pcg64Mcg) {
        self.end = Some(self.at + self.step);
        self.jump = None;
        for (number, ion) in self.ions.iter().enumerate() {
            let rate = match ion {
                Shown::Dark => self.levels.decay + self.shining.lights.repump,
                Shown::Bright(populations) => to_metastable(&self.levels) * populations[SCATTERING],
            };
            if rate > 0.0 {
                let wait: f64 = Exp1.sample(random);
                let at = self.at.saturating_add((wait / rate * 1e9).min(1e18) as Ns + 1);
                if self.jump.is_none_or(|(first, _)| at < first) {
                    self.jump = Some((at, number));
                }
            }
        }
    }

    /// Draws the quanta of a small motion after the scattering since the last draw.
    fn draw(&mut self, random: &mut Pcg64Mcg) {
        if self.moving().is_none() {
            let heated = self.shining.heating * seconds(self.at - self.drawn);
            let (down, up) = self.shining.cooling.map_or((0.0, 0.0), |cooling| cooling.small());
            let (down, up) = (down * self.scattered + heated, up * self.scattered + heated);
            if up > 0.0 {
                self.quanta = draw_quanta(self.quanta.round() as u32, down, up, random).into();
            }
        }
        (self.scattered, self.drawn) = (0.0, self.at);
    }

    /// Ends the light, at the time of the last [`Self::advance`]; returns the ions' states and the
    /// quanta.
    pub fn end(mut self, random: &mut Pcg64Mcg) -> (Vec<Level>, u32) {
        self.draw(random);
        let [lower, _, metastable] = self.levels.branching;
        let of_ions = self.ions.iter().map(|ion| match ion {
            Shown::Dark => Level::Metastable,
            Shown::Bright(p) => {
                let drawn: f64 = StandardUniform.sample(random);
                match drawn {
                    _ if drawn < p.x + lower * p.z => Level::Lower,
                    _ if drawn < 1.0 - metastable * p.z => Level::Pumped,
                    _ => Level::Metastable,
                }
            }
        });
        let of_ions = of_ions.collect();
        (of_ions, self.quanta.round() as u32)
    }

    /// Population of `D` of each ion (0 or 1), and quanta.
    pub fn state(&self) -> (Vec<f64>, f64) {
        let dark = self.ions.iter().map(|ion| if *ion == Shown::Dark { 1.0 } else { 0.0 });
        (dark.collect(), self.quanta)
    }
}

#[cfg(test)]
#[path = "fluorescence_tests.rs"]
mod tests;
