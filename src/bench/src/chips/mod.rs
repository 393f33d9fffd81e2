//! Chips on cards, as their data sheets describe them, on the register tables that the drivers use (`kairos_contracts::chips`).

pub mod ad53xx;
pub mod ad9910;
pub mod ad9912;
pub mod adf5356;
pub mod dds;
pub mod fastino;
pub mod mirny;
pub mod sampler;
pub mod shift;
pub mod urukul;
pub mod zotino;
