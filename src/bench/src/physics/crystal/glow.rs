//! Ions in light that they scatter: which of them are dark, how bright the others are, and what
//! that does to their motion.
//!
//! Scattered photons tell whether an ion is in `D`, and with how many quanta the mode oscillates,
//! so in this light an ion is in `D` or is not, and the mode has a number of quanta. Populations of
//! the other levels follow their rates; ions change between dark and bright at random times.

use nalgebra::Vector3;
use rand_distr::{Distribution, Exp1, StandardUniform};
use rand_pcg::Pcg64Mcg;

use super::super::four_levels::{evolve_bright, to_shelf, Levels, Lights, SCATTERING};
use super::doppler::{draw_quanta, Cooling};
use crate::signal::{seconds, Ns};

/// The first step after a change, short against optical pumping.
const FIRST: Ns = 32;
/// The longest step while something changes.
const LONGEST: Ns = 100_000;
/// Relative changes in a step that are none.
const STEADY: f64 = 1e-3;

/// Light that is on.
#[derive(Debug, Clone, Copy)]
pub struct Shining {
    /// At rest.
    pub lights: Lights,
    /// Of the light that cools; None: it moves nothing.
    pub cooling: Option<Cooling>,
    /// Quanta per second that the mode gains by itself.
    pub heating: f64,
}

/// An ion.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shown {
    /// In `D`.
    Dark,
    /// With these populations of `S-`, `S+` and `P`.
    Bright(Vector3<f64>),
}

/// All of them.
pub struct Glow {
    levels: Levels,
    shining: Shining,
    ions: Vec<Shown>,
    /// Mean quanta while the motion is large, a number while it is small.
    quanta: f64,
    at: Ns,
    step: Ns,
    /// When the step ends; None: nothing changes any more.
    end: Option<Ns>,
    /// When an ion changes between dark and bright, and which.
    jump: Option<(Ns, usize)>,
    /// Photons scattered since quanta were drawn, by all ions…
    scattered: f64,
    /// …and since when.
    drawn: Ns,
}

/// Where ions are: `D`, or `S-` or `S+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Dark.
    Shelf,
    /// Lower state of the qubit.
    Lower,
    /// The other one of the ground level.
    Pumped,
}

impl Glow {
    /// Ions at these places, with so many quanta, from `at` on.
    pub fn new(levels: Levels, shining: Shining, places: &[Place], quanta: u32, at: Ns) -> Self {
        let ions = places.iter().map(|place| match place {
            Place::Shelf => Shown::Dark,
            Place::Lower => Shown::Bright(Vector3::x()),
            Place::Pumped => Shown::Bright(Vector3::y()),
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

    /// The light changes; [`Self::advance`] has been there.
    pub fn shine(&mut self, shining: Shining, random: &mut Pcg64Mcg) {
        self.draw(random);
        self.shining = shining;
        self.step = FIRST;
        self.plan(random);
    }

    /// When it next acts.
    pub fn next(&self) -> Option<Ns> {
        let jump = self.jump.map(|(at, _)| at);
        self.end.into_iter().chain(jump).min()
    }

    /// Photons per second, of all ions.
    pub fn photons(&self) -> f64 {
        self.photons_of_each().iter().sum()
    }

    /// Those of each ion.
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

    /// The light as it acts on ions that move.
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

    /// Brings all to `at`, which is not beyond [`Self::next`].
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

    /// It is the time that [`Self::next`] said.
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

    /// An ion changes between dark and bright.
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

    /// When the next step ends, and when an ion next changes. What was drawn before may be dropped:
    /// waiting has no memory.
    fn plan(&mut self, random: &mut Pcg64Mcg) {
        self.end = Some(self.at + self.step);
        self.jump = None;
        for (number, ion) in self.ions.iter().enumerate() {
            let rate = match ion {
                Shown::Dark => self.levels.decay + self.shining.lights.repump,
                Shown::Bright(populations) => to_shelf(&self.levels) * populations[SCATTERING],
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

    /// Quanta of a small motion, after what has been scattered since they were drawn.
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

    /// The light ends, at the time of the last [`Self::advance`]: where the ions are, and the quanta.
    pub fn end(mut self, random: &mut Pcg64Mcg) -> (Vec<Place>, u32) {
        self.draw(random);
        let [lower, _, shelf] = self.levels.branching;
        let places = self.ions.iter().map(|ion| match ion {
            Shown::Dark => Place::Shelf,
            Shown::Bright(p) => {
                let drawn: f64 = StandardUniform.sample(random);
                match drawn {
                    _ if drawn < p.x + lower * p.z => Place::Lower,
                    _ if drawn < 1.0 - shelf * p.z => Place::Pumped,
                    _ => Place::Shelf,
                }
            }
        });
        let places = places.collect();
        (places, self.quanta.round() as u32)
    }

    /// Whether each ion is in `D`, and quanta.
    pub fn state(&self) -> (Vec<f64>, f64) {
        let dark = self.ions.iter().map(|ion| if *ion == Shown::Dark { 1.0 } else { 0.0 });
        (dark.collect(), self.quanta)
    }
}

#[cfg(test)]
#[path = "glow_tests.rs"]
mod tests;
