//! A two-level system in light, as a Bloch vector, solved exactly while the light is constant.
//!
//! The vector is in the rotating frame of the transition, with z = +1 for the upper state. Light of
//! Rabi frequency W (Hz) detuned by d Hz from the transition rotates the vector about an equatorial
//! axis, which itself rotates with d; coherence decays at the rate g, the upper state at the rate
//! G. In the rotating frame of the light the equation is linear with constant coefficients: the
//! solution is the exponential of a 4x4 matrix, or a plain rotation without decay.

use std::f64::consts::TAU;

use nalgebra::{Matrix4, Rotation3, Unit, Vector3, Vector4};

/// The drive of the system, constant for some time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Drive {
    /// Rabi frequency in Hz.
    pub rabi_hz: f64,
    /// Detuning of the light from the transition in Hz.
    pub detuning_hz: f64,
    /// Phase of the light in turns at the beginning, in the transition's frame.
    pub turns: f64,
    /// Rate of dephasing in addition to decay, 1/s.
    pub dephasing: f64,
    /// Decay rate of the upper state, 1/s.
    pub decay: f64,
}

/// The vector after `time` s.
pub fn evolve(vector: Vector3<f64>, drive: Drive, time: f64) -> Vector3<f64> {
    let begin = Rotation3::from_axis_angle(&Vector3::z_axis(), TAU * drive.turns);
    let turned = (drive.turns + drive.detuning_hz * time).rem_euclid(1.0);
    let end = Rotation3::from_axis_angle(&Vector3::z_axis(), TAU * turned);
    end * in_frame(begin.inverse() * vector, drive, time)
}

/// The same in the rotating frame of the light, which is along x.
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
