//! Parameters of a crystal, and of the light on it at full power.

use super::wave::Mode;
use crate::physics::four_levels::Levels;

/// A beam on the short-lived transition.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Beam {
    /// Saturation parameter at full power.
    pub saturation: f64,
    /// Frequency of resonant light, in Hz relative to the laser.
    pub resonance_hz: f64,
}

/// A beam that drives qubits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drive {
    /// Rabi frequency in Hz at full power.
    pub rabi_hz: f64,
    /// As for a [`Beam`].
    pub resonance_hz: f64,
    /// Bit n: the beam illuminates ion n.
    pub ions: usize,
}

/// Parameters of a crystal.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Ions and mode.
    pub mode: Mode,
    /// Lamb-Dicke parameter of the cooling light.
    pub eta_cooling: f64,
    /// Heating rate in quanta per second.
    pub heating: f64,
    /// Mean quanta at power-up.
    pub quanta: f64,
    /// Levels of each ion.
    pub levels: Levels,
    /// Linewidth of the short-lived transition in Hz.
    pub linewidth_hz: f64,
    pub cooling: Beam,
    pub pumping: Beam,
    /// Repump rate at full power, 1/s.
    pub repump: f64,
    pub drives: Vec<Drive>,
}
