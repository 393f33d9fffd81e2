//! A two-level system in light, as a vector in the Bloch sphere, solved exactly while the light is constant.
//!
//! The vector stands in the frame that turns with the transition: z is +1 in the upper state. Light
//! of Rabi frequency W (Hz) that is d Hz above the transition turns it about an axis in the
//! equator, which itself turns with d; coherence is lost at the rate g, the upper state decays at
//! the rate G. In the frame that turns with the light the equation is linear with constant
//! coefficients: an exponential of a 4x4 matrix, and a plain rotation where nothing decays.

use std::f64::consts::TAU;

use nalgebra::{Matrix4, Rotation3, Unit, Vector3, Vector4};

/// What acts on the system, constant for some time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Drive {
    /// Rabi frequency in Hz.
    pub rabi_hz: f64,
    /// Light less transition in Hz.
    pub detuning_hz: f64,
    /// Phase of the light in turns at the beginning, in the transition's frame.
    pub turns: f64,
    /// Rate at which coherence is lost beyond what decay takes, 1/s.
    pub dephasing: f64,
    /// Rate of the decay from the upper state, 1/s.
    pub decay: f64,
}

/// The vector after `time` s.
pub fn evolve(vector: Vector3<f64>, drive: Drive, time: f64) -> Vector3<f64> {
    let begin = Rotation3::from_axis_angle(&Vector3::z_axis(), TAU * drive.turns);
    let turned = (drive.turns + drive.detuning_hz * time).rem_euclid(1.0);
    let end = Rotation3::from_axis_angle(&Vector3::z_axis(), TAU * turned);
    end * in_frame(begin.inverse() * vector, drive, time)
}

/// The same in the frame that turns with the light, in which the light is along x.
fn in_frame(vector: Vector3<f64>, drive: Drive, time: f64) -> Vector3<f64> {
    let axis = Vector3::new(TAU * drive.rabi_hz, 0.0, -TAU * drive.detuning_hz);
    if drive.dephasing == 0.0 && drive.decay == 0.0 {
        return match Unit::try_new_and_get(axis, 0.0) {
            Some((axis, rate)) => Rotation3::from_axis_angle(&axis, rate * time) * vector,
            None => vector,
        };
    }
    let transverse = drive.dephasing + drive.decay / 2.0;
    let generator = Matrix4::new(
        -transverse,
        -axis.z,
        0.0,
        0.0, //
        axis.z,
        -transverse,
        -axis.x,
        0.0, //
        0.0,
        axis.x,
        -drive.decay,
        -drive.decay, //
        0.0,
        0.0,
        0.0,
        0.0,
    );
    let after = (generator * time).exp() * Vector4::new(vector.x, vector.y, vector.z, 1.0);
    after.xyz()
}

#[cfg(test)]
#[path = "two_level_tests.rs"]
mod tests;
