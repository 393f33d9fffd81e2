//! What a crystal is, and the light on it at full power.

use super::wave::Mode;
use crate::physics::four_levels::Levels;

/// A beam on the short-lived transition.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Beam {
    /// Saturation parameter at full power.
    pub saturation: f64,
    /// Frequency of the light that is resonant, in Hz above the laser's own.
    pub resonance_hz: f64,
}

/// A beam that turns qubits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drive {
    /// Rabi frequency in Hz at full power.
    pub rabi_hz: f64,
    /// As of a [`Beam`].
    pub resonance_hz: f64,
    /// Bit n: it is on ion n.
    pub ions: usize,
}

/// All of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Ions and mode.
    pub mode: Mode,
    /// Lamb-Dicke parameter of the cooling light.
    pub eta_cooling: f64,
    /// Quanta per second that the mode gains.
    pub heating: f64,
    /// Mean quanta at power-up.
    pub quanta: f64,
    /// Of each ion.
    pub levels: Levels,
    /// Of the short-lived transition, in Hz.
    pub linewidth_hz: f64,
    pub cooling: Beam,
    pub pumping: Beam,
    /// Rate at full power, 1/s.
    pub repump: f64,
    pub drives: Vec<Drive>,
}
