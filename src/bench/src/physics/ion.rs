//! A two-level ion, whose lower state scatters light of another laser while the upper one does not,
//! as in optical qubits.
//!
//! Light of the transition rotates the state. Detection projects it: as the first scattered photon
//! would reveal the state, it is drawn when detection begins, and then jumps from the upper to the
//! lower state at the rate of decay and repumping. Light of the transition acts only while
//! detection is off.

use nalgebra::Vector3;
use rand_distr::{Distribution, Exp1, StandardUniform};
use rand_pcg::Pcg64Mcg;
use serde_json::{json, Value};

use super::two_level::{evolve, Drive};
use crate::model::{Change, Model, Outbox};
use crate::signal::{seconds, turns_of, Light, Ns, Signal};

/// Input numbers: light of the transition.
pub const DRIVE: usize = 0;
/// Light that the lower state scatters.
pub const DETECTION: usize = 1;
/// Light that transfers the upper state to the lower one.
pub const REPUMP: usize = 2;

/// Parameters of the ion, and of the light on it at full power.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Rabi frequency in Hz.
    pub rabi_hz: f64,
    /// Frequency of resonant light, in Hz relative to the laser.
    pub resonance_hz: f64,
    /// Photons that the lower state scatters per second.
    pub scattering_hz: f64,
    /// Rate at which repumping empties the upper state, 1/s.
    pub repump_hz: f64,
    /// Rate of dephasing, 1/s.
    pub dephasing: f64,
    /// Decay rate of the upper state, 1/s.
    pub decay: f64,
}

/// The ion: output 0 is its photons, output 1 the population of the upper state.
pub struct Ion {
    options: Options,
    random: Pcg64Mcg,
    state: Vector3<f64>,
    /// Time of the state.
    at: Ns,
    light: [Light; 3],
    /// Time of the last change of the transition's light.
    since: Ns,
    /// During detection, the time at which the upper state decays.
    jump: Option<Ns>,
    measured: u64,
    reported: f64,
}

impl Ion {
    /// An ion in its lower state.
    pub fn new(options: Options, random: Pcg64Mcg) -> Self {
        Self {
            options,
            random,
            state: -Vector3::z(),
            at: 0,
            light: [Light::default(); 3],
            since: 0,
            jump: None,
            measured: 0,
            reported: 0.0,
        }
    }

    fn is_detected(&self) -> bool {
        self.light[DETECTION].power > 0.0
    }

    /// Rate at which the upper state is emptied, 1/s.
    fn leaving(&self) -> f64 {
        self.options.decay + self.options.repump_hz * self.light[REPUMP].power
    }

    /// The drive of the state from its time on.
    fn drive(&self) -> Drive {
        let light = self.light[DRIVE];
        let resonance = self.options.resonance_hz;
        let turns = light.turns + turns_of(light.hz, self.at - self.since) - turns_of(resonance, self.at);
        Drive {
            rabi_hz: self.options.rabi_hz * light.power.sqrt(),
            detuning_hz: if light.power > 0.0 { light.hz - resonance } else { 0.0 },
            turns,
            dephasing: self.options.dephasing,
            decay: self.leaving(),
        }
    }

    /// Advances the state to `at`.
    fn advance(&mut self, at: Ns) {
        if at > self.at && !self.is_detected() {
            self.state = evolve(self.state, self.drive(), seconds(at - self.at));
        }
        self.at = at;
    }

    /// Begins detection: the state is drawn.
    fn project(&mut self) {
        let drawn: f64 = StandardUniform.sample(&mut self.random);
        let z = if drawn < (1.0 + self.state.z) / 2.0 { 1.0 } else { -1.0 };
        self.state = Vector3::new(0.0, 0.0, z);
        self.measured += 1;
    }

    /// Draws the time at which the upper state decays, during detection.
    fn draw_jump(&mut self) {
        let leaves = self.is_detected() && self.state.z > 0.0 && self.leaving() > 0.0;
        let rate = self.leaving();
        self.jump = leaves.then(|| {
            let wait: f64 = Exp1.sample(&mut self.random);
            self.at.saturating_add((wait / rate * 1e9).min(1e18) as Ns + 1)
        });
    }

    fn report(&mut self, out: &mut Outbox) {
        let upper = (1.0 + self.state.z) / 2.0;
        if (upper - self.reported).abs() > 1e-6 {
            self.reported = upper;
            out.send(1, Signal::Population(upper));
        }
    }

    fn shine(&self, out: &mut Outbox) {
        let scattered = self.options.scattering_hz * self.light[DETECTION].power;
        out.send(0, Signal::Photons(if self.state.z < 0.0 { scattered } else { 0.0 }));
    }
}

impl Model for Ion {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        self.advance(at);
        let detected = self.is_detected();
        for (input, signal) in changes {
            if let Signal::Light(light) = signal {
                self.light[*input] = *light;
                if *input == DRIVE {
                    self.since = at;
                }
            }
        }
        if self.is_detected() && !detected {
            self.project();
        }
        if self.is_detected() || detected {
            self.draw_jump();
            self.shine(out);
        }
        self.report(out);
    }

    fn next(&self) -> Option<Ns> {
        self.jump
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        self.at = at;
        self.state = -Vector3::z();
        self.jump = None;
        self.shine(out);
        self.report(out);
    }

    fn reseed(&mut self, random: Pcg64Mcg) {
        self.random = random;
    }

    fn report(&self, at: Ns) -> Value {
        let state = match self.is_detected() {
            true => self.state,
            false => evolve(self.state, self.drive(), seconds(at.saturating_sub(self.at))),
        };
        json!({
            "part": "ion",
            "upper_population": (1.0 + state.z) / 2.0,
            "bloch_vector": [state.x, state.y, state.z],
            "rabi_hz": self.options.rabi_hz * self.light[DRIVE].power.sqrt(),
            "rabi_at_full_power_hz": self.options.rabi_hz,
            "detections": self.measured,
        })
    }
}
